//! One error type for the whole engine, and the table of public error classes.
//!
//! [`ErrorKind`] has one variant for each exception class that the Ruby gem and
//! the Python package expose; both bindings build their class trees from
//! [`ErrorKind::ALL`], so a class cannot exist in one language only.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

/// Result of every fallible operation in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

macro_rules! error_kinds {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal $(< $parent:ident)?;)+) => {
        /// What went wrong, as one value for each public exception class.
        #[non_exhaustive]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ErrorKind {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl ErrorKind {
            /// Every kind, parents before children.
            pub const ALL: &'static [ErrorKind] = &[$(ErrorKind::$variant,)+];

            /// The class name that Ruby and Python expose, such as `"ProviderError"`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(ErrorKind::$variant => $name,)+ }
            }

            /// The kind that this one specialises; `None` for the root.
            #[must_use]
            pub const fn parent(self) -> Option<ErrorKind> {
                match self { $(ErrorKind::$variant => error_kinds!(@parent $($parent)?),)+ }
            }
        }
    };
    (@parent) => { None };
    (@parent $parent:ident) => { Some(ErrorKind::$parent) };
}

error_kinds! {
    /// Any failure that has no more specific kind.
    Error = "Error";
    /// An abstract framework method has no concrete implementation.
    AbstractMethod = "AbstractMethodError" < Error;
    /// Invalid framework or application configuration.
    Configuration = "ConfigurationError" < Error;
    /// A configured provider adapter cannot be constructed.
    AdapterLoad = "AdapterLoadError" < Configuration;
    /// No usable credentials for a provider.
    Credential = "CredentialError" < Configuration;
    /// Sandbox set-up failed before model-controlled work started.
    SandboxConfiguration = "SandboxConfigurationError" < Configuration;
    /// A backend cannot enforce a requested sandbox capability.
    Capability = "CapabilityError" < SandboxConfiguration;
    /// An explicitly selected sandbox dependency is unavailable.
    Dependency = "DependencyError" < SandboxConfiguration;
    /// A sandbox policy contradicts itself.
    Policy = "PolicyError" < SandboxConfiguration;
    /// A sandbox backend does not support this operating system.
    UnsupportedPlatform = "UnsupportedPlatformError" < SandboxConfiguration;
    /// An invocation payload or operation is invalid.
    Invocation = "InvocationError" < Error;
    /// An active run cannot accept an interjection.
    AgentInterjection = "AgentInterjectionError" < Invocation;
    /// An invocation contains an input form that the model does not take.
    UnsupportedInput = "UnsupportedInputError" < Invocation;
    /// Cancellation stopped the operation.
    Cancelled = "CancelledError" < Error;
    /// The operation reached its deadline.
    DeadlineExceeded = "DeadlineExceededError" < Error;
    /// One or more managed resources failed to close.
    Cleanup = "CleanupError" < Error;
    /// An expected failure of a tool; its message is visible to the model.
    Tool = "ToolError" < Error;
    /// A provider request, response or protocol failure.
    Provider = "ProviderError" < Error;
    /// A bounded HTTP or network failure of a provider connection.
    Http = "HTTPError" < Provider;
    /// The provider says that the request exceeds the context window.
    ContextWindowOverflow = "ContextWindowOverflowError" < Provider;
    /// A provider violated the expected protocol.
    Protocol = "ProtocolError" < Provider;
    /// The model returned an invalid tool call.
    MalformedToolCall = "MalformedToolCallError" < Protocol;
    /// A generation limit stopped the agent before it was done.
    OutputLimit = "OutputLimitError" < Protocol;
    /// A structured result is absent, invalid or too large.
    StructuredResult = "StructuredResultError" < Protocol;
    /// Identical tool calls reached the termination limit.
    ToolLoop = "ToolLoopError" < Protocol;
    /// A failure while coordinating assemblies.
    Assembly = "AssemblyError" < Error;
    /// An assembly exceeded its execution bound.
    AssemblyLimit = "AssemblyLimitError" < Assembly;
    /// An assembly cannot choose one valid next participant.
    AssemblyRouting = "AssemblyRoutingError" < Assembly;
    /// One assembly step exceeded its local timeout.
    AssemblyStepTimeout = "AssemblyStepTimeoutError" < Assembly;
    /// A prompt template could not be located or rendered.
    PromptTemplate = "PromptTemplateError" < Error;
    /// Unsafe template name, escaped root, cycle or excessive recursion.
    InvalidPromptTemplate = "InvalidPromptTemplateError" < PromptTemplate;
    /// A template references a missing local.
    MissingPromptLocal = "MissingPromptLocalError" < PromptTemplate;
    /// No configured root contains the requested template.
    MissingPromptTemplate = "MissingPromptTemplateError" < PromptTemplate;
    /// An invalid argument: `ArgumentError` in Ruby, `ValueError` in Python.
    Argument = "ArgumentError";
    /// An exception of the host language, kept by the host under an id.
    Host = "HostError";
}

