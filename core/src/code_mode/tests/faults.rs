//! Processes that break the rules, and clean-up that fails.

use super::*;
use crate::code_mode::{ProgramStatus, SandboxFactory};
use crate::error::ErrorKind;
use crate::run::Run;
use crate::sandbox::{Capabilities, Limits, Policy, Process, Program, Sandbox};
use crate::workspace::Workspace;

async fn raised(text: &str) -> Error {
    let session = session(RubyEngine::default(), json!({}));
    let raised = session.execute(source(text)).await.unwrap_err();
    session.close().await.unwrap();
    raised
}

#[tokio::test]
async fn broken_frames_end_a_program() {
    let send = |bytes: &str| {
        format!(
            "LittleGhostProgram::OUTPUT.write({bytes}); LittleGhostProgram::OUTPUT.flush; sleep"
        )
    };
    for (bytes, told) in [
        (r#"[0xffffffff].pack("N")"#, "a frame of 4294967295 bytes"),
        (r#"[3].pack("N") + "{{{""#, "not JSON"),
        (r#"[2].pack("N") + "{}""#, "not {}"),
        (r#"[1].pack("N") + "3""#, "not 3"),
        (
            r#"(json = '{"type": "call", "id": 3}') && [json.size].pack("N") + json"#,
            "type call needs an id",
        ),
        (
            r#"(json = '{"type": "text", "value": 3}') && [json.size].pack("N") + json"#,
            "type text needs a string",
        ),
        (
            r#"(json = '{"type": "tell"}') && [json.size].pack("N") + json"#,
            "not type \"tell\"",
        ),
        (
            r#"(json = '[' * 5000) && [json.size].pack("N") + json"#,
            "not JSON",
        ),
    ] {
        let error = raised(&send(bytes)).await;
        assert!(error.is(ErrorKind::Protocol), "{bytes}: {error}");
        assert!(error.message().contains(told), "{bytes}: {error}");
    }
    let error = raised(r#"LittleGhostProgram::OUTPUT.write([9].pack("N") + "{"); LittleGhostProgram::OUTPUT.flush; exit!"#).await;
    assert!(error.is(ErrorKind::Protocol), "{error}");
}

#[tokio::test]
async fn forged_frames_reach_nothing_that_calls_do_not() {
    let session = session(RubyEngine::default(), json!({}));
    let forged = run(
        &session,
        r#"LittleGhostProgram.call("exec", {"source" => "1"})"#,
    )
    .await;
    assert!(
        forged
            .error
            .is_some_and(|error| error.contains("not available"))
    );
}

#[tokio::test]
async fn a_process_that_is_killed_is_a_failed_program() {
    let session = session(RubyEngine::default(), json!({}));
    let killed = run(&session, "Process.kill(:KILL, Process.pid); sleep").await;
    assert_eq!(killed.status, ProgramStatus::Error);
    assert!(killed.error.is_some_and(|error| error.contains("signal 9")));
    let left = run(&session, "exit!(7)").await;
    assert!(left.error.is_some_and(|error| error.contains("status 7")));
    assert_eq!(run(&session, "1").await.value, Some(json!(1)));
}

#[tokio::test]
async fn descendants_end_with_their_program() {
    let session = session(RubyEngine::default(), json!({}));
    let result = run(
        &session,
        "spawn('sleep 1000', out: File::NULL, err: File::NULL)",
    )
    .await;
    let pid = result.value.and_then(|value| value.as_u64()).unwrap();
    eventually("a descendant ends", || !is_there(pid)).await;
}

#[tokio::test]
async fn what_ends_more_than_the_program_is_raised() {
    let session = javascript(json!({}));
    let error = session
        .execute(source("await tools.fatal({})"))
        .await
        .unwrap_err();
    assert_eq!(error.message(), "everything is over");
    assert_eq!(run(&session, "1").await.value, Some(json!(1)));
}

#[tokio::test]
async fn a_result_that_is_too_large_is_an_error_for_the_program() {
    let session = javascript(json!({}));
    let error = run(&session, "await tools.huge({})").await.error.unwrap();
    assert!(error.contains("too large"), "{error}");
}

/// Sandboxes that break at some step.
struct Broken(&'static str);

struct BrokenSandbox {
    inner: Arc<dyn Sandbox>,
    step: &'static str,
}

#[async_trait]
impl SandboxFactory for Broken {
    async fn create(
        &self,
        workspace: &Arc<Workspace>,
        paths: &[String],
    ) -> Result<Arc<dyn Sandbox>> {
        if self.0 == "create" {
            return Err(Error::new(ErrorKind::Dependency, "no sandbox today"));
        }
        let inner = DeclaredSandboxes::new(json!("unrestricted"))
            .create(workspace, paths)
            .await?;
        Ok(Arc::new(BrokenSandbox {
            inner,
            step: self.0,
        }))
    }
}

#[async_trait]
impl Sandbox for BrokenSandbox {
    fn workspace(&self) -> &Arc<Workspace> {
        self.inner.workspace()
    }

    fn policy(&self) -> &Policy {
        self.inner.policy()
    }

    fn effective_policy(&self) -> Policy {
        self.inner.effective_policy()
    }

    fn capabilities(&self) -> Capabilities {
        if self.step == "capabilities" {
            return Capabilities::new([], [], "something");
        }
        self.inner.capabilities()
    }

    fn limits(&self) -> &Limits {
        self.inner.limits()
    }

    async fn open(&self, run: Option<&Run>) -> Result<()> {
        if self.step == "open" {
            return Err(Error::new(ErrorKind::Dependency, "no sandbox today"));
        }
        self.inner.open(run).await
    }

    async fn close(&self) -> Result<()> {
        match self.step {
            "close" => Err(Error::new(ErrorKind::Error, "the door is stuck")),
            "close forever" => std::future::pending().await,
            _ => self.inner.close().await,
        }
    }

    async fn start(&self, program: Program) -> Result<Box<dyn Process>> {
        if self.step == "start" {
            return Err(Error::tool("cannot start"));
        }
        self.inner.start(program).await
    }
}

fn breaking_at(step: &'static str) -> ProgramSession {
    let limits = json!({"cleanup_seconds": 1});
    ProgramSession::open(
        Arc::new(RubyEngine::default()),
        broker(),
        Arc::new(Broken(step)),
        limits.as_object().unwrap(),
    )
    .unwrap()
}

#[tokio::test]
async fn a_place_that_cannot_be_made_is_raised() {
    for (step, kind) in [
        ("create", ErrorKind::Dependency),
        ("open", ErrorKind::Dependency),
        ("start", ErrorKind::Tool),
        ("capabilities", ErrorKind::Capability),
    ] {
        let session = breaking_at(step);
        let error = session.execute(source("1")).await.unwrap_err();
        assert!(error.is(kind), "{step}: {error}");
        session.close().await.unwrap();
    }
}

/// A program that is at work.
async fn working_in(step: &'static str) -> ProgramSession {
    let session = breaking_at(step).observing(Duration::from_millis(20));
    let mut result = run(&session, "puts 1; sleep").await;
    while result.output.is_empty() {
        result = session.wait(None).await.unwrap();
    }
    session
}

#[tokio::test]
async fn clean_up_that_fails_is_raised() {
    for step in ["close", "close forever"] {
        let session = breaking_at(step);
        let error = session.execute(source("1")).await.unwrap_err();
        assert!(error.is(ErrorKind::Cleanup), "{step}: {error}");

        let session = working_in(step).await;
        assert!(session.stop(None).await.unwrap_err().is(ErrorKind::Cleanup));

        let session = working_in(step).await;
        assert!(session.close().await.unwrap_err().is(ErrorKind::Cleanup));
    }
}

#[tokio::test]
async fn nothing_stays_of_programs() {
    let folders = || {
        let entries = std::fs::read_dir(std::env::temp_dir()).unwrap();
        let names = entries
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned());
        names
            .filter(|name| name.starts_with("little-ghost-program-"))
            .collect::<Vec<_>>()
    };
    let session = session(RubyEngine::default(), json!({}));
    let place = run(&session, "Dir.mkdir('a', 0); Dir.pwd")
        .await
        .value
        .unwrap();
    let name = place
        .as_str()
        .unwrap()
        .rsplit('/')
        .next()
        .unwrap()
        .to_owned();
    assert!(name.starts_with("little-ghost-program-"));
    assert!(!folders().contains(&name));
}
