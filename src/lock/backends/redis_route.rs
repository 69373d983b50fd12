//! How a lock's commands get to the node that may change it: there is one server, or the node is
//! looked for and may be another one each time.
//!
//! What is tried again, elsewhere, is what was definitely not executed: no node was found, it could
//! not be reached, it refused because it is the wrong one. All of it within the command's own
//! time. What was sent and brought no answer is never sent again: who knows who has done it.

use crate::lock::backends::redis_asked::nothing_sent;
use crate::lock::backends::redis_found::{Node, Seeker};
use crate::lock::backends::redis_scripts::Text;
use crate::lock::lease;
use crate::redis_link::{Link, Live, NoAnswer};
use redis::{Cmd, ServerErrorKind, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Pause before the third try, and the longest one: the first thing to do after a refusal is to
/// look for another node at once, and who finds none must not swamp those who are left.
const PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(400));

/// The way to whoever may change a lock.
#[derive(Clone)]
pub(super) enum Route {
    /// There is one server.
    Server(Arc<Link>),
    /// It is looked for.
    Found(Arc<Seeker>),
}

/// One command of a lock.
pub(super) struct Call<'a> {
    /// The key that decides which node it is.
    pub(super) key: &'a str,
    /// What is asked.
    pub(super) what: What<'a>,
}

/// What is asked of a node.
pub(super) enum What<'a> {
    /// A plain command.
    Plain(&'a Cmd),
    /// A script with its keys and arguments.
    Script {
        script: &'a Text,
        keys: &'a [&'a str],
        args: &'a [&'a str],
        /// It mints a fencing token: the epoch of the node is one more argument.
        mints: bool,
        /// A node that has forgotten the script is sent its text.
        again: bool,
    },
}

/// A connection, or the place to connect to.
enum Line<'a> {
    Link(&'a Link),
    Live(&'a Live),
}

impl Line<'_> {
    async fn call(&self, command: &Cmd, until: Instant) -> Result<Value, NoAnswer> {
        match self {
            Line::Link(link) => link.call(command, until).await,
            Line::Live(live) => live.call(command, until).await,
        }
    }

    /// Runs a script by its hash; a server that has forgotten it (restart, flush, failover) is
    /// sent the text. `NOSCRIPT` is a definite answer, so that nothing runs twice.
    async fn ask(
        &self,
        what: &What<'_>,
        floor: Option<&str>,
        until: Instant,
    ) -> Result<Value, NoAnswer> {
        let (script, keys, args, mints, again) = match what {
            What::Plain(command) => return self.call(command, until).await,
            What::Script {
                script,
                keys,
                args,
                mints,
                again,
            } => (script, keys, args, *mints, *again),
        };
        let with_floor: Vec<&str>;
        let args = match floor.filter(|_| mints) {
            Some(floor) => {
                with_floor = args.iter().copied().chain([floor]).collect();
                &with_floor
            }
            None => *args,
        };
        match self.call(&script.by_hash(keys, args), until).await {
            Err(NoAnswer::Refused(Some(ServerErrorKind::NoScript), _)) if again => {
                let by_text = script.by_text(keys, args);
                Box::pin(self.call(&by_text, until)).await
            }
            answer => answer,
        }
    }
}

impl Route {
    /// Sends one command to whoever may change the lock.
    pub(super) async fn ask(&self, call: &Call<'_>, until: Instant) -> Result<Value, NoAnswer> {
        match self {
            Route::Server(link) => Line::Link(link).ask(&call.what, None, until).await,
            // On the heap: its future is many times that of one server.
            Route::Found(seeker) => Box::pin(ask_found(seeker, call, until)).await,
        }
    }

    /// The connection on which a key's commands are sent now.
    pub(super) async fn live(&self, key: &str, until: Instant) -> Result<Arc<Live>, NoAnswer> {
        match self {
            Route::Server(link) => link.live(until).await,
            Route::Found(seeker) => Ok(Arc::clone(&seeker.node(key, until).await?.live)),
        }
    }

    /// A connection of the caller's own to whoever may change the lock, and the address where that
    /// one was found, if it had to be looked for.
    pub(super) async fn connect(
        &self,
        key: &str,
        until: Instant,
    ) -> Result<(Live, Option<String>), NoAnswer> {
        match self {
            Route::Server(link) => Ok((link.connect(until).await?, None)),
            Route::Found(seeker) => {
                let node = seeker.node(key, until).await?;
                let live = node.link.connect(until).await?;
                Ok((live, Some(node.link.address().to_owned())))
            }
        }
    }

