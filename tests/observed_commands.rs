//! Every command by which a server can change a key of a lock, as it arrives in the server's own
//! stream of changes: it is read as what it did, or the observer says that it has lost its place.
//!
//! Which commands there are is the server's own word, so that one of a newer server that nobody has
//! thought of is a failure here.

use crate::support::redis_server::RedisServer;
use lockdrill::env::redis::effects::Effects;
use lockdrill::env::redis::stream::Decoder;
use lockdrill::env::seen::Seen;
use lockdrill::ids::OwnerDigest;
use lockdrill::timeline::event::{Change, Event};
use redis::Value;
use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

const LOCK: &str = "lab:{k}";
const FENCE: &str = "lab:{k}:fence";

/// What becomes of a command that is given a key of the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It is read: what the observer believes is what the server holds.
    Read,
    /// The observer says that it has lost its place.
    Lost,
    /// The server refuses it for a key that holds a string, or it changes nothing.
    Refused,
    /// It changes no key.
    NoKey,
}
use Fate::{Lost, NoKey, Read, Refused};

/// Commands with `;` between, on a lock that is held (`L`, its counter `F`) and on another key (`o`);
/// `P` is the port of another server.
const TABLE: &[(&str, Fate, &str)] = &[
    ("set", Read, "SET L x:9 PX 5000"),
    ("set", Read, "SET L x"),
    ("set", Read, "SET L x:9 XX GET EX 100"),
    ("set", Read, "SET F 7"),
    ("set", Read, "SET L o:1 IFEQ o:1 PX 5000"),
    ("set", Read, "SET L x:2 IFEQ o:1 PX 5000"),
    ("set", Lost, "SET L x:9 KEEPTTL"),
    ("set", Read, "SELECT 1; SET L x:9; SELECT 0"),
    ("setex", Read, "SETEX L 100 x:3"),
    ("psetex", Read, "PSETEX L 5000 x:3"),
    ("getset", Read, "GETSET L x:3"),
    ("getdel", Read, "GETDEL L"),
    ("getdel", Read, "GETDEL F; INCR F"),
    ("getex", Read, "GETEX L PX 9000"),
    ("getex", Read, "GETEX L PERSIST"),
    ("getex", Read, "GETEX L PXAT 1"),
    ("setnx", Read, "DEL L; SETNX L x:2"),
    ("mset", Read, "MSET L x:1 o 1 F 5"),
    ("msetnx", Read, "DEL L F; MSETNX F 3 L x:1"),
    ("msetex", Lost, "MSETEX 1 L x:1 EX 100"),
    ("incr", Read, "INCR F; INCR F"),
    ("incr", Lost, "DEL L; INCR L"),
    ("incrby", Read, "INCRBY F 5; INCRBY F -2"),
    ("incrbyfloat", Read, "INCRBYFLOAT F 1.5"),
    ("decr", Read, "DECR F; DECR F; DECR F; INCRBY F 9"),
    ("decr", Lost, "DEL L; DECR L"),
    ("decrby", Read, "INCRBY F 9; DECRBY F 2"),
    ("expire", Read, "EXPIRE L 100"),
    ("expire", Read, "EXPIRE L -1"),
    ("expire", Read, "EXPIRE L 100 GT"),
    ("pexpire", Read, "PEXPIRE L 5000"),
    ("pexpire", Read, "INCR F; PEXPIRE F 5000"),
    ("pexpire", Read, "PEXPIRE F -1; INCR F"),
    ("expireat", Read, "EXPIREAT L 9999999999"),
    ("pexpireat", Read, "PEXPIREAT L 9999999999999"),
    ("persist", Read, "PERSIST L"),
    ("del", Read, "DEL o L F"),
    ("del", Read, "DEL F; INCR F"),
    ("delex", Read, "DELEX L IFEQ o:1"),
    ("delifeq", Read, "DELIFEQ L o:1"),
    ("unlink", Read, "UNLINK L"),
    ("flushall", Read, "FLUSHALL; INCR F"),
    ("flushall", Read, "SELECT 1; FLUSHALL; SELECT 0"),
    ("flushdb", Read, "FLUSHDB"),
    ("flushdb", Read, "MULTI; FLUSHDB; SET L x:1; EXEC"),
    ("flushdb", Refused, "SELECT 1; FLUSHDB; SELECT 0"),
    ("rename", Read, "RENAME L o"),
    ("rename", Read, "RENAME F o; INCR F"),
    ("rename", Lost, "RENAME o L"),
    ("renamenx", Lost, "DEL L; RENAMENX o L"),
    ("copy", Lost, "COPY o L REPLACE"),
    (
        "copy",
        Lost,
        "SELECT 1; SET o x; COPY o L DB 0 REPLACE; SELECT 0",
    ),
    ("copy", Refused, "COPY L o REPLACE"),
    ("copy", Refused, "COPY o L DB 1"),
    ("move", Read, "MOVE L 1"),
    (
        "move",
        Lost,
        "DEL L; SELECT 1; SET L x:1; MOVE L 0; SELECT 0",
    ),
    ("move", Refused, "MOVE o 1"),
    ("swapdb", Lost, "SWAPDB 1 0"),
    ("swapdb", Refused, "SWAPDB 1 2"),
    ("migrate", Read, "MIGRATE 127.0.0.1 P L 0 5000"),
    (
        "restore",
        Lost,
        "EVAL return(redis.call('restore',KEYS[1],0,redis.call('dump',KEYS[2]),'REPLACE')) 2 L o",
    ),
    (
        "restore-asking",
        Lost,
        "EVAL return(redis.call('restore-asking',KEYS[1],0,redis.call('dump',KEYS[2]),'REPLACE')) 2 L o",
    ),
    ("append", Lost, "APPEND L x"),
    ("append", Lost, "APPEND F 1"),
    ("setrange", Lost, "SETRANGE L 0 x"),
    ("setbit", Lost, "SETBIT L 7 1; SETBIT L 7 0; SETBIT L 7 1"),
    ("bitfield", Lost, "BITFIELD L SET u8 0 1"),
    ("bitop", Lost, "BITOP NOT L o"),
    ("pfadd", Lost, "DEL L; PFADD L a"),
    ("pfmerge", Lost, "DEL L o; PFADD o a; PFMERGE L o"),
    ("pfdebug", Refused, "PFDEBUG TODENSE L"),
    ("lpush", Lost, "DEL L; LPUSH L a"),
    ("rpush", Lost, "DEL L; RPUSH L a"),
    ("lmove", Lost, "DEL L o; LPUSH o a; LMOVE o L LEFT LEFT"),
    ("blmove", Lost, "DEL L o; LPUSH o a; BLMOVE o L LEFT LEFT 1"),
    ("rpoplpush", Lost, "DEL L o; LPUSH o a; RPOPLPUSH o L"),
    ("brpoplpush", Lost, "DEL L o; LPUSH o a; BRPOPLPUSH o L 1"),
    ("lpushx", Refused, "LPUSHX L a"),
    ("rpushx", Refused, "RPUSHX L a"),
    ("linsert", Refused, "LINSERT L BEFORE a b"),
    ("lset", Refused, "LSET L 0 a"),
    ("lrem", Refused, "LREM L 0 a"),
    ("ltrim", Refused, "LTRIM L 0 0"),
    ("lpop", Refused, "LPOP L"),
    ("rpop", Refused, "RPOP L"),
    ("lmpop", Refused, "LMPOP 1 L LEFT"),
    ("blpop", Refused, "BLPOP L 1"),
    ("brpop", Refused, "BRPOP L 1"),
    ("blmpop", Refused, "BLMPOP 1 1 L LEFT"),
    ("sort", Lost, "DEL o; LPUSH o 1; SORT o STORE L"),
    ("hset", Lost, "DEL L; HSET L a b"),
    ("hmset", Lost, "DEL L; HMSET L a b"),
    ("hsetnx", Lost, "DEL L; HSETNX L a b"),
    ("hsetex", Lost, "DEL L; HSETEX L EX 9 FIELDS 1 a b"),
    ("hincrby", Lost, "DEL L; HINCRBY L a 1"),
    ("hincrbyfloat", Lost, "DEL L; HINCRBYFLOAT L a 1"),
    ("hdel", Refused, "HDEL L a"),
    ("hgetdel", Refused, "HGETDEL L FIELDS 1 a"),
    ("hgetex", Refused, "HGETEX L EX 9 FIELDS 1 a"),
    ("hexpire", Refused, "HEXPIRE L 9 FIELDS 1 a"),
    ("hexpireat", Refused, "HEXPIREAT L 9999999999 FIELDS 1 a"),
    ("hpexpire", Refused, "HPEXPIRE L 9 FIELDS 1 a"),
    (
        "hpexpireat",
        Refused,
        "HPEXPIREAT L 9999999999999 FIELDS 1 a",
    ),
    ("hpersist", Refused, "HPERSIST L FIELDS 1 a"),
    ("sadd", Lost, "DEL L; SADD L a"),
    ("smove", Lost, "DEL L o; SADD o a; SMOVE o L a"),
    ("sunionstore", Lost, "DEL o; SADD o a; SUNIONSTORE L o"),
    ("sinterstore", Lost, "DEL o; SADD o a; SINTERSTORE L o"),
    ("sdiffstore", Lost, "DEL o; SADD o a; SDIFFSTORE L o"),
    ("srem", Refused, "SREM L a"),
    ("spop", Refused, "SPOP L"),
    ("zadd", Lost, "DEL L; ZADD L 1 a"),
    ("zincrby", Lost, "DEL L; ZINCRBY L 1 a"),
    (
        "zrangestore",
        Lost,
        "DEL o; ZADD o 1 a; ZRANGESTORE L o 0 -1",
    ),
    ("zunionstore", Lost, "DEL o; ZADD o 1 a; ZUNIONSTORE L 1 o"),
    ("zinterstore", Lost, "DEL o; ZADD o 1 a; ZINTERSTORE L 1 o"),
    ("zdiffstore", Lost, "DEL o; ZADD o 1 a; ZDIFFSTORE L 1 o"),
    ("zrem", Refused, "ZREM L a"),
    ("zremrangebylex", Refused, "ZREMRANGEBYLEX L - +"),
    ("zremrangebyrank", Refused, "ZREMRANGEBYRANK L 0 -1"),
    ("zremrangebyscore", Refused, "ZREMRANGEBYSCORE L 0 9"),
    ("zpopmin", Refused, "ZPOPMIN L"),
    ("zpopmax", Refused, "ZPOPMAX L"),
    ("zmpop", Refused, "ZMPOP 1 L MIN"),
    ("bzpopmin", Refused, "BZPOPMIN L 1"),
    ("bzpopmax", Refused, "BZPOPMAX L 1"),
    ("bzmpop", Refused, "BZMPOP 1 1 L MIN"),
    ("geoadd", Lost, "DEL L; GEOADD L 1 1 a"),
    (
        "georadius",
        Lost,
        "DEL o; GEOADD o 1 1 a; GEORADIUS o 1 1 9 km STORE L",
    ),
    (
        "georadiusbymember",
        Lost,
        "DEL o; GEOADD o 1 1 a; GEORADIUSBYMEMBER o a 9 km STORE L",
    ),
    (
        "geosearchstore",
        Lost,
        "DEL o; GEOADD o 1 1 a; GEOSEARCHSTORE L o FROMMEMBER a BYRADIUS 9 km",
    ),
    ("xadd", Lost, "DEL L; XADD L * a b"),
    ("xgroup", Lost, "DEL L; XGROUP CREATE L g $ MKSTREAM"),
    ("xack", Refused, "XACK L g 1-1"),
    ("xackdel", Refused, "XACKDEL L g IDS 1 1-1"),
    ("xdelex", Refused, "XDELEX L IDS 1 1-1"),
    ("xcfgset", Refused, "XCFGSET L IDMP-DURATION 100"),
    ("xnack", Refused, "XNACK L g FAIL IDS 1 1-1"),
    ("xidmprecord", Refused, "XIDMPRECORD L p i 1-1"),
    ("xautoclaim", Refused, "XAUTOCLAIM L g c 0 0"),
    ("xclaim", Refused, "XCLAIM L g c 0 1-1"),
    ("xdel", Refused, "XDEL L 1-1"),
    ("xreadgroup", Refused, "XREADGROUP GROUP g c STREAMS L >"),
    ("xsetid", Refused, "XSETID L 1-1"),
    ("xtrim", Refused, "XTRIM L MAXLEN 0"),
    ("increx", Read, "INCREX F BYINT 2; INCREX F EX 100"),
    ("lmovem", Refused, "LMOVEM L o LEFT LEFT COUNT 1"),
    ("blmovem", Refused, "BLMOVEM L o LEFT LEFT COUNT 1 1"),
    ("himport", Refused, "HIMPORT SET L f a b"),
    ("arset", Lost, "DEL L; ARSET L 0 a"),
    ("armset", Lost, "DEL L; ARMSET L 0 a"),
    ("arring", Refused, "ARRING L 9 a"),
    ("arinsert", Refused, "ARINSERT L a"),
    ("arseek", Refused, "ARSEEK L 0"),
    ("ardel", Refused, "ARDEL L 0"),
    ("ardelrange", Refused, "ARDELRANGE L 0 1"),
    ("vadd", Lost, "DEL L; VADD L VALUES 2 1 2 e"),
    ("vrem", Refused, "VREM L e"),
    ("vsetattr", Refused, "VSETATTR L e x"),
    // Not a writer by its flags: what it does arrives, and not the script.
    (
        "eval",
        Read,
        "EVAL return(redis.call('set',KEYS[1],'x:4','px',5000)) 1 L",
    ),
    ("publish", NoKey, "PUBLISH L F"),
    ("function", NoKey, "FUNCTION FLUSH"),
    // Of a cluster, and read as a gap whatever they are given; a single server refuses them.
    ("cluster", NoKey, "CLUSTER INFO"),
    ("trimslots", NoKey, "TRIMSLOTS RANGES 1 0"),
];

