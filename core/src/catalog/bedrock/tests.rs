use serde_json::{Map, Value, json};

use super::*;
use crate::catalog::Catalog;
use crate::credential::AwsCredentials;

const MODEL: &str = "amazon.nova-lite-v1:0";

fn source(region: &str) -> BedrockModels {
    let keys = AwsCredentials::new("AKIDEXAMPLE", "hush-hush").session_token("quiet-quiet");
    BedrockModels::new("aws", region, None, Arc::new(keys)).unwrap()
}

fn models() -> Vec<u8> {
    json!({"modelSummaries": [
        {"modelArn": "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0",
            "modelId": MODEL, "modelName": "Nova Lite", "providerName": "Amazon",
            "inputModalities": ["TEXT", "IMAGE", "VIDEO"], "outputModalities": ["TEXT"],
            "responseStreamingSupported": true, "modelLifecycle": {"status": "ACTIVE"}},
        {"modelId": "amazon.titan-embed", "outputModalities": ["EMBEDDING"]},
        {"modelName": "no id", "outputModalities": ["TEXT"]},
    ]})
    .to_string()
    .into_bytes()
}

fn page(usage: &str, price: &str, token: Option<&str>) -> Vec<u8> {
    let entry = json!({"product": {"attributes": {"model": "Nova Lite", "usagetype": usage}},
        "terms": {"OnDemand": {"x": {"priceDimensions": {"y": {"unit": "1K tokens",
            "pricePerUnit": {"USD": price}}}}}}});
    json!({"FormatVersion": "aws_v1", "PriceList": [entry.to_string()], "NextToken": token})
        .to_string()
        .into_bytes()
}

fn body(question: &Question) -> Value {
    serde_json::from_slice(&question.body).unwrap()
}

#[test]
fn all_models_are_one_question() {
    let mut inquiry = source("eu-central-1").inquiry(None);
    let question = inquiry.question().unwrap();
    assert_eq!(
        (question.method, question.url.as_str()),
        (
            "GET",
            "https://bedrock.eu-central-1.amazonaws.com/foundation-models"
        )
    );
    assert_eq!(
        (question.service, &*question.region),
        ("bedrock", "eu-central-1")
    );
    inquiry.answer(200, &models()).unwrap();
    assert!(inquiry.question().is_none());
    let records = inquiry.records();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].target, format!("aws:{MODEL}"));
    assert_eq!(
        Value::Object(records[0].attributes.clone()),
        json!({"available": true, "output_modalities": ["text"],
            "input_modalities": ["text", "image", "video"]})
    );
}

#[test]
fn one_model_has_prices_page_by_page() {
    let target = format!("aws:us.{MODEL}");
    let mut inquiry = source("us-east-1").inquiry(Some(&target));
    inquiry.answer(200, &models()).unwrap();
    let first = inquiry.question().unwrap();
    assert_eq!(
        first.url.as_str(),
        "https://api.pricing.us-east-1.amazonaws.com/"
    );
    assert_eq!(
        first.headers["x-amz-target"],
        "AWSPriceListService.GetProducts"
    );
    assert_eq!(
        body(&first),
        json!({"ServiceCode": "AmazonBedrock", "FormatVersion": "aws_v1", "MaxResults": 100,
        "Filters": [
            {"Type": "TERM_MATCH", "Field": "regionCode", "Value": "us-east-1"},
            {"Type": "TERM_MATCH", "Field": "model", "Value": "Nova Lite"},
        ]})
    );
    inquiry
        .answer(200, &page("input-tokens", "0.00006", Some("more")))
        .unwrap();
    assert_eq!(body(&inquiry.question().unwrap())["NextToken"], "more");
    inquiry
        .answer(200, &page("output-tokens", "0.00024", None))
        .unwrap();
    let other = body(&inquiry.question().unwrap());
    assert_eq!(other["ServiceCode"], "AmazonBedrockFoundationModels");
    assert_eq!(
        other["Filters"][1]["Value"],
        "Nova Lite (Amazon Bedrock Edition)"
    );
    inquiry.answer(200, b"{}").unwrap();
    assert!(inquiry.question().is_none());
    let records = inquiry.records();
    assert_eq!(records[0].target, target);
    assert_eq!(
        records[0].attributes["pricing"],
        json!({"input": 0.06, "output": 0.24})
    );
}

