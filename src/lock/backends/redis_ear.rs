//! Waiting on a Redis server: a blocking pop of the lock's wake-up list, on a connection of its
//! own. The server keeps the queue of those who wait, hands each wake-up to whoever has waited
//! longest, and forgets a waiter whose connection closes; so there is nothing to clean up. A
//! wake-up that comes first is kept in the list, so none is missed between two pops.

use crate::lock::backends::redis_route::Route;
use crate::lock::lease;
use crate::lock::service::Wake;
use crate::redis_link::{Live, NoAnswer};
use async_trait::async_trait;
use redis::{Cmd, Value};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long the server may hold an ear before it is asked anew, so that a dead connection is
/// noticed by both sides.
const LISTEN: Duration = Duration::from_secs(30);
/// Pause after an ear broke, and the longest one if it breaks again and again: a server that was
/// started again is soon listened to, one that stays away is left in peace.
const EAR_BROKEN: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(2));
/// Longest time to connect, and how much later than the server's limit its answer may come.
const BUDGET: Duration = Duration::from_secs(2);

/// A waiter's ear: a connection of its own that the server holds until a release. Dropping it
/// closes the connection, and with it the place in the server's queue.
pub(super) struct Ear {
    route: Route,
    list: String,
    listening: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Ear {
    pub(super) fn new(route: Route, list: String) -> Ear {
        Ear {
            route,
            list,
            listening: None,
        }
    }
}

#[async_trait]
impl Wake for Ear {
    fn listening(&self) -> bool {
        self.listening.is_some()
    }

    async fn woken(&mut self) {
        let listening = self
            .listening
            .get_or_insert_with(|| Box::pin(listen(self.route.clone(), self.list.clone())));
        listening.as_mut().await;
        self.listening = None;
    }
}

/// Returns when a wake-up has come.
async fn listen(route: Route, list: String) {
    let mut blpop = redis::cmd("BLPOP");
    blpop.arg(&list).arg(LISTEN.as_secs());
    let mut pause = EAR_BROKEN.0;
    loop {
        let ear = route.connect(&list, Instant::now() + BUDGET).await;
        let (ear, at) = match ear {
            Ok((ear, at)) => (Some(ear), at),
            Err(_) => (None, route.last_found(&list)),
        };
        let heard = async {
            if let Some(ear) = ear {
                while let Ok(answer) = hear(&ear, &blpop).await {
                    if answer != Value::Nil {
                        return true;
                    }
                    pause = EAR_BROKEN.0;
                }
            }
            sleep(pause.mul_f64(1.0 + lease::jitter())).await;
            pause = (pause * 2).min(EAR_BROKEN.1);
            false
        };
        tokio::select! {
            biased;
            heard = heard => if heard {
                return;
            },
            // The lock lives elsewhere now: wake-ups come from there.
            () = route.moved(&list, at.as_deref()) => {}
        }
    }
}

async fn hear(ear: &Live, blpop: &Cmd) -> Result<Value, NoAnswer> {
    // Somewhat longer than the server's own limit.
    ear.call(blpop, Instant::now() + LISTEN + BUDGET).await
}