/// What the observer believes that the server holds of the lock.
#[derive(Debug, Default)]
struct Belief {
    lock: Option<(OwnerDigest, Option<u64>)>,
    /// Outer none = never told of it.
    counter: Option<Option<u64>>,
    effects: usize,
    lost: bool,
}

impl Belief {
    fn note(&mut self, event: Event) {
        let Event::Effect { change, .. } = event else {
            return;
        };
        self.effects += 1;
        match change {
            Change::Set {
                owner, until_ms, ..
            } => self.lock = Some((owner, until_ms)),
            Change::Extended { until_ms } => {
                self.lock = self.lock.take().map(|(owner, _)| (owner, until_ms));
            }
            Change::Deleted => self.lock = None,
            Change::Flushed => (self.lock, self.counter) = (None, Some(Some(0))),
            Change::Counter { value } => self.counter = Some(value),
            other => panic!("{other:?}"),
        }
    }
}

struct Watched {
    server: RedisServer,
    elsewhere: RedisServer,
    connection: redis::Connection,
    stream: TcpStream,
    decoder: Decoder,
    effects: Effects,
    marks: usize,
}

impl Watched {
    fn of(server: RedisServer) -> Watched {
        server.tell::<()>("CONFIG SET repl-diskless-sync-delay 0");
        let mut stream = TcpStream::connect(server.address()).unwrap();
        let patience = Some(Duration::from_secs(30));
        stream.set_read_timeout(patience).unwrap();
        stream.write_all(b"SYNC\r\n").unwrap();
        let mut watched = Watched {
            connection: server.connection(),
            server,
            elsewhere: RedisServer::start(),
            stream,
            decoder: Decoder::default(),
            effects: Effects::new("redis", "lab:"),
            marks: 0,
        };
        while !watched.decoder.in_sync() {
            watched.more();
        }
        watched
    }

