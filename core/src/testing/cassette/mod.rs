//! Recording real exchanges, and playing them without a network.

mod difference;
mod exchange;
mod file;
mod player;
mod recorder;
mod scrub;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::Mutex;

use super::turn_value::invalid;
use crate::error::{Error, ErrorKind, Result};
use crate::http::{Answer, Next, Post, Transport};
#[cfg(feature = "fuzzing")]
pub(crate) use file::rewrite;

use exchange::Request;
use player::Player;
use recorder::{Recorder, learn};
use scrub::Scrubber;

/// Shorter texts to scrub would be found everywhere.
const MIN_LITERAL: usize = 4;

/// Whether a [`Cassette`] records or plays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CassetteMode {
    /// Ask the real service and write the file anew.
    Record,
    /// Answer from the file. Nothing is ever sent, and a request that was not recorded fails.
    Replay,
    /// Replay when the file exists, and record otherwise. The default.
    #[default]
    Once,
}

impl CassetteMode {
    /// Reads `"record"`, `"replay"` or `"once"`.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for another name.
    pub fn from_name(name: &str) -> Result<Self> {
        match name {
            "record" => Ok(CassetteMode::Record),
            "replay" => Ok(CassetteMode::Replay),
            "once" => Ok(CassetteMode::Once),
            other => Err(invalid(format!(
                "a cassette has no mode {other:?}; use record, replay or once"
            ))),
        }
    }
}

/// Real exchanges in a file: recorded once, and played ever after.
///
/// The file is JSON made to be read and compared. It holds each request's method, host, path, query and
/// body, and each answer's status, a few harmless headers and the chunks in which it arrived. Request
/// headers are not kept. Credentials of the requests, texts given to [`CassetteBuilder::scrub`], and texts
/// under keys such as `api_key` or `password` are replaced by `[scrubbed]` before anything is written.
/// A secret that a model spells out over several events is not recognised.
///
/// Playing is strict: a request must have a recorded method, path, query and body (as JSON, whatever the order
/// of its keys), and each exchange is played once. The host and the headers do not count.
///
/// ```no_run
/// use little_ghost::testing::Cassette;
/// use little_ghost::{Agent, Runtime};
///
/// # async fn example() -> little_ghost::Result<()> {
/// let cassette = Cassette::open("tests/cassettes/refund.json")?;
/// let runtime = Runtime::builder().cassette(&cassette).build()?;
/// let agent = Agent::builder("support")
///     .model("openrouter:openai/gpt-5.6-luna")
///     .runtime(runtime)
///     .build()?;
/// let run = agent.ask("Can I get a refund?").await?;
/// cassette.finish()?;
/// # Ok(())
/// # }
/// ```
///
/// Playing too needs a connection, but any key will do.
#[derive(Clone)]
pub struct Cassette(Arc<Shared>);

struct Shared {
    path: PathBuf,
    role: Role,
    scrubber: Mutex<Scrubber>,
}

enum Role {
    Recorder(Recorder),
    Player(Player),
}

/// Collects how a [`Cassette`] works.
#[derive(Clone)]
#[must_use = "a builder does nothing until it is opened"]
pub struct CassetteBuilder {
    path: PathBuf,
    mode: CassetteMode,
    scrubber: Scrubber,
    ignored: Vec<String>,
    problem: Option<Error>,
}

impl CassetteBuilder {
    /// Sets whether to record or to play.
    pub fn mode(mut self, mode: CassetteMode) -> Self {
        self.mode = mode;
        self
    }

    /// Never writes `text`, wherever it appears.
    pub fn scrub(mut self, text: &str) -> Self {
        if text.chars().count() < MIN_LITERAL {
            // The text itself is not repeated: it is meant to be secret.
            self.problem = Some(invalid(format!(
                "a text to scrub needs at least {MIN_LITERAL} characters"
            )));
        } else {
            self.scrubber.add(text);
        }
        self
    }

