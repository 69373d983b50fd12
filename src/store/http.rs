//! A gateway as the store: a process of its own that fences for a service that cannot. It is asked
//! over HTTP, decides by the highest fencing token that it has let through, and passes on what it
//! accepts to a plain service behind it, an SQLite file that compares nothing; what that one logs is
//! the truth. Deciding and passing on are one step, because the gateway does one thing at a time and
//! nobody else has a way to what is behind it.

use super::rule::{Mark, Ruling};
use super::{
    Armed, Attempt, AttemptKind, Logged, ProtectedStore, Standing, StoreAnswer, StoreError,
    StoreKind, StoreServer, StoreSpec,
};
use crate::address::host_and_port;
use crate::http_link::NoAnswer;
use call::Line;
use words::{Answer, Question};

mod call;
pub mod gateway;
pub mod words;

/// The registry entry.
pub const KIND: StoreKind = StoreKind {
    name: "http",
    summary: "a gateway over HTTP that fences for a plain service behind it",
    server: Some(StoreServer::Gateway),
    create: |spec| {
        let spec = spec.clone();
        let made = Question::Create(spec.clone());
        Box::pin(async move { Http::begun(spec, &made).await.map(boxed) })
    },
    open: |spec| {
        let spec = spec.clone();
        Box::pin(async move { Http::begun(spec, &Question::Open).await.map(boxed) })
    },
};

const SCHEME: &str = "http://";

/// One process's way to the store.
struct Http {
    line: Line,
    spec: StoreSpec,
}

fn boxed(store: Http) -> Box<dyn ProtectedStore> {
    Box::new(store)
}

impl Http {
    async fn begun(spec: StoreSpec, question: &Question) -> Result<Self, StoreError> {
        let wrong = |message: String| StoreError {
            location: spec.location.clone(),
            message,
        };
        let address = spec.location.strip_prefix(SCHEME);
        let address = address.ok_or_else(|| wrong(format!("it does not start with `{SCHEME}`")))?;
        host_and_port(address).map_err(|why| wrong(why.to_owned()))?;
        let line = Line::to(address);
        let mut store = Http { line, spec };
        match store.ask(question).await? {
            Answer::Yes => Ok(store),
            _other => Err(store.nonsense()),
        }
    }

    fn error(&self, message: impl Into<String>) -> StoreError {
        StoreError {
            location: self.spec.location.clone(),
            message: message.into(),
        }
    }

    fn nonsense(&self) -> StoreError {
        self.error("the gateway's answer makes no sense")
    }

    /// A question: whether it arrived does not matter.
    async fn ask(&mut self, question: &Question) -> Result<Answer, StoreError> {
        match self.line.ask(question).await {
            Ok(Answer::Refused(why)) => Err(self.error(why)),
            Ok(answer) => Ok(answer),
            Err(NoAnswer::NotSent(why) | NoAnswer::Unknown(why)) => Err(self.error(why)),
        }
    }
}

#[async_trait::async_trait]
impl ProtectedStore for Http {
    fn spec(&self) -> &StoreSpec {
        &self.spec
    }

    async fn mark(&mut self, resource: &str) -> Result<Mark, StoreError> {
        match self.ask(&Question::Mark(resource.to_owned())).await? {
            Answer::Mark(mark) => Ok(mark),
            _other => Err(self.nonsense()),
        }
    }

    async fn times_done(&mut self, resource: &str, job: &str) -> Result<u64, StoreError> {
        let question = Question::TimesDone(resource.to_owned(), job.to_owned());
        match self.ask(&question).await? {
            Answer::Times(times) => Ok(times),
            _other => Err(self.nonsense()),
        }
    }

    async fn put(
        &mut self,
        attempt: &Attempt,
        (kind, ruling): (AttemptKind, Ruling),
        armed: Armed<'_>,
    ) -> (StoreAnswer, Option<String>) {
        let question = Question::Put(attempt.clone(), kind, ruling);
        armed();
        match self.line.ask(&question).await {
            Ok(Answer::Put(answer, shown)) => (answer, shown),
            Ok(Answer::Refused(why)) | Err(NoAnswer::NotSent(why)) => {
                (StoreAnswer::Failed(why), None)
            }
            Ok(_) => (StoreAnswer::nonsense(), None),
            Err(NoAnswer::Unknown(why)) => (StoreAnswer::Unknown(why), None),
        }
    }

    async fn outbox(&mut self, resource: &str) -> Result<Vec<String>, StoreError> {
        match self.ask(&Question::Outbox(resource.to_owned())).await? {
            Answer::Jobs(jobs) => Ok(jobs),
            _other => Err(self.nonsense()),
        }
    }

    async fn published(&mut self, resource: &str, jobs: &[String]) -> Result<(), StoreError> {
        let question = Question::Published(resource.to_owned(), jobs.to_vec());
        match self.ask(&question).await? {
            Answer::Yes => Ok(()),
            _other => Err(self.nonsense()),
        }
    }

    async fn read(&mut self, resource: &str) -> Result<Standing, StoreError> {
        match self.ask(&Question::Read(resource.to_owned())).await? {
            Answer::Standing(standing) => Ok(standing),
            _other => Err(self.nonsense()),
        }
    }

    async fn log(&mut self) -> Result<Vec<Logged>, StoreError> {
        match self.ask(&Question::Log).await? {
            Answer::Log(lines) => Ok(lines),
            _other => Err(self.nonsense()),
        }
    }
}
