//! Asking servers where a lock lives: their addresses, and all of them at once.

use crate::address::WrongAddress;
use crate::lock::backends::Via;
use crate::redis_link::{Link, NoAnswer};
use redis::{Cmd, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

/// Longest wait for one who may know.
const ANSWER_MAX: Duration = Duration::from_secs(1);
/// How long the others who may know are waited for when one has answered: who has missed a
/// failover answers as fast as who has not.
const OTHERS: Duration = Duration::from_millis(200);

/// The links to a list of addresses with commas between; at least one.
pub(super) fn links(addresses: &str) -> Result<Vec<Arc<Link>>, WrongAddress> {
    let links = addresses
        .split(',')
        .map(|address| Link::new(address).map(Arc::new));
    links.collect()
}

/// An address as links take it.
pub(super) fn address_of(host: &str, port: &str) -> String {
    match host.contains(':') {
        true => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    }
}

/// The link to an address that a server named, by the way that we reach it.
pub(super) fn link_via(address: &str, via: &Via) -> Result<Arc<Link>, NoAnswer> {
    let address = via.get(address).map_or(address, String::as_str);
    let link = Link::new(address);
    let wrong = |_| NoAnswer::NotSent(format!("a server named `{address}`, which is no address"));
    Ok(Arc::new(link.map_err(wrong)?))
}

/// Asks all who may know at once, and takes what they say until all have answered, or some time
/// after the first. The error tells of the last who did not.
pub(super) async fn ask_all(
    links: &[Arc<Link>],
    question: &Cmd,
    until: Instant,
) -> Result<Vec<(String, Value)>, NoAnswer> {
    let question = Arc::new(question.clone());
    let mut until = until.min(Instant::now() + ANSWER_MAX);
    let mut asked = JoinSet::new();
    for link in links {
        let (link, question) = (Arc::clone(link), Arc::clone(&question));
        asked.spawn(async move {
            let answer = link.call(&question, until).await;
            (link.address().to_owned(), answer)
        });
    }
    let mut answers = Vec::new();
    let mut silent = NoAnswer::NotSent("nobody to ask".into());
    while let Ok(Some(Ok((address, answer)))) = timeout_at(until, asked.join_next()).await {
        match answer {
            Ok(answer) => {
                answers.push((address, answer));
                until = until.min(Instant::now() + OTHERS);
            }
            Err(why) => silent = why,
        }
    }
    if answers.is_empty() {
        return Err(nothing_sent(silent));
    }
    Ok(answers)
}

/// A question that failed: the lock's own command has not been sent.
pub(super) fn nothing_sent(question: NoAnswer) -> NoAnswer {
    let (NoAnswer::NotSent(why) | NoAnswer::Refused(_, why) | NoAnswer::Unknown(why)) = question;
    NoAnswer::NotSent(why)
}
