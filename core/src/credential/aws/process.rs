//! Programs that print keys.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::time::timeout;

use super::document;
use crate::credential::aws_credentials::AwsCredentials;
use crate::credential::trail::unusable;
use crate::error::{Error, Result};
use crate::executor;
use crate::http::shorten;

/// A program may ask a person.
const PATIENCE: Duration = Duration::from_secs(60);

/// More output is no document with keys.
const MAX_OUTPUT: u64 = 1_024 * 1_024;

/// Runs `command`, without a shell, and reads the keys that it prints.
///
/// # Errors
/// [`ErrorKind::Credential`](crate::ErrorKind::Credential) with what the program wrote to its standard
/// error output; its standard output is secret.
pub(super) async fn keys(command: &str) -> Result<AwsCredentials> {
    let output = run(command, PATIENCE).await?;
    let source = "credential_process";
    let document: Value = serde_json::from_slice(&output)
        .map_err(|_| unusable(format!("{source} printed no JSON")))?;
    match document.get("Version").and_then(Value::as_u64) {
        Some(1) => document::keys(source, &document),
        _ => Err(unusable(format!(
            "{source} printed another Version than 1, the only known one"
        ))),
    }
}

/// A program that is killed when nobody waits for it any more.
struct Program(Arc<Mutex<Child>>);

impl Drop for Program {
    fn drop(&mut self) {
        let mut child = self.0.lock();
        // A program that has ended is neither running nor known any more.
        if matches!(child.try_wait(), Ok(None)) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

async fn run(command: &str, patience: Duration) -> Result<Vec<u8>> {
    let words = split(command)?;
    let Some((name, arguments)) = words.split_first() else {
        return Err(unusable("credential_process is empty"));
    };
    let mut child = Command::new(name)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|problem| {
            unusable(format!(
                "cannot run {name:?} (credential_process): {problem}"
            ))
        })?;
    let (output, complaint) = (child.stdout.take(), child.stderr.take());
    let program = Program(Arc::new(Mutex::new(child)));
    let ended = async {
        let (output, complaint) = tokio::join!(read(output), read(complaint));
        let status = wait(&program).await;
        Ok::<_, Error>((output?, complaint?, status))
    };
    let (output, complaint, status) = timeout(patience, ended).await.map_err(|_| {
        unusable(format!(
            "{name:?} (credential_process) did not end within {} s",
            patience.as_secs()
        ))
    })??;
    // Unknown when code of the application waits for all children at once: then the output decides.
    if status.is_some_and(|status| !status.success()) {
        let complaint = String::from_utf8_lossy(&complaint);
        return Err(unusable(format!(
            "{name:?} (credential_process) failed: {}",
            shorten(complaint.trim(), 500)
        )));
    }
    Ok(output)
}

async fn read(pipe: Option<impl Read + Send + 'static>) -> Result<Vec<u8>> {
    let Some(pipe) = pipe else {
        return Ok(Vec::new());
    };
    executor::blocking(move || {
        let mut bytes = Vec::new();
        pipe.take(MAX_OUTPUT)
            .read_to_end(&mut bytes)
            .map_err(|problem| {
                unusable(format!("cannot read from credential_process: {problem}"))
            })?;
        Ok(bytes)
    })
    .await
}

/// Waits for a program that has closed its output, and so is about to end.
async fn wait(program: &Program) -> Option<ExitStatus> {
    let mut pause = Duration::from_millis(1);
    loop {
        match program.0.lock().try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) => {}
            Err(_) => return None,
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(100));
    }
}

/// The words of a command line, with quotes and backslashes as a POSIX shell takes them.
fn split(command: &str) -> Result<Vec<String>> {
    let unfinished = || unusable("credential_process has a quote without its counterpart");
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next().ok_or_else(unfinished)? {
                        '\'' => break,
                        letter => word.push(letter),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next().ok_or_else(unfinished)? {
                        '"' => break,
                        '\\' => match letters.next().ok_or_else(unfinished)? {
                            letter @ ('"' | '\\') => word.push(letter),
                            letter => word.extend(['\\', letter]),
                        },
                        letter => word.push(letter),
                    }
                }
            }
            '\\' => {
                let letter = letters.next().ok_or_else(unfinished)?;
                word.get_or_insert_default().push(letter);
            }
            letter if letter.is_whitespace() => words.extend(word.take()),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_split_as_a_shell_does() {
        for (command, expected) in [
            ("a b\tc", vec!["a", "b", "c"]),
            ("  'a b'c \"d 'e'\" ", vec!["a bc", "d 'e'"]),
            (r#"a\ b "c\"d\e" '\'"#, vec!["a b", r#"c"d\e"#, r"\"]),
            ("'' \"\"", vec!["", ""]),
            ("", vec![]),
        ] {
            assert_eq!(split(command).unwrap(), expected, "{command}");
        }
        for command in ["'a", "\"a", "a\\"] {
            assert!(split(command).is_err(), "{command}");
        }
    }

    #[tokio::test]
    async fn a_program_prints_keys() {
        let printed = r#"{"Version": 1, "AccessKeyId": "AKID", "SecretAccessKey": "hush-hush",
            "SessionToken": "quiet", "Expiration": "2099-01-01T00:00:00Z"}"#;
        let keys = keys(&format!("printf %s '{printed}'")).await.unwrap();
        assert_eq!(keys.secret_access_key().expose(), "hush-hush");
        assert_eq!(keys.token().unwrap().expose(), "quiet");
        assert!(keys.expiry().is_some());
    }

    #[tokio::test]
    async fn a_program_that_fails_says_why_and_its_output_stays_secret() {
        for (command, expected) in [
            (
                "sh -c 'echo hush-hush; echo not logged in >&2; exit 3'",
                "not logged in",
            ),
            ("printf hush-hush", "printed no JSON"),
            (
                r#"printf '{"Version": 2, "AccessKeyId": "hush-hush"}'"#,
                "Version",
            ),
            (
                r#"printf '{"Version": 1, "SecretAccessKey": "hush-hush"}'"#,
                "AccessKeyId",
            ),
            ("/no/such/program", "cannot run"),
            ("", "empty"),
        ] {
            let message = keys(command).await.unwrap_err().message().to_owned();
            assert!(message.contains(expected), "{command}: {message}");
            assert!(!message.contains("hush-hush"), "{message}");
        }
    }

    #[tokio::test]
    async fn a_program_that_never_ends_is_killed() {
        let error = run("sleep 600", Duration::from_millis(20))
            .await
            .unwrap_err();
        assert!(error.message().contains("did not end"), "{error}");
    }
}
