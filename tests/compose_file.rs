//! What `docker-compose.yml` promises without an engine: what it names is pinned, nothing is open to
//! other machines, and `--target compose` leads to what it starts. `tests/compose/prove.sh` tries the
//! rest on a real engine.

use lockdrill::run::target::Target;

const COMPOSE: &str = include_str!("../docker-compose.yml");
const DOCKERFILE: &str = include_str!("../Dockerfile");
const STAND_INS: &str = include_str!("compose/images.sh");

/// Images that come from a registry.
fn images() -> Vec<&'static str> {
    let of_file = DOCKERFILE
        .lines()
        .filter_map(|line| line.strip_prefix("FROM "));
    let of_file = of_file.filter_map(|rest| rest.split_whitespace().next());
    let of_services = COMPOSE
        .lines()
        .filter_map(|line| line.trim().strip_prefix("image: "));
    let own = concat!("lockdrill:", env!("CARGO_PKG_VERSION"));
    let all: Vec<_> = of_file.chain(of_services).collect();
    assert!(
        all.contains(&own),
        "the lab's image has not the version {own}: {all:?}"
    );
    all.into_iter().filter(|image| *image != own).collect()
}

/// `host:port:port` of every published port.
fn ports() -> Vec<&'static str> {
    let lists = COMPOSE
        .lines()
        .filter_map(|line| line.trim().strip_prefix("ports: [\""));
    lists.filter_map(|rest| rest.strip_suffix("\"]")).collect()
}

#[test]
fn every_image_is_of_one_version_and_has_a_stand_in() {
    for image in images() {
        let (_, tag) = image.rsplit_once(':').expect(image);
        assert!(
            tag.starts_with(|c: char| c.is_ascii_digit()),
            "{image} is not pinned"
        );
        assert!(
            tag.matches('.').count() == 2 || tag.contains('-'),
            "{image} is not pinned"
        );
        assert!(
            STAND_INS.contains(&format!("={image}\n")),
            "no stand-in for {image}"
        );
    }
}

#[test]
fn only_this_machine_reaches_what_is_started_and_no_port_is_used_twice() {
    let ports = ports();
    assert_eq!(
        COMPOSE.matches("ports:").count(),
        ports.len(),
        "in another form"
    );
    let mut here: Vec<&str> = Vec::new();
    for port in &ports {
        let rest = port.strip_prefix("127.0.0.1:").expect(port);
        here.push(rest.split(':').next().unwrap());
    }
    here.sort_unstable();
    here.dedup();
    assert_eq!(here.len(), ports.len(), "{ports:?}");
}

#[test]
fn the_target_is_the_redis_that_stands_alone() {
    let address = Target::read("compose", false).unwrap().address;
    let (_, service) = COMPOSE.split_once("\n  redis:\n").unwrap();
    let (service, _) = service.split_once("\n\n").unwrap();
    assert!(
        service.contains(&format!("ports: [\"{address}:6379\"]")),
        "{service}"
    );
    // Whoever follows it would be taken for a replica by a Sentinel that watches it.
    let own = service.split("ipv4_address: ").nth(1).unwrap();
    let own = own.split('}').next().unwrap();
    assert!(!COMPOSE.contains(&format!("monitor lockdrill {own} ")));
    assert!(!COMPOSE.contains(&format!("--replicaof {own} ")));
}

#[test]
fn every_server_says_whether_it_is_well_and_has_a_fixed_address() {
    let (_, services) = COMPOSE.split_once("\nservices:\n").unwrap();
    let (services, _) = services.split_once("\nnetworks:\n").unwrap();
    let (_, servers) = services.split_once("\n  redis:\n").unwrap();
    let servers = format!("  redis:\n{servers}");
    let names = servers.lines().filter(|line| {
        line.starts_with("  ")
            && !line.starts_with("   ")
            && line.ends_with(':')
            && !line.contains('#')
    });
    let names = names.count();
    assert_eq!(names, 9);
    assert_eq!(servers.matches("ipv4_address: 198.51.100.").count(), names);
    let well = servers.matches("healthcheck:").count() + servers.matches("<<: *redis").count();
    let well =
        well + servers.matches("<<: *replica").count() + servers.matches("<<: *sentinel").count();
    assert_eq!(well, names);
}