    /// The address at which a key's node was last found.
    pub(super) fn last_found(&self, key: &str) -> Option<String> {
        match self {
            Route::Server(_) => None,
            Route::Found(seeker) => seeker.last_found(key),
        }
    }

    /// Returns when a key's node is found elsewhere than at this address.
    pub(super) async fn moved(&self, key: &str, from: Option<&str>) {
        match self {
            Route::Server(_) => std::future::pending().await,
            Route::Found(seeker) => seeker.moved(key, from).await,
        }
    }
}

async fn ask_found(seeker: &Seeker, call: &Call<'_>, until: Instant) -> Result<Value, NoAnswer> {
    let (mut pause, longest) = (Duration::ZERO, PAUSE.1);
    loop {
        let refused = match seeker.node(call.key, until).await {
            Ok(node) => match ask_node(seeker, &node, call, until).await {
                Ok(value) => return Ok(value),
                Err(refused) if is_final(&refused) => {
                    // Where an answer failed to come, the next command looks anew.
                    if matches!(refused, NoAnswer::Unknown(_)) {
                        seeker.forget(call.key, &node);
                    }
                    return Err(refused);
                }
                Err(refused) => {
                    seeker.forget(call.key, &node);
                    refused
                }
            },
            Err(not_found) => not_found,
        };
        let wait = pause.mul_f64(0.5 + lease::jitter() / 2.0);
        if Instant::now() + wait >= until {
            return Err(refused);
        }
        sleep(wait).await;
        pause = (pause * 2).clamp(PAUSE.0, longest);
    }
}

/// A node that gives the key away at present says who takes it.
async fn ask_node(
    seeker: &Seeker,
    node: &Node,
    call: &Call<'_>,
    until: Instant,
) -> Result<Value, NoAnswer> {
    let answer = Line::Live(&node.live)
        .ask(&call.what, Some(&node.floor), until)
        .await;
    let Err(NoAnswer::Refused(Some(ServerErrorKind::Ask), words)) = &answer else {
        return answer;
    };
    let Some(taker) = words.split_whitespace().last() else {
        return answer;
    };
    // Of our own: what lets us in is valid for the one command that follows on the connection.
    let live = seeker.link_to(taker)?.connect(until).await?;
    let line = Line::Live(&live);
    let let_in = line.call(&redis::cmd("ASKING"), until).await;
    let_in.map_err(nothing_sent)?;
    let by_text = match &call.what {
        What::Plain(command) => return line.call(command, until).await,
        What::Script {
            script,
            keys,
            args,
            mints: false,
            ..
        } => script.by_text(keys, args),
        What::Script {
            script,
            keys,
            args,
            mints: true,
            ..
        } => {
            let args: Vec<&str> = args.iter().copied().chain([node.floor.as_str()]).collect();
            script.by_text(keys, &args)
        }
    };
    line.call(&by_text, until).await
}

/// Whether another node, or the same one a moment later, cannot help.
fn is_final(no_answer: &NoAnswer) -> bool {
    match no_answer {
        NoAnswer::NotSent(_) => false,
        NoAnswer::Unknown(_) => true,
        NoAnswer::Refused(Some(kind), _) => !matches!(
            kind,
            ServerErrorKind::ReadOnly
                | ServerErrorKind::BusyLoading
                | ServerErrorKind::MasterDown
                | ServerErrorKind::Moved
                | ServerErrorKind::Ask
                | ServerErrorKind::TryAgain
                | ServerErrorKind::ClusterDown
        ),
        NoAnswer::Refused(None, words) => !words.starts_with("STALEEPOCH"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_definitely_not_executed_is_tried_again() {
        assert!(is_final(&NoAnswer::Unknown("no answer in time".into())));
        assert!(!is_final(&NoAnswer::NotSent("refused".into())));
        let refused = |kind| NoAnswer::Refused(Some(kind), String::new());
        assert!(!is_final(&refused(ServerErrorKind::ReadOnly)));
        assert!(!is_final(&refused(ServerErrorKind::TryAgain)));
        assert!(is_final(&refused(ServerErrorKind::NoScript)));
        assert!(is_final(&refused(ServerErrorKind::CrossSlot)));
        let in_words = |words: &str| NoAnswer::Refused(None, words.to_owned());
        assert!(!is_final(&in_words("STALEEPOCH later")));
        assert!(is_final(&in_words("OOM command not allowed")));
    }
}
