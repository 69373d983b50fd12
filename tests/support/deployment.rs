//! Whole deployments of real servers, of the test's own: loopback, free ports, a folder that goes
//! with the value, and no process that outlives it.

use super::redis_server::launch;
use lockdrill::env::redis::{cluster, replicated, sentinel};
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// How long a deployment may take to be ready on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often a deployment is begun anew because somebody took a port in between.
const TRIES: usize = 5;

/// One process of a deployment.
pub struct Process {
    child: Child,
    port: u16,
    arguments: Vec<String>,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Process {
    fn start(port: u16, arguments: Vec<String>) -> Process {
        let child = launch(&arguments);
        Process {
            child,
            port,
            arguments,
        }
    }

    /// Where clients reach it.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// `host:port`.
    pub fn address(&self) -> String {
        format!("{HOST}:{}", self.port)
    }

    /// SIGKILL, and waits until it is gone. Ends a stopped process too.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// SIGSTOP or SIGCONT.
    pub fn signal(&self, signal: nix::sys::signal::Signal) {
        let pid = i32::try_from(self.child.id()).expect("a pid fits");
        let pid = nix::unistd::Pid::from_raw(pid);
        nix::sys::signal::kill(pid, signal).expect("our own child");
    }

    /// Answers, and is the process that we started.
    pub fn answers(&self) -> bool {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if let Ok(info) = self.try_tell::<String>("INFO server") {
                return info.contains(&format!("process_id:{}\r\n", self.child.id()));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }

    /// The same process again, after [`Process::kill`].
    pub fn restart(&mut self) {
        self.kill();
        self.child = launch(&self.arguments);
    }

    /// Sends one command, words separated by spaces.
    pub fn tell<T: redis::FromRedisValue>(&self, command: &str) -> T {
        self.try_tell(command)
            .unwrap_or_else(|error| panic!("`{command}`: {error}"))
    }

    pub fn try_tell<T: redis::FromRedisValue>(&self, command: &str) -> redis::RedisResult<T> {
        let client = redis::Client::open(format!("redis://{}", self.address()))?;
        let mut connection = client.get_connection_with_timeout(Duration::from_secs(2))?;
        connection.set_read_timeout(Some(Duration::from_secs(2)))?;
        let mut cmd = redis::Cmd::new();
        cmd.arg(command.split(' ').collect::<Vec<_>>());
        cmd.query(&mut connection)
    }

    /// What it says of itself: `master`, `slave`; nothing if it does not answer.
    pub fn role(&self) -> String {
        let info: String = self.try_tell("INFO replication").unwrap_or_default();
        let role = info.lines().find_map(|line| line.strip_prefix("role:"));
        role.unwrap_or_default().to_owned()
    }
}

/// Data nodes, and sentinels if it is not a cluster.
pub struct Deployed {
    pub data: Vec<Process>,
    pub sentinels: Vec<Process>,
    /// Address of the lock service.
    pub address: String,
    /// How many connections one waiter has in queues.
    pub ears: usize,
    folder: TempDir,
}

impl Deployed {
    /// A primary, two replicas and three sentinels.
    pub async fn under_sentinel() -> Deployed {
        for _ in 0..TRIES {
            let folder = TempDir::new().expect("a folder");
            let ports = free_ports(6);
            let all = sentinel::Deployment::new(HOST, ports[..3].to_vec(), ports[3..].to_vec());
            let data = (0..3).map(|index| {
                let home = home(&folder, index);
                Process::start(
                    ports[index],
                    all.data_args(index, &home).expect("arguments"),
                )
            });
            let mut deployed = Deployed {
                data: data.collect(),
                sentinels: Vec::new(),
                address: all.address(),
                ears: 1,
                folder,
            };
            if all.fed(PATIENCE).await.is_err() {
                continue;
            }
            let sentinels = (0..3).map(|index| {
                let home = home(&deployed.folder, 3 + index);
                let config = home.join("sentinel.conf");
                std::fs::write(&config, all.sentinel_config(index, &home)).expect("a file");
                Process::start(
                    ports[3 + index],
                    sentinel::Deployment::sentinel_args(&config),
                )
            });
            deployed.sentinels = sentinels.collect();
            if all.ready(PATIENCE).await.is_ok() {
                for sentinel in &deployed.sentinels {
                    sentinel.tell::<()>(&sentinel::HURRY.join(" "));
                }
                return deployed;
            }
        }
        panic!("no deployment under Sentinel could be started");
    }

    /// Three primaries and a replica for each.
    pub async fn cluster() -> Deployed {
        for _ in 0..TRIES {
            let folder = TempDir::new().expect("a folder");
            let ports = free_ports(12);
            let ports = ports.chunks(2).map(|pair| cluster::Ports {
                client: pair[0],
                bus: pair[1],
            });
            let all = cluster::Deployment::new(HOST, 3, ports.collect());
            let data = (0..6).map(|index| {
                let home = home(&folder, index);
                let file = home.join(cluster::NODES_FILE);
                std::fs::write(file, all.nodes_file(index)).expect("a file");
                let args = all.args(index, &home).expect("arguments");
                Process::start(all.nodes[index].client, args)
            });
            let deployed = Deployed {
                data: data.collect(),
                sentinels: Vec::new(),
                address: all.address(),
                ears: 1,
                folder,
            };
            if all.ready(PATIENCE).await.is_ok() {
                return deployed;
            }
        }
        panic!("no cluster could be started");
    }

    /// So many servers that know nothing of each other.
    pub async fn voters(count: usize) -> Deployed {
        for _ in 0..TRIES {
            let folder = TempDir::new().expect("a folder");
            let data = free_ports(count).into_iter().enumerate();
            let data = data.map(|(index, port)| {
                let home = home(&folder, index).display().to_string();
                let words = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
                let port_word = port.to_string();
                let own = ["--port", &port_word, "--dir", &home];
                let all = words.into_iter().chain(own).map(str::to_owned);
                Process::start(port, all.collect())
            });
            let data: Vec<Process> = data.collect();
            let addresses: Vec<String> = data.iter().map(Process::address).collect();
            if data.iter().all(Process::answers) {
                return Deployed {
                    data,
                    sentinels: Vec::new(),
                    address: addresses.join(","),
                    ears: count,
                    folder,
                };
            }
        }
        panic!("no voters could be started");
    }

    /// The data node that takes writes for this key, by the nodes' own word.
    pub fn primary(&self, key: &str) -> Option<usize> {
        let takes = |node: &Process| match self.sentinels.is_empty() {
            false => node.role() == "master",
            // Only the node that the key belongs to answers.
            true => {
                node.role() == "master" && node.try_tell::<i64>(&format!("EXISTS {key}")).is_ok()
            }
        };
        self.data.iter().position(takes)
    }

    /// How many connections stand in the queues of those that live.
    pub fn blocked(&self) -> usize {
        let blocked = self.data.iter().map(|node| {
            let info: String = node.try_tell("INFO clients").unwrap_or_default();
            let count = info
                .lines()
                .find_map(|line| line.strip_prefix("blocked_clients:"));
            count.map_or(0, |count| count.trim().parse().expect("a number"))
        });
        blocked.sum()
    }

    /// Waits until every replica of this primary has everything that it has now.
    pub fn replicated(&self, primary: usize, key: &str, replicas: usize) {
        let node = &self.data[primary];
        let client =
            redis::Client::open(format!("redis://{}", node.address())).expect("an address");
        let mut connection = client.get_connection().expect("a connection");
        // `WAIT` speaks of what this connection wrote.
        let wrote: redis::RedisResult<()> =
            redis::cmd("SET").arg(key).arg(1).query(&mut connection);
        wrote.expect("a primary");
        let wait = redis::cmd("WAIT")
            .arg(replicas)
            .arg(20_000)
            .query(&mut connection);
        assert_eq!(wait, Ok(replicas), "replicas that have it");
    }

    /// From here on nothing that this primary grants reaches a replica.
    pub fn cut_replication(&self, primary: usize) {
        for words in replicated::CUT {
            self.data[primary].tell::<redis::Value>(&words.join(" "));
        }
    }
}

fn home(folder: &TempDir, index: usize) -> PathBuf {
    let home = folder.path().join(format!("n{index}"));
    std::fs::create_dir(&home).expect("a folder");
    home
}

/// Different ports, each free a moment ago.
fn free_ports(count: usize) -> Vec<u16> {
    let hold = (0..count).map(|_| TcpListener::bind((HOST, 0)).expect("a free port"));
    let hold: Vec<_> = hold.collect();
    hold.iter()
        .map(|port| port.local_addr().expect("its address").port())
        .collect()
}
