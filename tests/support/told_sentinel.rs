//! Sentinels that say what the test tells them to: what a real one says for a moment only.

use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// What a sentinel says of the primary.
#[derive(Clone)]
pub struct Saying {
    pub port: u16,
    pub epoch: u64,
    pub flags: &'static str,
}

/// One sentinel.
pub struct ToldSentinel {
    pub address: String,
    saying: Arc<Mutex<Saying>>,
}

impl ToldSentinel {
    pub async fn saying(port: u16, epoch: u64) -> ToldSentinel {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let saying = Saying {
            port,
            epoch,
            flags: "master",
        };
        let saying = Arc::new(Mutex::new(saying));
        let answers = Arc::clone(&saying);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let answers = Arc::clone(&answers);
                tokio::spawn(async move {
                    let mut bytes = vec![0; 4 * 1024];
                    while let Ok(1..) = client.read(&mut bytes).await {
                        let answer = in_words(&answers.lock().unwrap());
                        if client.write_all(answer.as_bytes()).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        ToldSentinel { address, saying }
    }

    pub fn say(&self, change: impl FnOnce(&mut Saying)) {
        change(&mut self.saying.lock().unwrap());
    }
}

fn in_words(saying: &Saying) -> String {
    let (port, epoch) = (saying.port.to_string(), saying.epoch.to_string());
    let fields = [
        "ip",
        "127.0.0.1",
        "port",
        &port,
        "flags",
        saying.flags,
        "config-epoch",
        &epoch,
    ];
    let words = fields.map(|word| format!("${}\r\n{word}\r\n", word.len()));
    format!("*{}\r\n{}", fields.len(), words.concat())
}
