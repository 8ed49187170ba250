//! Amazon Bedrock's list of models.

use serde_json::{Map, Value, json};

/// One model of the list.
#[derive(Clone, Debug)]
pub(super) struct Summary {
    pub(super) id: String,
    /// Such as `Nova Lite`: what the price list calls it.
    pub(super) name: String,
    pub(super) attributes: Map<String, Value>,
}

/// The models of the answer that write text; `None` for another shape.
pub(super) fn read(document: &Value) -> Option<Vec<Summary>> {
    let models = document.get("modelSummaries")?.as_array()?;
    Some(models.iter().filter_map(summary).collect())
}

fn summary(model: &Value) -> Option<Summary> {
    let outputs = modalities(model, "outputModalities")?;
    if !outputs.iter().any(|output| output == "text") {
        return None;
    }
    let mut attributes = Map::from_iter([
        ("available".to_owned(), Value::Bool(true)),
        ("output_modalities".to_owned(), json!(outputs)),
    ]);
    if let Some(inputs) = modalities(model, "inputModalities") {
        attributes.insert("input_modalities".into(), json!(inputs));
    }
    let name = model.get("modelName").and_then(Value::as_str);
    Some(Summary {
        id: model.get("modelId")?.as_str()?.to_owned(),
        name: name.unwrap_or_default().to_owned(),
        attributes,
    })
}

fn modalities(model: &Value, field: &str) -> Option<Vec<String>> {
    let list = model.get(field)?.as_array()?;
    let names = list.iter().filter_map(Value::as_str);
    Some(names.map(str::to_lowercase).collect())
}