    fn more(&mut self) -> Vec<Seen> {
        let mut buffer = [0; 65536];
        let count = self.stream.read(&mut buffer).unwrap();
        assert!(count > 0, "the stream ended");
        let commands = self.decoder.feed(&buffer[..count]).unwrap();
        let read = commands.iter().flat_map(|words| self.effects.read(words));
        read.collect()
    }

    /// Every reply that is no error, in words.
    fn tell(&mut self, commands: &str) -> Vec<String> {
        let port = self.elsewhere.port().to_string();
        let mut answers = Vec::new();
        for command in commands.split("; ") {
            let mut words = redis::Cmd::new();
            for word in command.split(' ') {
                words.arg(match word {
                    "L" => LOCK,
                    "F" => FENCE,
                    "P" => &port,
                    other => other,
                });
            }
            let answer = words.query::<Value>(&mut self.connection);
            answers.extend(answer.ok().map(|answer| format!("{answer:?}")));
        }
        answers
    }

    /// Until everything that was done so far has come by.
    fn catch_up(&mut self, belief: &mut Belief) {
        self.marks += 1;
        let name = self.marks.to_string();
        self.tell(&format!("SET lab:mark {name}"));
        loop {
            let mut here = false;
            for seen in self.more() {
                match seen {
                    Seen::Mark(mark) => here |= mark == name,
                    Seen::Effect(event) => belief.note(event),
                    Seen::Lost(why) => {
                        assert!(why.contains("nobody can tell"), "{why}");
                        belief.lost = true;
                    }
                }
            }
            if here {
                return;
            }
        }
    }