#[test]
fn the_price_list_is_read_for_ten_pages_at_most() {
    let mut inquiry = source("us-east-1").inquiry(Some(&format!("aws:{MODEL}")));
    inquiry.answer(200, &models()).unwrap();
    for _ in 0..10 {
        assert!(inquiry.question().is_some());
        inquiry
            .answer(200, &page("input-tokens", "0.00006", Some("more")))
            .unwrap();
    }
    assert!(inquiry.question().is_none());
    assert_eq!(inquiry.records()[0].attributes["pricing"]["input"], 0.06);
}

#[test]
fn prices_may_be_none_of_the_users_business() {
    let mut inquiry = source("us-east-1").inquiry(Some(&format!("aws:{MODEL}")));
    inquiry.answer(200, &models()).unwrap();
    inquiry
        .answer(403, br#"{"__type": "AccessDeniedException"}"#)
        .unwrap();
    let records = inquiry.records();
    assert!(records[0].attributes.contains_key("available"));
    assert!(!records[0].attributes.contains_key("pricing"));
}

#[test]
fn models_that_are_not_there_and_other_connections_ask_no_more() {
    let mut inquiry = source("us-east-1").inquiry(Some("aws:nobody.knows"));
    inquiry.answer(200, &models()).unwrap();
    assert!(inquiry.question().is_none());
    assert!(inquiry.records().is_empty());
    assert!(
        source("us-east-1")
            .inquiry(Some("other:m"))
            .question()
            .is_none()
    );
}

#[test]
fn answers_that_make_no_sense_are_errors() {
    for (status, answer, kind) in [
        (200, "nonsense", ErrorKind::Protocol),
        (200, "{}", ErrorKind::Protocol),
        (403, r#"{"message": "not allowed"}"#, ErrorKind::Http),
        (500, "", ErrorKind::Http),
    ] {
        let mut inquiry = source("us-east-1").inquiry(None);
        let error = inquiry.answer(status, answer.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(inquiry.records().is_empty());
        assert!(!error.message().ends_with(": "), "{error}");
    }
    let mut inquiry = source("us-east-1").inquiry(None);
    let huge = vec![b' '; inquiry::MAX_ANSWER + 1];
    assert!(inquiry.answer(200, &huge).is_err());
}

#[tokio::test]
async fn errors_do_not_repeat_what_questions_were_signed_with() {
    for secret in ["AKIDEXAMPLE", "hush-hush"] {
        let source = source("us-east-1");
        let mut inquiry = source.inquiry(None);
        let mut question = inquiry.question().unwrap();
        inquiry.hide(source.sign(&mut question, None).await.unwrap());
        let answer = format!("{secret} may not");
        let error = inquiry.answer(403, answer.as_bytes()).unwrap_err();
        assert!(!format!("{error:?}").contains(secret), "{error:?}");
        assert!(error.message().ends_with("[redacted] may not"), "{error}");
    }
}

#[tokio::test]
async fn questions_are_signed_for_their_service() {
    let mut source = source("eu-central-1");
    source.signed_at = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000));
    let mut inquiry = source.inquiry(Some(&format!("aws:{MODEL}")));
    let mut question = inquiry.question().unwrap();
    source.sign(&mut question, None).await.unwrap();
    let signature = question.headers["authorization"].to_str().unwrap();
    assert!(
        signature.contains("AKIDEXAMPLE/20231114/eu-central-1/bedrock/aws4_request"),
        "{signature}"
    );
    inquiry.answer(200, &models()).unwrap();
    let mut question = inquiry.question().unwrap();
    source.sign(&mut question, None).await.unwrap();
    let signature = question.headers["authorization"].to_str().unwrap();
    assert!(
        signature.contains("/us-east-1/pricing/aws4_request"),
        "{signature}"
    );
    assert!(
        signature.contains("content-type;host;x-amz-date;x-amz-security-token;x-amz-target"),
        "{signature}"
    );
    assert!(!format!("{source:?} {question:?}").contains("hush-hush"));
}

#[tokio::test]
async fn a_key_of_bedrock_itself_asks_for_no_prices() {
    let options = json!({"region": "eu-west-1", "api_key": "bedrock-key-1234"});
    let source = BedrockModels::from_options("aws", options.as_object().unwrap());
    let source = source.unwrap().unwrap();
    let mut inquiry = source.inquiry(Some(&format!("aws:{MODEL}")));
    let mut question = inquiry.question().unwrap();
    source.sign(&mut question, None).await.unwrap();
    assert_eq!(question.headers["authorization"], "Bearer bedrock-key-1234");
    assert!(!format!("{source:?} {question:?}").contains("bedrock-key-1234"));
    inquiry.answer(200, &models()).unwrap();
    assert!(inquiry.question().is_none());
    assert_eq!(inquiry.records().len(), 1);
}

#[test]
fn options_name_region_and_keys() {
    let options = |value: Value| -> Map<String, Value> { value.as_object().unwrap().clone() };
    let keys = json!({"access_key_id": "AKIDEXAMPLE", "secret_access_key": "hush-hush"});
    let given = options(json!({"region": " eu-west-1 ", "credentials": keys}));
    let source = BedrockModels::from_options("aws", &given).unwrap().unwrap();
    assert_eq!(
        (source.name(), &*source.region),
        ("bedrock:aws", "eu-west-1")
    );
    for wrong in [
        json!({"region": "eu-west-1/", "credentials": keys}),
        json!({"region": "eu-west-1", "credentials": {"access_key": "x"}}),
    ] {
        let error = BedrockModels::from_options("aws", &options(wrong)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration);
        assert!(error.message().contains("\"aws\""), "{error}");
    }
    let china = BedrockModels::new("aws", "cn-north-1", None, Arc::clone(&source.keys)).unwrap();
    let (prices, region) = china.places.prices.unwrap();
    assert_eq!(
        (prices.as_str(), &*region),
        (
            "https://api.pricing.cn-northwest-1.amazonaws.com.cn/",
            "cn-northwest-1"
        )
    );
    let emulator = Some("http://127.0.0.1:4566");
    let local = BedrockModels::new("aws", "us-east-1", emulator, source.keys).unwrap();
    assert_eq!(
        local.places.models.as_str(),
        "http://127.0.0.1:4566/foundation-models"
    );
}

#[test]
fn a_profile_has_the_facts_of_its_model_and_its_own() {
    let catalog = Catalog::from_snapshot(
        &json!({"models": {
            "bedrock:a.model": {"context_window": 10, "pricing": {"input": 1}},
            "bedrock:eu.a.model": {"context_window": 20},
        }})
        .to_string(),
    )
    .unwrap();
    let window = |target: &str, adapter| catalog.details(target, adapter).context_window();
    assert_eq!(window("aws:us.a.model", Some("bedrock")), Some(10));
    assert_eq!(window("bedrock:us.a.model", None), Some(10));
    assert_eq!(window("bedrock:eu.a.model", None), Some(20));
    let arn = "bedrock:arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.a.model";
    assert_eq!(window(arn, None), Some(10));
    assert_eq!(window("other:us.a.model", Some("openai")), None);
    let refreshed =
        json!({"aws:a.model": {"available": true}, "aws:us.a.model": {"max_output_tokens": 5}});
    let records = ModelRecord::list_from_value("own", &refreshed).unwrap();
    catalog.apply("own", records, &[]).unwrap();
    let details = catalog.details("aws:us.a.model", Some("bedrock"));
    assert_eq!(details.max_output_tokens(), Some(5));
    assert_eq!(details.get("available"), Some(&json!(true)));
    assert_eq!(details.context_window(), Some(10));
}
