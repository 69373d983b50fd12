//! Independent servers, asked side by side, each with a time of its own that is small beside the
//! lease: one that hangs costs the others nothing. Whoever has heard enough leaves; what was sent
//! is then heard to its end without him, and what was not sent never is.

use crate::lock::backends::redis_asked::links;
use crate::lock::backends::redis_route::{Call, Route, What};
use crate::lock::backends::redlock_words::{Errand, Word, Words};
use crate::lock::error::{CommandError, LockError};
use crate::lock::flaws::Flaw;
use crate::lock::lease;
use crate::redis_link::{Link, NoAnswer};
use redis::Value;
use std::collections::{BTreeSet, VecDeque};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

/// The time of one server: an eighth of the lease, within these.
const NODE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(500));
/// Longest time to connect in the first place.
const CONNECT_BUDGET: Duration = Duration::from_secs(2);
/// How long the others are waited for when a quorum is connected.
const OTHERS: Duration = Duration::from_millis(200);
/// How often what must be done is asked for.
const INSIST: usize = 3;

/// The servers, in the order in which they were named.
pub(super) struct Voters {
    links: Vec<Arc<Link>>,
    words: Arc<Words>,
    flaw: Option<Flaw>,
}

type Answer = Result<Value, NoAnswer>;

/// One server that was asked and has not answered.
struct Asked {
    server: usize,
    link: Arc<Link>,
    until: Instant,
    /// The command has left.
    sent: Arc<AtomicBool>,
    answer: Pin<Box<dyn Future<Output = Answer> + Send>>,
}

/// Answers that are still to come.
pub(super) struct Asking {
    asked: Vec<Asked>,
    /// Those that have come and were not taken yet.
    heard: VecDeque<(usize, Answer)>,
    /// The defect: one after another.
    in_turn: bool,
}

impl Voters {
    /// Nothing is connected yet.
    pub(super) fn new(
        addresses: &str,
        words: Words,
        flaw: Option<Flaw>,
    ) -> Result<Voters, LockError> {
        let links = links(addresses)?;
        let different: BTreeSet<_> = links.iter().map(|link| link.address()).collect();
        if different.len() < links.len() {
            return Err(LockError::Address {
                address: addresses.to_owned(),
                why: "one server is named twice, and would have two votes".to_owned(),
            });
        }
        Ok(Voters {
            links,
            words: Arc::new(words),
            flaw,
        })
    }

    pub(super) fn number(&self) -> usize {
        self.links.len()
    }

    /// A way to each, for connections of one's own.
    pub(super) fn routes(&self) -> Vec<Route> {
        self.links.iter().cloned().map(Route::Server).collect()
    }

    /// Connects all and makes the scripts known; a quorum must be there.
    pub(super) async fn meet(&self, quorum: usize) -> Result<(), LockError> {
        let mut until = Instant::now() + CONNECT_BUDGET;
        let mut asking = tokio::task::JoinSet::new();
        for link in &self.links {
            let (link, words) = (Arc::clone(link), Arc::clone(&self.words));
            asking.spawn(async move {
                for word in Words::ALL {
                    let mut load = redis::cmd("SCRIPT");
                    load.arg("LOAD").arg(&words.text(word).code);
                    link.call(&load, until).await?;
                }
                Ok::<(), NoAnswer>(())
            });
        }
        let (mut met, mut silent) = (0, None);
        while let Ok(Some(Ok(answer))) = timeout_at(until, asking.join_next()).await {
            match answer {
                Ok(()) => met += 1,
                Err(why) => silent = Some(CommandError::from(why)),
            }
            if met == quorum {
                until = until.min(Instant::now() + OTHERS);
            }
        }
        if met >= quorum {
            return Ok(());
        }
        let why = silent.map_or_else(|| "no answer in time".to_owned(), |why| why.to_string());
        Err(LockError::Failed(format!(
            "{met} of {} servers can be used, and a quorum is {quorum}: {why}",
            self.number()
        )))
    }

    /// Asks these servers.
    pub(super) fn ask(&self, servers: impl IntoIterator<Item = usize>, errand: &Errand) -> Asking {
        let asked = servers.into_iter().filter_map(|server| {
            let link = self.links.get(server)?;
            Some(self.ask_one((server, link), errand.clone()))
        });
        Asking {
            asked: asked.collect(),
            heard: VecDeque::new(),
            in_turn: self.flaw == Some(Flaw::OneByOne),
        }
    }

    /// How long one server may take, unless a defect lets it take as long as the whole command.
    fn until(&self, errand: &Errand) -> Instant {
        let own = (errand.lease / 8).clamp(NODE.0, NODE.1);
        match (self.flaw, errand.word) {
            (Some(Flaw::OneByOne), _) | (Some(Flaw::UnboundedRenewal), Word::Renew) => errand.until,
            _ => errand.until.min(Instant::now() + own),
        }
    }

