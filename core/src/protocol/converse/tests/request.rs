use serde_json::{Map, Value, json};

use crate::error::{Error, ErrorKind};
use crate::message::{
    Content, Message, Reasoning, Role, ToolResult, ToolResultContent, ToolStatus, ToolUse,
};
use crate::model::{ModelRequest, OutputSchema, ToolChoice};
use crate::protocol::converse::{path, render_request};
use crate::tool::ToolDefinition;

const CLAUDE: &str = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const NOVA: &str = "amazon.nova-pro-v1:0";

fn rendered(model: &str, request: &ModelRequest) -> Result<Value, Error> {
    render_request(model, request).map(Value::Object)
}

fn ask(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        messages: messages.into(),
        ..ModelRequest::default()
    }
}

fn with_settings(settings: Value) -> ModelRequest {
    ModelRequest {
        settings: settings.as_object().cloned().unwrap(),
        ..ask(vec![Message::user("Hi")])
    }
}

fn set(model: &str, settings: Value) -> Value {
    let mut body = rendered(model, &with_settings(settings)).unwrap();
    let map = body.as_object_mut().unwrap();
    assert_eq!(
        map.shift_remove("messages"),
        Some(json!([{"role": "user", "content": [{"text": "Hi"}]}]))
    );
    assert_eq!(map.shift_remove("system"), Some(json!([])));
    body
}

