use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::*;

#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Log {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock())
    }
}

impl Subscriber for Log {
    fn start(&self, name: &str, attributes: &Map<String, Value>) {
        self.0
            .lock()
            .push(format!("start {name} {}", attributes["a"]));
    }

    fn finish(&self, name: &str, attributes: &Map<String, Value>) {
        assert!(attributes["duration_ms"].as_f64().unwrap() >= 0.0);
        let outcome = attributes.get("outcome").cloned().unwrap_or_default();
        self.0
            .lock()
            .push(format!("finish {name} {} {outcome}", attributes["a"]));
    }

    fn emit(&self, name: &str, _attributes: &Map<String, Value>) {
        self.0.lock().push(format!("emit {name}"));
    }

    fn notice(&self, notice: &Notice) {
        self.0.lock().push(format!("notice {}", notice.name));
    }
}

struct Broken;

impl Subscriber for Broken {
    fn start(&self, _name: &str, _attributes: &Map<String, Value>) {
        panic!("broken subscriber");
    }
}

fn telemetry(subscribers: Vec<Arc<dyn Subscriber>>) -> Telemetry {
    Telemetry::new(TelemetrySettings {
        subscribers,
        ..TelemetrySettings::default()
    })
}

fn attributes(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[test]
fn an_operation_begins_and_ends_once() {
    let log = Arc::new(Log::default());
    let telemetry = telemetry(vec![Arc::clone(&log) as Arc<dyn Subscriber>]);
    let outer = telemetry.start("import", None, attributes(json!({"a": 1})));
    let inner = telemetry.start("row", Some(outer.id()), attributes(json!({"a": 2})));
    drop(inner);
    telemetry.publish("halfway", &Map::new());
    outer.finish(attributes(json!({"a": 3, "outcome": "success"})));
    assert_eq!(
        log.take(),
        [
            "start import 1",
            "start row 2",
            "finish row 2 \"error\"",
            "emit halfway",
            "finish import 3 \"success\"",
        ]
    );
}

#[test]
fn a_subscriber_that_panics_is_reported_once_and_disturbs_nobody() {
    let log = Arc::new(Log::default());
    let telemetry = telemetry(vec![
        Arc::new(Broken),
        Arc::clone(&log) as Arc<dyn Subscriber>,
    ]);
    for _ in 0..2 {
        telemetry
            .start("import", None, attributes(json!({"a": 1})))
            .finish(Map::new());
    }
    assert_eq!(
        log.take(),
        [
            "notice little_ghost.instrumentation.listener_failed",
            "start import 1",
            "finish import 1 null",
            "start import 1",
            "finish import 1 null",
        ]
    );
}
