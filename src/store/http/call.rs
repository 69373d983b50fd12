//! One connection to a gateway, made anew when it is broken, and whether a question without an answer
//! arrived. What times out takes its connection with it.

use super::words::{Answer, PATH, Question};
use crate::http_link::{self, Live, NoAnswer};
use std::time::Duration;
use tokio::time::timeout;

/// How long one question may take, connecting included.
const BUDGET: Duration = Duration::from_secs(5);

/// The way to a gateway.
pub(super) struct Line {
    address: String,
    live: Option<Live>,
}

impl Line {
    /// Nothing is connected yet.
    pub(super) fn to(address: &str) -> Line {
        Line {
            address: address.to_owned(),
            live: None,
        }
    }

    /// Puts one question and reads its whole answer.
    pub(super) async fn ask(&mut self, question: &Question) -> Result<Answer, NoAnswer> {
        let body = serde_json::to_vec(question);
        let body = body.map_err(|error| NoAnswer::NotSent(error.to_string()))?;
        // Out of its place for as long as it is in use: who drops this future drops it too.
        let present = self.live.take().filter(Live::is_good);
        let mut live = match present {
            Some(live) => live,
            None => match timeout(BUDGET, Live::connect(&self.address)).await {
                Ok(connected) => connected?,
                Err(_) => return Err(NoAnswer::NotSent("no connection in time".into())),
            },
        };
        let answer = match timeout(BUDGET, asked(&mut live, body)).await {
            Ok(answer) => answer,
            Err(_) => Err(NoAnswer::Unknown("no answer in time".into())),
        };
        if answer.is_ok() {
            self.live = Some(live);
        }
        answer
    }
}

async fn asked(live: &mut Live, body: Vec<u8>) -> Result<Answer, NoAnswer> {
    let response = live.post(PATH, body).await?;
    let status = response.status();
    let whole = http_link::whole(response).await?;
    if !status.is_success() {
        let why = format!("answered with status {status}");
        return Err(NoAnswer::Unknown(why));
    }
    serde_json::from_slice(&whole).map_err(|error| NoAnswer::Unknown(error.to_string()))
}
