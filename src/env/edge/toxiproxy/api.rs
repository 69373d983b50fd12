//! A thread that speaks to the Toxiproxy server. The client blocks, panics where the server is not
//! reached and is of no use afterwards: it lives here alone, is caught, and is made anew.

use super::toxics::{self, Toxic};
use crate::env::edge::EdgeError;
use crate::env::guard::WEB_PROXIES;
use std::any::Any;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::timeout;
use toxiproxy_rust::client::Client;
use toxiproxy_rust::proxy::ProxyPack;

/// Longer than any answer takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce(&mut Option<Client>) + Send>;

/// The near end of the thread, which ends with it.
#[derive(Debug)]
pub struct Api {
    address: SocketAddr,
    jobs: mpsc::Sender<Job>,
}

impl Api {
    /// Starts the thread; nobody is asked yet.
    ///
    /// # Errors
    /// When a web proxy of the machine would stand between, or no thread is to be had.
    pub fn start(address: SocketAddr) -> Result<Api, EdgeError> {
        if let Some(name) = WEB_PROXIES
            .iter()
            .find(|name| std::env::var_os(name).is_some())
        {
            let text = format!("{name} is set: Toxiproxy would be asked through it; unset it");
            return Err(EdgeError::Refused(text));
        }
        let (jobs, todo) = mpsc::channel::<Job>();
        let work = move || {
            let mut client = None;
            for job in todo {
                job(&mut client);
            }
        };
        std::thread::Builder::new()
            .name("toxiproxy".to_owned())
            .spawn(work)
            .map_err(EdgeError::io("a thread for Toxiproxy"))?;
        Ok(Api { address, jobs })
    }

    /// Has something done; what takes longer than the limit may still be done later, before
    /// whatever is asked next.
    async fn ask<T: Send + 'static>(
        &self,
        what: impl FnOnce(&Client) -> Result<T, String> + Send + 'static,
    ) -> Result<T, EdgeError> {
        let refused = |why: String| EdgeError::Refused(format!("Toxiproxy: {why}"));
        let (answer, come) = oneshot::channel();
        let address = self.address;
        let job: Job = Box::new(move |client| {
            let attempt = || what(client.get_or_insert_with(|| Client::new(address)));
            let outcome = catch_unwind(AssertUnwindSafe(attempt));
            let outcome = outcome.unwrap_or_else(|panic| {
                // It panicked with its lock in hand.
                *client = None;
                Err(words(panic.as_ref()))
            });
            // Whoever has stopped waiting does not want to know.
            let _ = answer.send(outcome);
        });
        let gone = || refused("its thread is gone".to_owned());
        self.jobs.send(job).map_err(|_| gone())?;
        match timeout(LIMIT, come).await {
            Ok(Ok(outcome)) => outcome.map_err(refused),
            Ok(Err(_)) => Err(gone()),
            Err(_) => Err(refused(format!("no answer within {LIMIT:?}"))),
        }
    }

    /// Makes a proxy; where it listens.
    ///
    /// # Errors
    /// When it is not there afterwards.
    pub async fn create(&self, name: &str, upstream: SocketAddr) -> Result<SocketAddr, EdgeError> {
        let name = name.to_owned();
        self.ask(move |client| {
            let upstream = upstream.to_string();
            let wanted = ProxyPack::new(name.clone(), "127.0.0.1:0".into(), upstream.clone());
            client.populate(vec![wanted])?;
            let made = client.find_proxy(&name)?.proxy_pack;
            toxics::exactly(&made, &[])?;
            if made.upstream != upstream {
                return Err(format!("{name} leads to {}", made.upstream));
            }
            let listens = made.listen.parse();
            listens.map_err(|error| format!("{name} listens on {}: {error}", made.listen))
        })
        .await
    }

    /// Adds toxics to a proxy that has none.
    ///
    /// # Errors
    /// When it does not have these and no other afterwards, or had some before.
    pub async fn add(&self, name: &str, wanted: Vec<Toxic>) -> Result<(), EdgeError> {
        let name = name.to_owned();
        self.ask(move |client| {
            let proxy = client.find_proxy(&name)?;
            toxics::exactly(&proxy.proxy_pack, &[])?;
            for toxic in &wanted {
                toxic.add(&proxy);
            }
            toxics::exactly(&client.find_proxy(&name)?.proxy_pack, &wanted)
        })
        .await
    }

    /// Takes every toxic away; how many of those that it should have it still had.
    ///
    /// # Errors
    /// When some are there afterwards.
    pub async fn clear(&self, name: &str, wanted: Vec<Toxic>) -> Result<usize, EdgeError> {
        let name = name.to_owned();
        self.ask(move |client| {
            let proxy = client.find_proxy(&name)?;
            let had = toxics::present(&proxy.proxy_pack, &wanted);
            proxy.delete_all_toxics()?;
            if !proxy.proxy_pack.enabled {
                proxy.enable()?;
            }
            toxics::exactly(&client.find_proxy(&name)?.proxy_pack, &[])?;
            Ok(had)
        })
        .await
    }

    /// Deletes a proxy, and with it its connections.
    ///
    /// # Errors
    /// When the server is not reached.
    pub async fn delete(&self, name: &str) -> Result<(), EdgeError> {
        let name = name.to_owned();
        self.ask(move |client| client.find_proxy(&name)?.delete())
            .await
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    text.unwrap_or_else(|| "its client gave up".to_owned())
}
