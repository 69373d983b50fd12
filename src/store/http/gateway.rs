//! The gateway itself. It does one thing at a time: what it looks at is still so when it has passed the
//! attempt on. Which tokens it has let through it keeps in memory, and learns it from what the service
//! behind it has taken when it is started again.

use super::super::rule::{Decision, Mark, Ruling};
use super::super::{
    Attempt, AttemptKind, Fence, ProtectedStore, Reads, StoreAnswer, StoreError, StoreSpec, sqlite,
};
use super::words::{Answer, LONGEST, PATH, Question};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::Mutex;

/// Serves for ever; the service behind it keeps its data in `folder`.
///
/// # Errors
/// When it cannot listen there, or what is in the folder cannot be read.
pub async fn serve(address: SocketAddr, folder: &Path) -> io::Result<()> {
    let gateway = Gateway::at(folder).await.map_err(io::Error::other)?;
    let gateway = Arc::new(Mutex::new(gateway));
    let listener = TcpListener::bind(address).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let gateway = Arc::clone(&gateway);
        let answered = service_fn(move |request| answered(Arc::clone(&gateway), request));
        tokio::spawn(async move {
            let connection = http1::Builder::new()
                // What was asked in full is done, also for a client that has given up waiting.
                .half_close(true)
                .serve_connection(TokioIo::new(stream), answered);
            // A client that breaks off has no more to hear.
            let _ = connection.await;
        });
    }
}

async fn answered(
    gateway: Arc<Mutex<Gateway>>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let here = request.uri().path() == PATH;
    let whole = Limited::new(request.into_body(), LONGEST).collect().await;
    let question = whole.ok().filter(|_| here);
    let question = question.and_then(|body| serde_json::from_slice(&body.to_bytes()).ok());
    let Some(question) = question else {
        let mut response = Response::new(Full::default());
        *response.status_mut() = StatusCode::BAD_REQUEST;
        return Ok(response);
    };
    // On a task of its own: a client that breaks off must not break off what has begun.
    let told = tokio::spawn(async move { gateway.lock().await.told(question).await }).await;
    let told = told.unwrap_or_else(|error| Answer::Refused(error.to_string()));
    Ok(match serde_json::to_vec(&told) {
        Ok(body) => Response::new(Full::new(Bytes::from(body))),
        Err(_) => {
            let mut response = Response::new(Full::default());
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            response
        }
    })
}

struct Gateway {
    folder: PathBuf,
    /// Once a store was made.
    store: Option<Store>,
    /// Who was here.
    strangers: BTreeSet<String>,
}

/// The rules, the service behind, and what was let through.
struct Store {
    rules: StoreSpec,
    behind: Box<dyn ProtectedStore>,
    marks: HashMap<String, Mark>,
}

impl Gateway {
    /// With what an earlier one has left there.
    async fn at(folder: &Path) -> Result<Gateway, StoreError> {
        let mut gateway = Gateway {
            folder: folder.to_owned(),
            store: None,
            strangers: BTreeSet::new(),
        };
        if let Ok(text) = std::fs::read_to_string(gateway.rules_file()) {
            let rules = serde_json::from_str(&text).map_err(|error| gateway.error(&error))?;
            let behind = (sqlite::KIND.open)(&gateway.behind(&rules)).await?;
            gateway.store = Some(Store::new(rules, behind));
        }
        Ok(gateway)
    }

    fn rules_file(&self) -> PathBuf {
        self.folder.join("rules.json")
    }

    fn error(&self, why: &dyn std::fmt::Display) -> StoreError {
        StoreError {
            location: self.folder.display().to_string(),
            message: why.to_string(),
        }
    }

    /// The service behind, which compares nothing.
    fn behind(&self, rules: &StoreSpec) -> StoreSpec {
        StoreSpec {
            kind: sqlite::KIND.name.to_owned(),
            fence: Fence::Off,
            once: false,
            location: self.folder.join("behind.sqlite").display().to_string(),
            ..rules.clone()
        }
    }

    async fn create(&mut self, rules: StoreSpec) -> Result<Answer, StoreError> {
        if self.store.is_some() {
            return Err(self.error(&"created twice; a store belongs to one arm"));
        }
        let behind = (sqlite::KIND.create)(&self.behind(&rules)).await?;
        let text = serde_json::to_string(&rules).map_err(|error| self.error(&error))?;
        std::fs::write(self.rules_file(), text).map_err(|error| self.error(&error))?;
        self.store = Some(Store::new(rules, behind));
        Ok(Answer::Yes)
    }

    async fn told(&mut self, question: Question) -> Answer {
        let told = match (question, &mut self.store) {
            (Question::Create(rules), _) => self.create(rules).await,
            (Question::Remember(name), _) => {
                self.strangers.insert(name);
                Ok(Answer::Yes)
            }
            (Question::Remembers(name), _) => Ok(match self.strangers.contains(&name) {
                true => Answer::Yes,
                false => Answer::No,
            }),
            (question, Some(store)) => store.told(question).await,
            (_, None) => Err(self.error(&"no store has been created there")),
        };
        told.unwrap_or_else(|error| Answer::Refused(error.message))
    }
}

impl Store {
    fn new(rules: StoreSpec, behind: Box<dyn ProtectedStore>) -> Store {
        Store {
            rules,
            behind,
            marks: HashMap::new(),
        }
    }

    async fn told(&mut self, question: Question) -> Result<Answer, StoreError> {
        let behind = &mut self.behind;
        Ok(match question {
            Question::Open | Question::Create(_) => Answer::Yes,
            Question::Remember(_) | Question::Remembers(_) => Answer::No,
            Question::Mark(resource) => Answer::Mark(self.mark(&resource).await?),
            Question::TimesDone(resource, job) => {
                Answer::Times(behind.times_done(&resource, &job).await?)
            }
            Question::Put(attempt, kind, ruling) => self.put(&attempt, kind, ruling).await?,
            Question::Outbox(resource) => Answer::Jobs(behind.outbox(&resource).await?),
            Question::Published(resource, jobs) => {
                behind.published(&resource, &jobs).await?;
                Answer::Yes
            }
            Question::Read(resource) => Answer::Standing(behind.read(&resource).await?),
            Question::Log => Answer::Log(behind.log().await?),
        })
    }

    async fn mark(&mut self, resource: &str) -> Result<Mark, StoreError> {
        if let Some(mark) = self.marks.get(resource) {
            return Ok(mark.clone());
        }
        let mark = self.behind.mark(resource).await?;
        self.marks.insert(resource.to_owned(), mark.clone());
        Ok(mark)
    }

    /// Decides, passes on, and remembers what was let through.
    async fn put(
        &mut self,
        attempt: &Attempt,
        kind: AttemptKind,
        (decision, job): Ruling,
    ) -> Result<Answer, StoreError> {
        let mark = self.mark(&attempt.resource).await?;
        let admitted = match decision {
            Decision::Inside => mark.admits(attempt, self.rules.once),
            Decision::Before { admitted } => admitted,
        };
        let ruling = (Decision::Before { admitted }, job);
        let (answer, shown) = self.behind.put(attempt, (kind, ruling), &|| ()).await;
        let marks = kind != AttemptKind::Read || self.rules.reads == Reads::Fenced;
        match &answer {
            StoreAnswer::Accepted if marks => {
                let raised = mark.raised_by(attempt);
                self.marks.insert(attempt.resource.clone(), raised);
            }
            // What it has taken, it knows itself.
            StoreAnswer::Unknown(_) => drop(self.marks.remove(&attempt.resource)),
            _other => {}
        }
        Ok(Answer::Put(answer, shown))
    }
}