    /// Owner and deadline of the lock as a grant's effect would tell them, and the counter.
    fn held(&mut self) -> (Option<(OwnerDigest, Option<u64>)>, Option<u64>) {
        let get = |connection: &mut redis::Connection, key| {
            let value = redis::cmd("GET")
                .arg(key)
                .query::<Option<String>>(connection);
            // What is no string is no lock.
            value.unwrap_or(None)
        };
        let lock = get(&mut self.connection, LOCK).map(|value| {
            let mut until = redis::cmd("PEXPIRETIME");
            let until: i64 = until.arg(LOCK).query(&mut self.connection).unwrap();
            let owner = value
                .split_once(':')
                .map_or(value.as_str(), |(owner, _)| owner);
            (OwnerDigest::of(owner.as_bytes()), u64::try_from(until).ok())
        });
        let counter = get(&mut self.connection, FENCE).map_or(Some(0), |text| text.parse().ok());
        (lock, counter)
    }

    /// What is wrong with what became of one line of the table.
    fn play(&mut self, fate: Fate, commands: &str) -> Result<(), String> {
        let mut belief = Belief::default();
        self.tell("SELECT 0; FLUSHALL; SET L o:1 PX 100000; INCR F; SET o other");
        self.catch_up(&mut belief);
        (belief.effects, belief.lost) = (0, false);
        let before = self.held();
        let answers = self.tell(commands);
        self.catch_up(&mut belief);
        let after = self.held();
        let seen = format!("{belief:?}, held {after:?}, answered {answers:?}");
        let agrees = belief.lock == after.0
            && belief
                .counter
                .is_none_or(|told| told.is_none() || told == after.1);
        let fits = match fate {
            Read => belief.effects > 0 || before == after,
            Lost => belief.lost,
            Refused | NoKey => belief.effects == 0 && before == after,
        };
        match fits && belief.lost == (fate == Lost) && (agrees || belief.lost) {
            true => Ok(()),
            false => Err(seen),
        }
    }

