use serde_json::{Map, Value, json};

use super::*;
use crate::error::{Error, ErrorKind};

fn records(value: Value) -> Vec<ModelRecord> {
    ModelRecord::list_from_value("test", &value).unwrap()
}

#[test]
fn the_snapshot_is_found_by_the_adapter_of_a_connection() {
    let catalog = Catalog::new();
    let details = catalog.details("primary:openai/gpt-5.6-luna", Some("openrouter"));
    assert_eq!(details.target(), "primary:openai/gpt-5.6-luna");
    assert_eq!(details.context_window(), Some(1_050_000));
    assert!(details.input_modalities().unwrap().contains(&"image"));
    assert!(details.supported_parameters().unwrap().contains(&"tools"));
    assert!(details.pricing().unwrap()["input"].is_number());
    assert_eq!(
        details.provenance()["pricing"],
        "bundled:litellm+genai-prices"
    );
    assert_eq!(details.observed_at().map(str::len), Some(10));
    assert!(
        !catalog
            .details("primary:openai/gpt-5.6-luna", None)
            .is_known()
    );
    // A connection's own name does not count when its adapter is another one.
    assert!(
        !catalog
            .details("openai:gpt-5.6-luna", Some("openai_compatible"))
            .is_known()
    );
}

#[test]
fn later_sources_replace_attributes_and_lists_may_be_united() {
    let catalog = Catalog::empty();
    let union = [("input_modalities".to_owned(), MergeStrategy::Union)];
    catalog
        .apply(
            "first",
            records(
                json!({"a:m": {"context_window": 10, "input_modalities": ["text"],
                                   "max_output_tokens": 5, "observed_at": "2026-01-01"}}),
            ),
            &[],
        )
        .unwrap();
    let updated = catalog
        .apply(
            "second",
            records(
                json!({"a:m": {"context_window": 20, "input_modalities": ["image", "text"],
                                   "max_output_tokens": null}}),
            ),
            &union,
        )
        .unwrap();
    assert_eq!(updated, ["a:m"]);
    let details = catalog.details("a:m", Some("x"));
    assert_eq!(details.context_window(), Some(20));
    assert_eq!(details.max_output_tokens(), Some(5));
    assert_eq!(details.input_modalities().unwrap(), ["text", "image"]);
    assert_eq!(details.provenance()["input_modalities"], "first+second");
    assert_eq!(details.provenance()["context_window"], "second");
    assert_eq!(details.observed_at(), Some("2026-01-01"));
    // The same source again takes its own place.
    catalog
        .apply(
            "first",
            records(json!({"a:m": {"max_output_tokens": 7}})),
            &[],
        )
        .unwrap();
    let details = catalog.details("a:m", None);
    assert_eq!(details.max_output_tokens(), Some(7));
    assert_eq!(details.input_modalities().unwrap(), ["image", "text"]);
}

#[test]
fn records_of_an_adapter_reach_its_connections_and_names_of_sizes_are_equal() {
    let catalog = Catalog::empty();
    catalog
        .apply(
            "own",
            records(json!({"openai:m": {"context_window_tokens": 9}})),
            &[],
        )
        .unwrap();
    let details = catalog.details("primary:m", Some("openai"));
    assert_eq!(details.context_window(), Some(9));
    assert_eq!(details.get("context_window"), Some(&json!(9)));
}

#[test]
fn unusable_records_change_nothing() {
    let catalog = Catalog::empty();
    for (value, part) in [
        (
            json!({"a:m": {"context_window": 1}, "nonsense": {}}),
            "nonsense",
        ),
        (
            json!({"a:m": {"supported_parameters": "tools"}}),
            "supported_parameters",
        ),
    ] {
        let error = catalog.apply("own", records(value), &[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration);
        assert!(error.message().contains(part), "{error}");
        assert!(!catalog.details("a:m", None).is_known());
    }
    for value in [json!([]), json!({"a:m": 1})] {
        assert!(ModelRecord::list_from_value("own", &value).is_err());
    }
    assert!(MergeStrategy::from_name("x", "replace").is_err());
    assert!(Catalog::from_snapshot("[]").is_err());
    assert!(Catalog::from_snapshot("{}").is_err());
}

struct Fixed(&'static str, Result<Value, Error>);

#[async_trait::async_trait]
impl CatalogSource for Fixed {
    fn name(&self) -> &str {
        self.0
    }

    async fn refresh(&self, _target: Option<&str>) -> crate::Result<Vec<ModelRecord>> {
        ModelRecord::list_from_value(self.0, &self.1.clone()?)
    }
}

#[tokio::test]
async fn a_failed_source_leaves_everything_as_it_was() {
    let catalog = Catalog::empty();
    let sources: Vec<Arc<dyn CatalogSource>> = vec![
        Arc::new(Fixed("good", Ok(json!({"a:m": {"context_window": 1}})))),
        Arc::new(Fixed("bad", Err(Error::new(ErrorKind::Http, "down")))),
    ];
    let refreshed = catalog.refresh(&sources, None).await;
    assert_eq!(refreshed.updated, ["a:m"]);
    assert_eq!(refreshed.errors.len(), 1);
    assert_eq!(refreshed.errors[0].0, "bad");
    assert_eq!(catalog.details("a:m", None).context_window(), Some(1));
}

#[test]
fn stated_details_keep_their_origin() {
    let stated: Map<String, Value> = serde_json::from_value(json!({
        "target": "a:m", "context_window": 3, "provenance": {"context_window": "contract"},
        "observed_at": "2026-02-03"
    }))
    .unwrap();
    let details = ModelDetails::stated("a:m", stated);
    assert_eq!(details.attributes().len(), 1);
    assert_eq!(details.provenance()["context_window"], "contract");
    assert_eq!(details.to_value()["observed_at"], "2026-02-03");
    assert_eq!(details.to_value()["target"], "a:m");
}
