//! The tokio runtime that hosts run on, one for each process that needs it.
//!
//! A forked child inherits memory but no threads, so a runtime is only ever used by the pid that
//! built it. The parent's is leaked in the child: shutting it down would wait for threads
//! that do not exist there.

use std::future::Future;
use std::process;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::error::{Error, ErrorKind, Result};

struct Executor {
    pid: u32,
    runtime: Runtime,
    shutdown: CancellationToken,
}

// A pointer rather than a lock: a lock held by another thread at fork would never open in the child.
static CURRENT: AtomicPtr<Executor> = AtomicPtr::new(ptr::null_mut());

#[expect(unsafe_code, reason = "reads a pointer to a leaked, never freed value")]
fn current() -> Result<&'static Executor> {
    loop {
        let found = CURRENT.load(Ordering::Acquire);
        // SAFETY: the pointer is null or comes from `Box::into_raw` below and is never freed.
        if let Some(executor) = unsafe { found.as_ref() }
            && executor.pid == process::id()
        {
            return Ok(executor);
        }
        let runtime = Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .thread_name("little-ghost")
            .enable_all()
            .build()
            .map_err(|problem| {
                Error::new(
                    ErrorKind::Error,
                    format!("cannot start the engine's threads: {problem}"),
                )
            })?;
        let built = Box::into_raw(Box::new(Executor {
            pid: process::id(),
            runtime,
            shutdown: CancellationToken::new(),
        }));
        if CURRENT
            .compare_exchange(found, built, Ordering::AcqRel, Ordering::Acquire)
            .is_err()
        {
            // SAFETY: `built` was never shared.
            let lost = unsafe { Box::from_raw(built) };
            lost.runtime.shutdown_background();
        }
    }
}

/// Threads that move bytes and decode. User code runs on the threads of the host, so one is enough for
/// thousands of streams, and a second would only be woken in vain for each delta.
const WORKERS: usize = 1;

/// Runs `future` to completion in the background, on the caller's tokio runtime if it has one.
pub(crate) fn spawn(future: impl Future<Output = ()> + Send + 'static) -> Result<()> {
    match Handle::try_current() {
        Ok(handle) => drop(handle.spawn(future)),
        Err(_) => drop(current()?.runtime.spawn(future)),
    }
    Ok(())
}

/// Runs `future` in the background on the engine's own runtime.
pub(crate) fn spawn_own(future: impl Future<Output = ()> + Send + 'static) -> Result<()> {
    drop(current()?.runtime.spawn(future));
    Ok(())
}

/// Runs `future` in a task of its own, where [`spawn`] would, and waits for its end. Nobody waiting any more ends it.
pub(crate) async fn apart<T: Send + 'static>(
    future: impl Future<Output = T> + Send + 'static,
) -> Result<T> {
    let mut task = JoinSet::new();
    match Handle::try_current() {
        Ok(handle) => task.spawn_on(future, &handle),
        Err(_) => task.spawn_on(future, current()?.runtime.handle()),
    };
    match task.join_next().await {
        Some(Ok(value)) => Ok(value),
        Some(Err(ended)) if ended.is_panic() => std::panic::resume_unwind(ended.into_panic()),
        _ => Err(Error::cancelled()),
    }
}

/// Runs `work`, which may block, on a thread of its own, of the caller's tokio runtime if it has one.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let task = match Handle::try_current() {
        Ok(handle) => handle.spawn_blocking(work),
        Err(_) => current()?.runtime.spawn_blocking(work),
    };
    task.await.unwrap_or_else(|_| {
        Err(Error::new(
            ErrorKind::Error,
            "blocking work ended without a result",
        ))
    })
}

/// Waits, also outside of every tokio runtime.
pub(crate) async fn pause(duration: Duration) -> Result<()> {
    if Handle::try_current().is_ok() {
        tokio::time::sleep(duration).await;
        return Ok(());
    }
    let pause = current()?
        .runtime
        .spawn(async move { tokio::time::sleep(duration).await });
    // It neither panics nor is it aborted.
    let _ = pause.await;
    Ok(())
}

/// Makes the engine's own runtime current, for futures that are polled outside of it.
pub(crate) fn enter() -> Result<tokio::runtime::EnterGuard<'static>> {
    Ok(current()?.runtime.enter())
}

/// Cancelled when the host process is about to exit.
pub(crate) fn shutdown_token() -> Result<CancellationToken> {
    Ok(current()?.shutdown.clone())
}

/// Cancels every run that was started on the engine's own runtime of this process.
#[expect(unsafe_code, reason = "reads a pointer to a leaked, never freed value")]
pub(crate) fn cancel_all() {
    // SAFETY: as in `current`.
    if let Some(executor) = unsafe { CURRENT.load(Ordering::Acquire).as_ref() }
        && executor.pid == process::id()
    {
        executor.shutdown.cancel();
    }
}
