use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind};
use crate::model::{ModelCapabilities, ModelRequest};
use crate::provider::{AdapterRequest, Bedrock, Provider};
use crate::tool::ToolDefinition;

fn bedrock(options: Value) -> Result<Bedrock, Error> {
    Bedrock::new(&AdapterRequest {
        connection: "primary",
        model: "amazon.nova-pro-v1:0",
        options: options.as_object().unwrap(),
    })
}

fn refused(options: Value) -> String {
    let error = bedrock(options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert!(error.message().contains("\"primary\""), "{error}");
    error.message().to_owned()
}

#[test]
fn requests_go_to_the_region_or_to_the_endpoint() {
    for (options, expected) in [
        (
            json!({"region": "eu-central-1"}),
            "https://bedrock-runtime.eu-central-1.amazonaws.com:443",
        ),
        (
            json!({"region": "cn-north-1"}),
            "https://bedrock-runtime.cn-north-1.amazonaws.com.cn:443",
        ),
        (
            json!({"region": "us-west-2", "endpoint": "https://vpce-1.a.test/x/"}),
            "https://vpce-1.a.test:443/x",
        ),
        (
            json!({"region": "x", "endpoint": "http://127.0.0.1:9"}),
            "http://127.0.0.1:9",
        ),
    ] {
        let shown = format!("{:?}", bedrock(options).unwrap());
        let path = "/model/amazon.nova-pro-v1%3A0/converse-stream";
        assert!(shown.contains(&format!("{expected}{path}")), "{shown}");
    }
    assert!(refused(json!({"region": "us-west-2", "endpoint": "http://a.test"})).contains("http"));
    for region in ["evil.test/#", "US-EAST-1", "a b"] {
        assert!(refused(json!({"region": region})).contains("region"));
    }
}

#[test]
fn credentials_are_a_mapping_and_never_shown() {
    let keys = json!({"access_key_id": "AKIDEXAMPLE", "secret_access_key": "hush-hush",
        "session_token": "quiet-quiet"});
    let provider = bedrock(json!({"region": "us-east-1", "credentials": keys})).unwrap();
    let shown = format!("{provider:?}");
    assert!(
        !shown.contains("hush") && !shown.contains("AKID"),
        "{shown}"
    );
    for credentials in [
        json!("hush-hush"),
        json!({"access_key_id": "AKIDEXAMPLE"}),
        json!({"access_key_id": "AKIDEXAMPLE", "secret_access_key": 5}),
        json!({"access_key_id": "AKIDEXAMPLE", "secret_access_key": "hush-hush", "extra": 1}),
    ] {
        let message = refused(json!({"region": "us-east-1", "credentials": credentials}));
        assert!(message.contains("access_key_id"), "{message}");
        assert!(!message.contains("hush"), "{message}");
    }
    // The address is the option of another name here.
    let message = refused(json!({"region": "us-east-1", "endpoint": "nowhere"}));
    assert!(message.contains("endpoint of connection"), "{message}");
    // Keys by themselves are no options.
    assert!(refused(json!({"access_key_id": "AKIDEXAMPLE"})).contains("unknown option"));
}

#[test]
fn tools_are_strict_only_where_the_model_keeps_to_schemas() {
    let provider = bedrock(json!({"region": "us-east-1"})).unwrap();
    let tool = ToolDefinition::new("f", "Does.", json!({"type": "object"})).unwrap();
    let request = ModelRequest {
        tools: [tool.strict(true)].into(),
        ..ModelRequest::default()
    };
    let details =
        |parameters: Value| Map::from_iter([("supported_parameters".to_owned(), parameters)]);
    for (capabilities, expected) in [
        (ModelCapabilities::unknown(), false),
        (provider.capabilities(&details(json!(["tools"]))), false),
        (
            provider.capabilities(&details(json!(["tools", "structured_outputs"]))),
            true,
        ),
    ] {
        let prepared = provider.prepare_request(request.clone(), &capabilities);
        assert_eq!(prepared.tools[0].is_strict(), expected);
    }
}