    /// Leaves a part of the request's body out of the comparison: a JSON pointer such as `/metadata/user`.
    pub fn ignore(mut self, pointer: &str) -> Self {
        if pointer.starts_with('/') {
            self.ignored.push(pointer.to_owned());
        } else {
            self.problem = Some(invalid(format!(
                "{pointer:?} is no JSON pointer; it must begin with /, as in /metadata/user"
            )));
        }
        self
    }

    /// Opens the cassette.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for an unusable text or pointer; [`ErrorKind::Configuration`] for a file that
    /// cannot be played.
    pub fn open(self) -> Result<Cassette> {
        if let Some(problem) = self.problem {
            return Err(problem);
        }
        let records = match self.mode {
            CassetteMode::Record => true,
            CassetteMode::Replay => false,
            CassetteMode::Once => !self.path.exists(),
        };
        let role = if records {
            Role::Recorder(Recorder::default())
        } else {
            Role::Player(Player::new(file::load(&self.path)?, &self.ignored))
        };
        Ok(Cassette(Arc::new(Shared {
            path: self.path,
            role,
            scrubber: Mutex::new(self.scrubber),
        })))
    }
}

impl Cassette {
    /// Opens a cassette that is played when its file exists, and recorded otherwise.
    ///
    /// # Errors
    /// As [`CassetteBuilder::open`].
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        Self::builder(path).open()
    }

    /// Starts a cassette in the file `path`.
    pub fn builder(path: impl Into<PathBuf>) -> CassetteBuilder {
        CassetteBuilder {
            path: path.into(),
            mode: CassetteMode::default(),
            scrubber: Scrubber::default(),
            ignored: Vec::new(),
            problem: None,
        }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Whether real exchanges are recorded.
    #[must_use]
    pub fn is_recording(&self) -> bool {
        matches!(self.0.role, Role::Recorder(_))
    }

    /// Ends the test's use of the cassette: writes what was recorded, or checks that everything was played.
    /// Nothing is written when the service could not be reached.
    ///
    /// # Errors
    /// [`ErrorKind::Error`] when a request was not recorded, with what is different about it, or when an exchange
    /// was never asked for; [`ErrorKind::Configuration`] when the file cannot be written.
    pub fn finish(&self) -> Result<()> {
        match &self.0.role {
            // A file without exchanges would fail every later test, although the service is back.
            Role::Recorder(recorder) if recorder.heard_nothing() => Ok(()),
            Role::Recorder(recorder) => {
                let scrubber = self.0.scrubber.lock().clone();
                file::store(&self.0.path, &recorder.exchanges(), &scrubber)
            }
            Role::Player(player) => match player.complaint() {
                Some(complaint) => Err(self.complain(&complaint)),
                None => Ok(()),
            },
        }
    }

    fn complain(&self, complaint: &str) -> Error {
        let path = self.0.path.display();
        Error::new(
            ErrorKind::Error,
            format!(
                "the cassette {path} {complaint}\nIf the change is intended, record it anew (mode \
                 record)."
            ),
        )
    }
}

#[async_trait]
impl Transport for Cassette {
    async fn send(&self, post: &Post, body: Bytes, next: Next<'_>) -> Result<Answer> {
        learn(&self.0.scrubber, post);
        match &self.0.role {
            Role::Recorder(recorder) => recorder.send(post, body, next).await,
            Role::Player(player) => {
                let scrubber = self.0.scrubber.lock().clone();
                let request = Request::new(post, &body).scrubbed(&scrubber);
                let found = player.find(&request, &post.endpoint);
                found.map_err(|complaint| self.complain(&complaint))
            }
        }
    }
}

impl fmt::Debug for Cassette {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Cassette")
            .field("path", &self.0.path)
            .field("is_recording", &self.is_recording())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for CassetteBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CassetteBuilder")
            .field("path", &self.path)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}
