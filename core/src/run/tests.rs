//! What a run costs while it waits.

use serde_json::json;

use super::{Invocation, Scope, execute};
use crate::agent::Agent;
use crate::assembly::new_run;
use crate::runtime::Runtime;

/// Thousands of runs wait at once, and a function that awaits a future it was given has room for it twice.
#[test]
fn the_task_of_a_run_is_small() {
    let runtime = Runtime::from_value(&json!({})).unwrap();
    let agent = Agent::builder("small").model("a:b").build().unwrap();
    let invocation = Invocation::new("Hello").unwrap();
    let run = new_run(Some(&runtime), invocation, None).unwrap();
    let work = execute(run, agent.entrypoint(), Scope::Run);
    let size = size_of_val(&work);
    assert!(size < 3_000, "{size} bytes");
}