fn refused(model: &str, settings: Value) -> String {
    let error = rendered(model, &with_settings(settings)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    error.message().to_owned()
}

fn call(id: &str, name: &str, input: Value) -> Content {
    Content::ToolUse(ToolUse {
        id: id.into(),
        name: name.into(),
        input: input.as_object().cloned().unwrap(),
    })
}

fn result(id: &str, content: ToolResultContent, status: ToolStatus) -> Content {
    Content::ToolResult(ToolResult {
        tool_use_id: id.into(),
        content,
        status,
    })
}

fn thought(text: &str, signature: Option<&str>) -> Content {
    Content::Reasoning(Reasoning {
        text: text.into(),
        signature: signature.map(str::to_owned),
        ..Reasoning::default()
    })
}

fn weather() -> ToolDefinition {
    ToolDefinition::new(
        "weather",
        "Tells the weather.",
        json!({"type": "object", "properties": {"city_name": {"type": "string", "maxLength": 40}}}),
    )
    .unwrap()
}

fn messages(body: &Value) -> &Value {
    &body["messages"]
}

#[test]
fn turns_alternate_and_blank_text_is_not_sent() {
    let body = rendered(
        NOVA,
        &ask(vec![
            Message::system("Be brief."),
            Message::new(Role::Developer, vec![Content::text("Be kind.")]),
            Message::system("  \n"),
            Message::user("One"),
            Message::user(""),
            Message::user("Two"),
            Message::assistant(" "),
            Message::user("Three"),
            Message::assistant("Four"),
            Message::assistant("Five"),
        ]),
    );
    assert_eq!(
        body.unwrap(),
        json!({
            "messages": [
                {"role": "user", "content": [{"text": "One"}, {"text": "Two"}, {"text": "Three"}]},
                {"role": "assistant", "content": [{"text": "Four"}, {"text": "Five"}]},
            ],
            "system": [{"text": "Be brief."}, {"text": "Be kind."}],
        })
    );
}

#[test]
fn calls_and_results_keep_their_keys_status_and_order() {
    let ok = ToolResultContent::Text("[1, 2]".into());
    let image = ToolResultContent::Blocks(vec![
        Content::text("A picture."),
        Content::image(&b"\x89PNG"[..], "image/png"),
        Content::document(&b"a,b"[..], "text/csv", "table.csv"),
        Content::text(" "),
    ]);
    let request = ModelRequest {
        tools: [weather()].into(),
        ..ask(vec![
            Message::user("Weather?"),
            Message::new(
                Role::Assistant,
                vec![
                    Content::text("Looking."),
                    call(
                        "c1",
                        "weather",
                        json!({"city_name": "Bern", "nested_key": {"in_it": 1}}),
                    ),
                    call("c2", "weather", json!({})),
                ],
            ),
            Message::user("Hurry"),
            Message::new(
                Role::Tool,
                vec![
                    result("c1", ok, ToolStatus::Success),
                    result("c2", image, ToolStatus::Error),
                ],
            ),
        ])
    };
    let body = rendered(CLAUDE, &request).unwrap();
    assert_eq!(
        messages(&body),
        &json!([
            {"role": "user", "content": [{"text": "Weather?"}]},
            {"role": "assistant", "content": [
                {"text": "Looking."},
                {"toolUse": {"toolUseId": "c1", "name": "weather",
                    "input": {"city_name": "Bern", "nested_key": {"in_it": 1}}}},
                {"toolUse": {"toolUseId": "c2", "name": "weather", "input": {}}},
            ]},
            {"role": "user", "content": [
                {"toolResult": {"toolUseId": "c1", "content": [{"text": "[1, 2]"}], "status": "success"}},
                {"toolResult": {"toolUseId": "c2", "content": [
                    {"text": "A picture."},
                    {"image": {"format": "png", "source": {"bytes": "iVBORw=="}}},
                    {"document": {"format": "csv", "name": "table-csv", "source": {"bytes": "YSxi"}}},
                ], "status": "error"}},
                {"text": "Hurry"},
            ]},
        ])
    );
    assert_eq!(
        body["toolConfig"],
        json!({"tools": [{"toolSpec": {"name": "weather", "description": "Tells the weather.",
            "inputSchema": {"json": {"type": "object",
                "properties": {"city_name": {"type": "string", "maxLength": 40}}}}}}]})
    );
}

#[test]
fn a_result_without_text_says_so() {
    let message = Message::new(
        Role::Tool,
        vec![
            result(
                "c1",
                ToolResultContent::Text("\n".into()),
                ToolStatus::Success,
            ),
            result("c2", ToolResultContent::Blocks(vec![]), ToolStatus::Success),
        ],
    );
    let body = rendered(NOVA, &ask(vec![message])).unwrap();
    for index in [0, 1] {
        let content = &messages(&body)[0]["content"][index]["toolResult"]["content"];
        assert_eq!(content, &json!([{"text": "(no output)"}]));
    }
}

#[test]
fn a_history_with_calls_has_a_tool_config_although_no_tool_is_offered() {
    let history = vec![
        Message::user("Weather?"),
        Message::new(
            Role::Assistant,
            vec![
                call("c1", "weather", json!({})),
                call("c2", "clock", json!({})),
                call("c3", "weather", json!({})),
            ],
        ),
        Message::new(
            Role::Tool,
            vec![result(
                "c1",
                ToolResultContent::Text("x".into()),
                ToolStatus::Success,
            )],
        ),
    ];
    let mut request = ask(history.clone());
    request.tool_choice = Some(ToolChoice::Required);
    let body = rendered(CLAUDE, &request).unwrap();
    let former = |name: &str| {
        json!({"toolSpec": {"name": name, "description": "No longer available.",
            "inputSchema": {"json": {"type": "object", "properties": {}}}}})
    };
    // Nothing may be demanded that is only there for the sake of form.
    assert_eq!(
        body["toolConfig"],
        json!({"tools": [former("weather"), former("clock")]})
    );
    let results_only = rendered(CLAUDE, &ask(history[2..].to_vec())).unwrap();
    assert_eq!(
        results_only["toolConfig"],
        json!({"tools": [former("tool")]})
    );
    let plain = rendered(CLAUDE, &ask(vec![Message::user("Hi")])).unwrap();
    assert_eq!(plain.get("toolConfig"), None);
}

#[test]
fn identifiers_of_other_services_become_legal_and_stay_different() {
    let long = "x".repeat(80);
    let request = ask(vec![
        Message::new(
            Role::Assistant,
            vec![
                call("fc|a b", "we/ather", json!({})),
                call(&long, "weather", json!({})),
                call("tooluse_A.b:c-1", "weather", json!({})),
            ],
        ),
        Message::new(
            Role::Tool,
            ["fc|a b", &long, "tooluse_A.b:c-1", "fc|a_b"]
                .map(|id| result(id, ToolResultContent::Text("x".into()), ToolStatus::Success))
                .to_vec(),
        ),
    ]);
    let body = rendered(NOVA, &request).unwrap();
    let id = |turn: usize, block: usize, kind: &str| {
        let id = &messages(&body)[turn]["content"][block][kind]["toolUseId"];
        let id = id.as_str().unwrap().to_owned();
        assert!((1..=64).contains(&id.len()), "{id}");
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
        assert!(id.bytes().all(legal), "{id}");
        id
    };
    for block in 0..3 {
        assert_eq!(id(0, block, "toolUse"), id(1, block, "toolResult"));
    }
    assert_eq!(id(0, 2, "toolUse"), "tooluse_A.b:c-1");
    assert_ne!(id(1, 0, "toolResult"), id(1, 3, "toolResult"));
    let name = &messages(&body)[0]["content"][0]["toolUse"]["name"];
    assert!(name.as_str().unwrap().starts_with("weather-"), "{name}");
}

#[test]
fn reasoning_goes_back_unchanged_where_it_is_taken() {
    let redacted = Content::Reasoning(Reasoning {
        redacted_content: Some(vec![0, 255].into()),
        ..Reasoning::default()
    });
    let request = ask(vec![
        Message::user("Hi"),
        Message::new(
            Role::Assistant,
            vec![
                thought("Hm. ", Some("c2ln+/==")),
                redacted,
                thought("unsigned", None),
                call("c1", "a", json!({})),
                call("c2", "a", json!({})),
            ],
        ),
    ]);
    let sent = |model: &str| {
        let body = rendered(model, &request).unwrap();
        let blocks = messages(&body)[1]["content"].as_array().unwrap().clone();
        let thoughts = blocks.len() - 2;
        assert!(
            blocks[thoughts..]
                .iter()
                .all(|block| block.get("toolUse").is_some())
        );
        blocks[..thoughts].to_vec()
    };
    let signed = json!({"reasoningContent": {"reasoningText":
        {"text": "Hm. ", "signature": "c2ln+/=="}}});
    let opaque = json!({"reasoningContent": {"redactedContent": "AP8="}});
    let bare = json!({"reasoningContent": {"reasoningText": {"text": "unsigned"}}});
    assert_eq!(sent(CLAUDE), [signed.clone(), opaque.clone()]);
    assert_eq!(sent("openai.gpt-oss-120b-1:0"), [signed, opaque, bare]);
    assert!(sent("us.deepseek.r1-v1:0").is_empty());
}

#[test]
fn documents_have_different_names_and_a_text_beside_them() {
    let pdf = || Content::document(&b"%PDF"[..], "application/pdf", "my_report.pdf");
    let body = rendered(
        NOVA,
        &ask(vec![
            Message::new(Role::User, vec![pdf()]),
            Message::assistant("What of it?"),
            Message::new(Role::User, vec![Content::text("Sum up."), pdf()]),
        ]),
    )
    .unwrap();
    let document = |name: &str| json!({"document": {"format": "pdf", "name": name, "source": {"bytes": "JVBERg=="}}});
    assert_eq!(
        messages(&body),
        &json!([
            {"role": "user", "content": [document("my-report-pdf"), {"text": "my-report-pdf"}]},
            {"role": "assistant", "content": [{"text": "What of it?"}]},
            {"role": "user", "content": [{"text": "Sum up."}, document("my-report-pdf-2")]},
        ])
    );
}

#[test]
fn an_attachment_of_another_kind_is_refused() {
    for block in [
        Content::image(&b"x"[..], "image/tiff"),
        Content::document(&b"x"[..], "application/zip", "a.zip"),
    ] {
        let error = rendered(NOVA, &ask(vec![Message::new(Role::User, vec![block])])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration);
    }
    let image = Content::image(&b"x"[..], "image/png");
    let said = Message::new(Role::Assistant, vec![Content::text("Here."), image]);
    let body = rendered(NOVA, &ask(vec![said])).unwrap();
    assert_eq!(messages(&body)[0]["content"], json!([{"text": "Here."}]));
}

#[test]
fn a_tool_can_be_demanded() {
    for (choice, expected) in [
        (ToolChoice::Required, json!({"any": {}})),
        (
            ToolChoice::Named("weather".into()),
            json!({"tool": {"name": "weather"}}),
        ),
    ] {
        let request = ModelRequest {
            tools: [weather()].into(),
            tool_choice: Some(choice),
            ..with_settings(json!({"reasoning_effort": "high"}))
        };
        let body = rendered(CLAUDE, &request).unwrap();
        assert_eq!(body["toolConfig"]["toolChoice"], expected);
        // The service refuses thinking together with a call that is demanded.
        assert_eq!(body.get("additionalModelRequestFields"), None);
    }
}

#[test]
fn strict_tools_and_results_have_reduced_schemas() {
    let schema = json!({
        "type": "object", "required": ["pattern"], "additionalProperties": false,
        "properties": {"pattern": {"type": "string", "minLength": 2}},
    });
    let request = ModelRequest {
        tools: [weather().strict(true)].into(),
        output_schema: Some(OutputSchema {
            name: "answer".into(),
            description: Some("The answer.".into()),
            schema,
        }),
        ..ask(vec![Message::user("Hi")])
    };
    let body = rendered(CLAUDE, &request).unwrap();
    let spec = &body["toolConfig"]["tools"][0]["toolSpec"];
    assert_eq!(spec["strict"], true);
    assert_eq!(
        spec.pointer("/inputSchema/json/properties/city_name/maxLength"),
        None
    );
    let format = &body["outputConfig"]["textFormat"];
    assert_eq!(format["type"], "json_schema");
    let definition = &format["structure"]["jsonSchema"];
    assert_eq!(definition["name"], "answer");
    assert_eq!(definition["description"], "The answer.");
    let sent: Value = serde_json::from_str(definition["schema"].as_str().unwrap()).unwrap();
    assert_eq!(sent["properties"]["pattern"]["type"], "string");
    assert_eq!(sent.pointer("/properties/pattern/minLength"), None);
}

#[test]
fn settings_have_their_names_here_and_keep_their_own_keys() {
    assert_eq!(set(NOVA, json!({})), json!({}));
    assert_eq!(
        set(
            NOVA,
            json!({"max_tokens": 5, "temperature": 0.5, "top_p": 0.9, "stop": "END", "seed": 7,
                "top_k": 3, "user": "u", "metadata": {"a": 1}, "reasoning_effort": "none",
                "session_id": "s"})
        ),
        json!({"inferenceConfig": {"maxTokens": 5, "temperature": 0.5, "topP": 0.9,
            "stopSequences": ["END"]}})
    );
    assert_eq!(
        set(
            NOVA,
            json!({"max_output_tokens": 5, "stop_sequences": ["a", "b"]})
        ),
        json!({"inferenceConfig": {"maxTokens": 5, "stopSequences": ["a", "b"]}})
    );
    assert_eq!(
        set(
            NOVA,
            json!({
                "additional_model_request_fields": {"snake_key": {"in_it": 1}},
                "additional_model_response_field_paths": ["/stop_sequence"],
                "guardrail_config": {"guardrail_identifier": "g1", "guardrailVersion": "1",
                    "trace": "enabled", "stream_processing_mode": "sync"},
                "performance_config": {"latency": "optimized"},
                "request_metadata": {"guardrail_version": "mine"},
                "service_tier": "flex",
                "extra_body": {"promptVariables": {"some_name": {"text": "x"}}},
            })
        ),
        json!({
            "additionalModelRequestFields": {"snake_key": {"in_it": 1}},
            "additionalModelResponseFieldPaths": ["/stop_sequence"],
            "guardrailConfig": {"guardrailIdentifier": "g1", "guardrailVersion": "1",
                "trace": "enabled", "streamProcessingMode": "sync"},
            "performanceConfig": {"latency": "optimized"},
            "requestMetadata": {"guardrail_version": "mine"},
            "serviceTier": {"type": "flex"},
            "promptVariables": {"some_name": {"text": "x"}},
        })
    );
    for name in [
        "guardrail_config",
        "performance_config",
        "additional_model_request_fields",
    ] {
        assert!(refused(NOVA, json!({name: "x"})).contains(name));
    }
}

#[test]
fn reasoning_effort_is_for_claude() {
    assert_eq!(
        set(CLAUDE, json!({"reasoning_effort": "medium", "top_k": 5})),
        json!({"additionalModelRequestFields":
            {"thinking": {"type": "enabled", "budget_tokens": 8192}, "top_k": 5}})
    );
    assert_eq!(
        set(
            "anthropic.claude-opus-4-6-v1",
            json!({"reasoning_effort": "high"})
        ),
        json!({"outputConfig": {"effort": "high"},
            "additionalModelRequestFields": {"thinking": {"type": "adaptive"}}})
    );
    let own = json!({"thinking": {"type": "enabled", "budget_tokens": 2000}});
    assert_eq!(
        set(
            CLAUDE,
            json!({"reasoning_effort": "low", "additional_model_request_fields": own})
        )["additionalModelRequestFields"],
        own
    );
    assert!(refused(NOVA, json!({"reasoning_effort": "high"})).contains("reasoning_effort"));
    assert!(refused(CLAUDE, json!({"reasoning_effort": "very"})).contains("reasoning_effort"));
}

#[test]
fn prompts_are_cut_where_they_stop_being_the_same() {
    let point = json!({"cachePoint": {"type": "default"}});
    let request = |system: &str, setting: Value| ModelRequest {
        tools: [weather()].into(),
        settings: Map::from_iter([("prompt_cache".to_owned(), setting)]),
        ..ask(vec![Message::system(system), Message::user("Hi")])
    };
    let body = rendered(CLAUDE, &request("Be brief.", json!(true))).unwrap();
    assert_eq!(body["system"], json!([{"text": "Be brief."}, point]));
    assert_eq!(
        messages(&body)[0]["content"],
        json!([{"text": "Hi"}, point])
    );
    assert_eq!(body["toolConfig"]["tools"].as_array().unwrap().len(), 1);

    let body = rendered(CLAUDE, &request("", json!("1h"))).unwrap();
    let hour = json!({"cachePoint": {"type": "default", "ttl": "1h"}});
    assert_eq!(body["system"], json!([]));
    assert_eq!(body["toolConfig"]["tools"][1], hour);
    assert_eq!(messages(&body)[0]["content"][1], hour);

    // Other models refuse a mark among the tools.
    let body = rendered(NOVA, &request("", json!(true))).unwrap();
    assert_eq!(body["toolConfig"]["tools"].as_array().unwrap().len(), 1);

    let body = rendered(CLAUDE, &request("x", json!(false))).unwrap();
    assert!(!body.to_string().contains("cachePoint"));
    let error = rendered(CLAUDE, &request("x", json!("2h"))).unwrap_err();
    assert!(error.message().contains("prompt_cache"), "{error}");
}

#[test]
fn identifiers_of_models_are_one_part_of_the_path() {
    assert_eq!(
        path("arn:aws:bedrock:us-east-1:1:application-inference-profile/ab+c~"),
        "model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aapplication-inference-profile%2Fab%2Bc~\
         /converse-stream"
    );
}
