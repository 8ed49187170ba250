//! Tests of renewals.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use futures_util::future::join_all;
use tokio::sync::Semaphore;

use super::refresher::{Clock, Expiring, Refresher, machine_clock};
use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result};

#[derive(Clone, Debug, PartialEq)]
struct Pass {
    number: usize,
    expiry: Option<SystemTime>,
}

impl Expiring for Pass {
    fn expiry(&self) -> Option<SystemTime> {
        self.expiry
    }
}

/// Hands out passes, one for each permit.
struct Office {
    asked: AtomicUsize,
    permits: Semaphore,
    life: Option<Duration>,
}

impl Office {
    fn new(permits: usize, life: Option<u64>) -> Arc<Self> {
        Arc::new(Self {
            asked: AtomicUsize::new(0),
            permits: Semaphore::new(permits),
            life: life.map(Duration::from_secs),
        })
    }

    async fn serve(self: Arc<Self>) -> Result<Pass> {
        let number = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        self.permits.acquire().await.unwrap().forget();
        Ok(Pass {
            number,
            expiry: self.life.map(|life| SystemTime::now() + life),
        })
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

const EARLY: Duration = Duration::from_secs(60);

async fn get(refresher: &Arc<Refresher<Pass>>, office: &Arc<Office>) -> Result<Pass> {
    refresher.get(None, || Arc::clone(office).serve()).await
}

#[tokio::test]
async fn everybody_waits_for_one_renewal_and_then_remembers_it() {
    let (refresher, office) = (
        Refresher::new(EARLY, machine_clock()),
        Office::new(0, Some(600)),
    );
    let waiting = join_all((0..50).map(|_| get(&refresher, &office)));
    let (passes, ()) = tokio::join!(waiting, async { office.permits.add_permits(1) });
    assert!(passes.iter().all(|pass| pass.as_ref().unwrap().number == 1));
    assert_eq!(get(&refresher, &office).await.unwrap().number, 1);
    assert_eq!(office.asked(), 1);
}

#[tokio::test]
async fn whoever_gives_up_does_not_take_the_renewal_along() {
    let (refresher, office) = (Refresher::new(EARLY, machine_clock()), Office::new(0, None));
    let first = tokio::spawn({
        let (refresher, office) = (Arc::clone(&refresher), Arc::clone(&office));
        async move { get(&refresher, &office).await }
    });
    while office.asked() == 0 {
        tokio::task::yield_now().await;
    }
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    let second = get(&refresher, &office);
    let (pass, ()) = tokio::join!(second, async { office.permits.add_permits(1) });
    assert_eq!(pass.unwrap().number, 1);
    assert_eq!(office.asked(), 1);
}

#[tokio::test]
async fn a_deadline_ends_one_wait_only() {
    let (refresher, office) = (Refresher::new(EARLY, machine_clock()), Office::new(0, None));
    let soon = Some(Deadline::after(Duration::from_millis(5)));
    let late = refresher.get(soon, || Arc::clone(&office).serve()).await;
    assert_eq!(late.unwrap_err().kind(), ErrorKind::DeadlineExceeded);
    office.permits.add_permits(1);
    assert_eq!(get(&refresher, &office).await.unwrap().number, 1);
}

#[tokio::test]
async fn what_expires_soon_is_renewed_and_what_expired_never_used() {
    for life in [0, 30] {
        let (refresher, office) = (
            Refresher::new(EARLY, machine_clock()),
            Office::new(9, Some(life)),
        );
        assert_eq!(get(&refresher, &office).await.unwrap().number, 1);
        // A value with a short life is used while it lasts, and one without is asked for each time.
        let next = get(&refresher, &office).await.unwrap().number;
        assert_eq!(next, if life == 0 { 2 } else { 1 });
    }
}

#[tokio::test]
async fn the_clock_decides_what_is_expired() {
    let ahead = Arc::new(AtomicUsize::new(0));
    let seconds = Arc::clone(&ahead);
    let clock: Clock = Arc::new(move || {
        SystemTime::now() + Duration::from_secs(seconds.load(Ordering::SeqCst) as u64)
    });
    let (refresher, office) = (Refresher::new(EARLY, clock), Office::new(9, Some(600)));
    assert_eq!(get(&refresher, &office).await.unwrap().number, 1);
    ahead.store(500, Ordering::SeqCst);
    assert_eq!(get(&refresher, &office).await.unwrap().number, 1);
    ahead.store(560, Ordering::SeqCst);
    assert_eq!(get(&refresher, &office).await.unwrap().number, 2);
}

#[tokio::test]
async fn a_failed_early_renewal_keeps_what_works() {
    let refresher = Refresher::with_pause(EARLY, Duration::ZERO, machine_clock());
    let office = Office::new(1, Some(30));
    let first = get(&refresher, &office).await.unwrap();
    let asked = AtomicUsize::new(0);
    let failing = || {
        asked.fetch_add(1, Ordering::SeqCst);
        async { Err(Error::new(ErrorKind::Credential, "closed")) }
    };
    for _ in 0..3 {
        assert_eq!(refresher.get(None, failing).await.unwrap(), first);
    }
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    assert!(refresher.forget());
    let failure = refresher.get(None, failing).await.unwrap_err();
    assert_eq!(failure.message(), "closed");
}

#[tokio::test]
async fn failures_are_shared_but_not_remembered() {
    let (refresher, office) = (
        Refresher::<Pass>::new(EARLY, machine_clock()),
        Office::new(1, None),
    );
    let asked = AtomicUsize::new(0);
    let failing = || {
        asked.fetch_add(1, Ordering::SeqCst);
        async { Err(Error::new(ErrorKind::Credential, "closed")) }
    };
    let failures = join_all((0..5).map(|_| refresher.get(None, failing))).await;
    assert!(
        failures
            .iter()
            .all(|failure| failure.as_ref().unwrap_err().message() == "closed")
    );
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert_eq!(get(&refresher, &office).await.unwrap().number, 1);
}

#[tokio::test]
async fn a_panic_is_a_failure() {
    let refresher = Refresher::<Pass>::new(EARLY, machine_clock());
    let result = refresher
        .get(None, || async { panic!("a test's own") })
        .await;
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Credential);
}

#[tokio::test]
async fn those_who_are_refused_together_cause_one_renewal() {
    let (refresher, office) = (Refresher::new(EARLY, machine_clock()), Office::new(9, None));
    assert!(!refresher.forget(), "there is nothing to forget");
    assert_eq!(get(&refresher, &office).await.unwrap().number, 1);
    // It is new, so whoever is refused now used an older one.
    assert!(refresher.forget());
    assert_eq!(get(&refresher, &office).await.unwrap().number, 1);
    let refresher = Refresher::with_pause(EARLY, Duration::ZERO, machine_clock());
    assert_eq!(get(&refresher, &office).await.unwrap().number, 2);
    assert!(refresher.forget());
    assert_eq!(get(&refresher, &office).await.unwrap().number, 3);
}

#[tokio::test]
async fn whoever_is_refused_during_a_renewal_waits_for_it() {
    let (refresher, office) = (Refresher::new(EARLY, machine_clock()), Office::new(0, None));
    let waiting = async {
        let first = get(&refresher, &office).await.unwrap();
        assert_eq!(first, get(&refresher, &office).await.unwrap());
        first
    };
    let (pass, ()) = tokio::join!(waiting, async {
        while office.asked() == 0 {
            tokio::task::yield_now().await;
        }
        assert!(refresher.forget());
        office.permits.add_permits(1);
    });
    assert_eq!(pass.number, 1);
}

#[test]
fn a_renewal_outlives_the_runtime_that_began_it_by_beginning_again() {
    let (refresher, office) = (Refresher::new(EARLY, machine_clock()), Office::new(0, None));
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let short = runtime();
    short.block_on(async {
        let soon = Some(Deadline::after(Duration::from_millis(1)));
        let late = refresher.get(soon, || Arc::clone(&office).serve()).await;
        assert!(late.is_err());
    });
    drop(short);
    office.permits.add_permits(1);
    let pass = runtime().block_on(get(&refresher, &office));
    assert_eq!(pass.unwrap().number, 2);
}