impl ErrorKind {
    /// The kind with that class name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<ErrorKind> {
        ErrorKind::ALL
            .iter()
            .copied()
            .find(|kind| kind.name() == name)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Whether the same request may be tried again, as data rather than as a guess from text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retry {
    /// Trying again cannot help. This is the default.
    #[default]
    Never,
    /// Trying again after a back-off may help.
    Backoff,
    /// The peer asked for exactly this pause.
    After(Duration),
}

/// An exception of the host language, identified rather than held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostException {
    /// Key of the original exception in the host's own table.
    pub id: u64,
    /// Class name as the host writes it, such as `"KeyError"`.
    pub class: String,
}

/// A failure of the engine, a provider, a tool or the host.
///
/// Cheap to clone, because events carry errors to several consumers.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    retry: Retry,
    status: Option<u16>,
    body: Option<String>,
    code: Option<String>,
    data: Option<Value>,
    host: Option<HostException>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Error {
    /// Creates an error of `kind`; `message` says what is wrong and what to change.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            retry: Retry::Never,
            status: None,
            body: None,
            code: None,
            data: None,
            host: None,
            source: None,
        }))
    }

    /// An expected tool failure, whose message the model will read.
    pub fn tool(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Tool, message)
    }

    /// An exception of the host language.
    pub fn host(exception: HostException, message: impl Into<String>) -> Self {
        let mut error = Self::new(ErrorKind::Host, message);
        error.0.host = Some(exception);
        error
    }

    /// The error for work that was cancelled.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "the run was cancelled")
    }

    /// The error for work that reached its deadline.
    #[must_use]
    pub fn deadline_exceeded() -> Self {
        Self::new(
            ErrorKind::DeadlineExceeded,
            "the deadline passed before the work was done",
        )
    }

    /// Replaces the message and keeps everything else.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.0.message = message.into();
        self
    }

    /// Sets whether and when the request may be tried again.
    #[must_use]
    pub fn with_retry(mut self, retry: Retry) -> Self {
        self.0.retry = retry;
        self
    }

    /// Records the HTTP status and at most 4,096 bytes of the response body.
    #[must_use]
    pub fn with_http(mut self, status: Option<u16>, body: Option<String>) -> Self {
        self.0.status = status;
        self.0.body = body.map(|mut text| {
            let mut end = text.len().min(4_096);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.truncate(end);
            text
        });
        self
    }

    /// Records the provider's own error code, when it is safe to show.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.0.code = Some(code.into());
        self
    }

    /// Attaches structured facts about the failure.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.0.data = Some(data);
        self
    }

    /// Records the host exception that this error stands for, keeping its kind.
    #[must_use]
    pub fn with_host(mut self, exception: HostException) -> Self {
        self.0.host = Some(exception);
        self
    }

    /// Attaches the error that caused this one.
    #[must_use]
    pub fn with_source(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// The kind of failure.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message without the kind.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Whether and when to try again.
    #[must_use]
    pub fn retry(&self) -> Retry {
        self.0.retry
    }

    /// HTTP status, when a response was received.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.0.status
    }

    /// The bounded response body, when there was one.
    #[must_use]
    pub fn body(&self) -> Option<&str> {
        self.0.body.as_deref()
    }

    /// The provider's error code.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// Structured facts about the failure.
    #[must_use]
    pub fn data(&self) -> Option<&Value> {
        self.0.data.as_ref()
    }

    /// The host exception that this error stands for.
    #[must_use]
    pub fn host_exception(&self) -> Option<&HostException> {
        self.0.host.as_ref()
    }

    /// The class name a user of the host language sees.
    #[must_use]
    pub fn class_name(&self) -> &str {
        match &self.0.host {
            Some(host) => &host.class,
            None => self.0.kind.name(),
        }
    }

    /// Whether `kind` is this error's kind or one of its ancestors.
    #[must_use]
    pub fn is(&self, kind: ErrorKind) -> bool {
        let mut current = Some(self.0.kind);
        while let Some(candidate) = current {
            if candidate == kind {
                return true;
            }
            current = candidate.parent();
        }
        false
    }

    /// The shape that crosses to a host: `kind`, `message` and what else is known.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("kind".into(), json!(self.0.kind.name()));
        map.insert("message".into(), json!(self.0.message));
        if let Some(status) = self.0.status {
            map.insert("status".into(), json!(status));
        }
        if let Some(body) = &self.0.body {
            map.insert("body".into(), json!(body));
        }
        if let Some(code) = &self.0.code {
            map.insert("code".into(), json!(code));
        }
        if let Some(data) = &self.0.data {
            map.insert("data".into(), data.clone());
        }
        if let Some(host) = &self.0.host {
            map.insert("host_id".into(), json!(host.id));
            map.insert("host_class".into(), json!(host.class));
        }
        map.insert("retryable".into(), json!(self.0.retry != Retry::Never));
        Value::Object(map)
    }
}

/// So that code of the application that works with files, such as the teardown of a workspace, can use `?`. The system's
/// own text names no path.
impl From<io::Error> for Error {
    fn from(problem: io::Error) -> Self {
        Self::new(ErrorKind::Error, problem.to_string()).with_source(problem)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}({:?})", self.class_name(), self.0.message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.message)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0
            .source
            .as_ref()
            .map(|source| &**source as &(dyn StdError + 'static))
    }
}