    /// Asks these, and once more those that may not have heard: for what may be done twice and must
    /// be done, while nobody waits. The lease is what comes behind it.
    pub(super) async fn insist(&self, mut servers: Vec<usize>, mut errand: Errand) {
        for _ in 0..INSIST {
            if servers.is_empty() {
                return;
            }
            errand.until = Instant::now() + lease::command_budget(errand.lease);
            servers = self.ask(servers, &errand).heard().await;
            sleep(NODE.0).await;
        }
    }

    fn ask_one(&self, (server, link): (usize, &Arc<Link>), errand: Errand) -> Asked {
        let until = self.until(&errand);
        let sent = Arc::new(AtomicBool::new(false));
        let (words, link, left) = (Arc::clone(&self.words), Arc::clone(link), Arc::clone(&sent));
        let to = Arc::clone(&link);
        let answer = Box::pin(async move {
            to.live(until).await?;
            // Nobody would wait for its answer.
            if Instant::now() >= until {
                return Err(NoAnswer::NotSent("no time was left".into()));
            }
            left.store(true, Ordering::Relaxed);
            let keys: Vec<&str> = errand.keys.iter().map(String::as_str).collect();
            let args: Vec<&str> = errand.args.iter().map(String::as_str).collect();
            let what = What::Script {
                script: words.text(errand.word),
                keys: &keys,
                args: &args,
                mints: false,
                again: words.again,
            };
            let key = keys.first().copied().unwrap_or_default();
            Route::Server(to).ask(&Call { key, what }, until).await
        });
        Asked {
            server,
            link,
            until,
            sent,
            answer,
        }
    }
}

impl Asking {
    /// The next answer and whose it is; none if all have answered. Dropping it loses nothing.
    pub(super) async fn next(&mut self) -> Option<(usize, Answer)> {
        poll_fn(|context| {
            if self.heard.is_empty() {
                self.poll(context);
            }
            match self.heard.pop_front() {
                None if !self.asked.is_empty() => Poll::Pending,
                answer => Poll::Ready(answer),
            }
        })
        .await
    }

    /// Sees to each, whoever has answered: one that is not polled is not asked, and no vote comes.
    fn poll(&mut self, context: &mut Context<'_>) {
        let (heard, mut turn) = (&mut self.heard, true);
        self.asked.retain_mut(|asked| {
            let polled = turn.then(|| asked.answer.as_mut().poll(context));
            turn &= !self.in_turn;
            let Some(Poll::Ready(answer)) = polled else {
                return true;
            };
            heard.push_back((asked.server, answer));
            false
        });
    }

    /// Enough was heard. A server to which nothing was sent is connected all the same, so that it
    /// can be asked the next time.
    pub(super) fn leave(mut self) {
        self.asked.retain(|asked| {
            let sent = asked.sent.load(Ordering::Relaxed);
            if !sent {
                let (link, until) = (Arc::clone(&asked.link), asked.until);
                tokio::spawn(async move { drop(link.live(until).await) });
            }
            sent
        });
        if !self.asked.is_empty() {
            tokio::spawn(async move { while self.next().await.is_some() {} });
        }
    }

    /// Hears all to the end, whoever waits: those that may or may not have done it.
    pub(super) async fn heard(mut self) -> Vec<usize> {
        let mut doubtful = Vec::new();
        while let Some((server, answer)) = self.next().await {
            if matches!(answer, Err(NoAnswer::Unknown(_))) {
                doubtful.push(server);
            }
        }
        doubtful
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers the first time that it is polled, as a server does that is faster than we are.
    fn at_once(server: usize) -> Asked {
        let sent = Arc::new(AtomicBool::new(false));
        let left = Arc::clone(&sent);
        Asked {
            server,
            link: Arc::new(Link::new("127.0.0.1:1").unwrap()),
            until: Instant::now(),
            sent,
            answer: Box::pin(async move {
                left.store(true, Ordering::Relaxed);
                Ok(Value::Nil)
            }),
        }
    }

    fn asking(in_turn: bool) -> (Asking, Vec<Arc<AtomicBool>>) {
        let asked: Vec<Asked> = (0..3).map(at_once).collect();
        let sent = asked.iter().map(|asked| Arc::clone(&asked.sent)).collect();
        let asking = Asking {
            asked,
            heard: VecDeque::new(),
            in_turn,
        };
        (asking, sent)
    }

    #[tokio::test]
    async fn every_server_is_asked_however_soon_the_first_has_answered() {
        let asked = |sent: &[Arc<AtomicBool>]| {
            let asked = sent.iter().filter(|sent| sent.load(Ordering::Relaxed));
            asked.count()
        };
        let (mut all, sent) = asking(false);
        assert_eq!(all.next().await, Some((0, Ok(Value::Nil))));
        assert_eq!(asked(&sent), 3);
        assert_eq!(all.next().await, Some((1, Ok(Value::Nil))));
        assert_eq!(all.next().await, Some((2, Ok(Value::Nil))));
        assert_eq!(all.next().await, None);
        let (mut one_by_one, sent) = asking(true);
        assert_eq!(one_by_one.next().await, Some((0, Ok(Value::Nil))));
        assert_eq!(asked(&sent), 1);
    }
}