    /// Every command of the server that may write, by its own word.
    fn writers(&mut self) -> BTreeSet<String> {
        let all: Vec<Value> = redis::cmd("COMMAND").query(&mut self.connection).unwrap();
        let mut writers = BTreeSet::new();
        for command in &all {
            let said = format!("{command:?}");
            let Value::Array(fields) = command else {
                panic!("{said}");
            };
            let name: String = redis::from_redis_value(fields[0].clone()).unwrap();
            if said.contains("'write'") || said.contains("\"write\"") {
                writers.insert(name.to_lowercase());
            }
        }
        assert!(writers.len() > 90, "{writers:?}");
        writers
    }
}

#[test]
fn every_command_that_may_change_a_key_of_a_lock_is_read_or_told_as_a_gap() {
    all_are_read_or_told(RedisServer::start());
}

#[test]
fn every_command_of_a_valkey_is_read_or_told_as_a_gap() {
    if let Some(server) = RedisServer::valkey() {
        all_are_read_or_told(server);
    }
}

fn all_are_read_or_told(server: RedisServer) {
    let mut watched = Watched::of(server);
    let writers = watched.writers();
    let named: BTreeSet<String> = TABLE.iter().map(|(name, ..)| (*name).to_owned()).collect();
    let unknown: Vec<_> = writers.difference(&named).collect();
    assert!(unknown.is_empty(), "not in the table: {unknown:?}");
    let mut wrong = Vec::new();
    for (name, fate, commands) in TABLE {
        let verb = redis::cmd("COMMAND")
            .arg("INFO")
            .arg(name)
            .query::<Value>(&mut watched.connection);
        if verb.is_ok_and(|verb| verb == Value::Array(vec![Value::Nil])) {
            continue;
        }
        if let Err(seen) = watched.play(*fate, commands) {
            wrong.push(format!("{commands} is not {fate:?}: {seen}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    drop(watched.server);
}
