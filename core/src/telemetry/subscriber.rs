//! The application's side of telemetry.

use serde_json::{Map, Value};

use crate::run::Notice;

/// Receives what the engine measures, in order for each run. Implement what the backend supports.
///
/// Calls come from the tasks that do the work, so that they must be quick, and several may come at
/// once. A subscriber that panics is reported once and disturbs nothing.
///
/// ```
/// use little_ghost::telemetry::Subscriber;
/// use little_ghost::{Runtime, async_trait};
/// use serde_json::{Map, Value};
///
/// struct Timing;
///
/// impl Subscriber for Timing {
///     fn finish(&self, name: &str, attributes: &Map<String, Value>) {
///         eprintln!("{name}: {} ms", attributes["duration_ms"]);
///     }
/// }
///
/// # fn example() -> little_ghost::Result<()> {
/// let runtime = Runtime::builder().subscriber(Timing).build()?;
/// # Ok(())
/// # }
/// ```
pub trait Subscriber: Send + Sync {
    /// An operation begins.
    fn start(&self, name: &str, attributes: &Map<String, Value>) {
        let _ = (name, attributes);
    }

    /// An operation ended.
    fn finish(&self, name: &str, attributes: &Map<String, Value>) {
        let _ = (name, attributes);
    }

    /// Something happened.
    fn emit(&self, name: &str, attributes: &Map<String, Value>) {
        let _ = (name, attributes);
    }

    /// Something that the application's operators should know.
    fn notice(&self, notice: &Notice) {
        let _ = notice;
    }
}
