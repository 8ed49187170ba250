//! What a run closes, in reverse order, after every outcome.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;

use crate::error::{Error, ErrorKind, Result};
use crate::panics::caught;

/// Something that a run closes when it ends.
#[async_trait]
pub trait Resource: Send + Sync {
    /// Releases the resource.
    ///
    /// # Errors
    /// Whatever failed; the run then ends as failed and its caller gets the error.
    async fn close(&self) -> Result<()>;
}

#[derive(Default)]
struct Registered {
    closed: bool,
    resources: Vec<Box<dyn Resource>>,
}

/// The resources of one run, or of a part of one.
#[derive(Clone, Default)]
pub(crate) struct Resources(Arc<Mutex<Registered>>);

/// What a part left open, because it was cut off.
struct Leftover(Resources);

#[async_trait]
impl Resource for Leftover {
    async fn close(&self) -> Result<()> {
        self.0.close().await.map_or(Ok(()), Err)
    }
}

impl Resources {
    pub(crate) fn register(&self, resource: Box<dyn Resource>) -> Result<()> {
        let mut registered = self.0.lock();
        if registered.closed {
            return Err(Error::new(
                ErrorKind::Error,
                "the run is closed; register resources before it ends",
            ));
        }
        registered.resources.push(resource);
        Ok(())
    }

    /// Resources of a part. Whoever made the part closes them; if it cannot, the run does.
    pub(crate) fn part(&self) -> Self {
        let part = Self::default();
        // A closed run has nothing left to do.
        let _ = self.register(Box::new(Leftover(part.clone())));
        part
    }

    /// The next resource to close. Without one the registry is closed, in the same step: a
    /// consumer that reads events late may register until then.
    fn next_to_close(&self) -> Option<Box<dyn Resource>> {
        let mut registered = self.0.lock();
        let next = registered.resources.pop();
        registered.closed = next.is_none();
        next
    }

    /// Tries every closer, last registered first. Returns the first
    /// [`ErrorKind::Cleanup`] error, else the first error.
    pub(crate) async fn close(&self) -> Option<Error> {
        let mut failures: Vec<Error> = Vec::new();
        while let Some(resource) = self.next_to_close() {
            if let Err(error) = caught("a resource that closes", resource.close()).await {
                failures.push(error);
            }
        }
        let cleanup = failures
            .iter()
            .position(|error| error.is(ErrorKind::Cleanup));
        let index = cleanup.unwrap_or(0);
        (index < failures.len()).then(|| failures.swap_remove(index))
    }
}

impl std::fmt::Debug for Resources {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let registered = self.0.lock();
        formatter
            .debug_struct("Resources")
            .field("closed", &registered.closed)
            .field("open", &registered.resources.len())
            .finish()
    }
}
