//! Every file in a plug-in folder is in its registry: one new file and one line is all it takes,
//! and a file without its line is dead code that looks alive.
//!
//! A file is in the registry if the `const` of the registry file names its module. Files that a
//! plug-in folder needs beside its plug-ins are listed here with their reason.

use crate::source::Source;

/// One folder of plug-ins.
pub struct Folder {
    /// The folder, with a `/` at its end.
    pub path: &'static str,
    /// The file that holds the registry.
    pub registry: &'static str,
    /// The `const` that is the registry.
    pub list: &'static str,
    /// Files of the folder that are no plug-ins, and what they are.
    pub beside: &'static [(&'static str, &'static str)],
}

/// Every folder of plug-ins.
pub const FOLDERS: &[Folder] = &[
    Folder {
        path: "src/lock/backends/",
        registry: "src/lock/backends/mod.rs",
        list: "ALL",
        beside: &[
            ("etcd_ear", "the ear of the etcd back end for releases"),
            (
                "etcd_steps",
                "what the operations of the etcd back end are made of",
            ),
            ("etcd_words", "the requests of the etcd back end"),
            (
                "postgres_by_session",
                "the lock that a session of a Postgres may be",
            ),
            (
                "postgres_ear",
                "the ear of the Postgres back ends for releases",
            ),
            (
                "postgres_sessions",
                "the sessions of locks that sessions hold",
            ),
            ("postgres_words", "the statements of the Postgres back end"),
            (
                "redis_asked",
                "how Redis servers are asked where a lock lives",
            ),
            (
                "redis_copies",
                "how the Redis back ends count who has a grant",
            ),
            ("queue_ear", "the ear of a waiter that queues at a server"),
            ("redis_ear", "the ear of the Redis back end for releases"),
            (
                "redis_found",
                "how the Redis back ends remember whom they found",
            ),
            ("redis_lock", "the lock that every Redis back end is"),
            (
                "redis_renewal",
                "a renewal as one plain command of a Redis server",
            ),
            ("redis_route", "the way of a lock's commands to their node"),
            ("redis_scripts", "the scripts of the Redis back end"),
            ("redis_slots", "what a node of a cluster says of slots"),
            (
                "zookeeper_ear",
                "the ear of the ZooKeeper back end for releases",
            ),
            (
                "zookeeper_sessions",
                "the sessions of the ZooKeeper back end",
            ),
            (
                "zookeeper_steps",
                "what the operations of the ZooKeeper back end are made of",
            ),
            ("zookeeper_words", "the requests of the ZooKeeper back end"),
            ("redlock_attempt", "one attempt for the votes of a quorum"),
            ("redlock_count", "what the answers of several servers say"),
            ("redlock_ears", "an ear at each of several servers"),
            (
                "redlock_voters",
                "how several servers are asked side by side",
            ),
            ("redlock_words", "the scripts that voters run"),
            (
                "redis_second",
                "the second command of two flaws of the Redis back end",
            ),
        ],
    },
    Folder {
        path: "src/faults/",
        registry: "src/faults/mod.rs",
        list: "ALL",
        beside: &[],
    },
    Folder {
        path: "src/env/edge/",
        registry: "src/env/edge/mod.rs",
        list: "ALL",
        beside: &[
            ("error", "what can go wrong with an edge"),
            ("probe", "what a stranger sees who tries an edge"),
            ("words", "injuries and what is said of them"),
        ],
    },
    Folder {
        path: "src/checks/",
        registry: "src/checks/mod.rs",
        list: "ALL",
        beside: &[("say", "how findings word times, workers and events")],
    },
    Folder {
        path: "src/store/",
        registry: "src/store/mod.rs",
        list: "ALL",
        beside: &[
            ("answer", "what stores answer"),
            (
                "kinds",
                "kinds of attempts as the logs of stores spell them",
            ),
            ("queue", "the queue beside the store, of one kind"),
            ("rule", "the one rule that every fenced store applies"),
            ("server", "what the lab starts for a store"),
            ("spec", "what a store is opened with"),
            ("wall_time", "times that a store's server told, as lab time"),
        ],
    },
    Folder {
        path: "src/report/charts/",
        registry: "src/report/charts/mod.rs",
        list: "ALL",
        beside: &[
            ("ink", "colours and line widths"),
            ("paint_png", "one of the two painters"),
            ("paint_svg", "one of the two painters"),
            ("picture", "what a painter is given"),
            ("plot", "axes and scales that charts share"),
            (
                "signal",
                "the picture of any one signal, on a page and in the index",
            ),
            (
                "swimlane",
                "the main picture, which stands alone on the page",
            ),
        ],
    },
];

/// Complaints about plug-ins without their line, and about exceptions without their file.
pub fn unregistered(folder: &Folder, sources: &[Source]) -> Vec<String> {
    let Some(registry) = sources.iter().find(|s| s.path == folder.registry) else {
        return vec![format!("{}: the registry is missing", folder.registry)];
    };
    let Some(listed) = initializer(registry, folder.list) else {
        return vec![format!("{}: no `const {}`", folder.registry, folder.list)];
    };
    let names: Vec<&str> = sources
        .iter()
        .filter(|source| !source.test_only)
        .filter_map(|source| plug_in(folder.path, &source.path))
        .collect();
    let mut complaints = Vec::new();
    for name in &names {
        let excepted = folder.beside.iter().any(|(beside, _)| beside == name);
        if !excepted && !listed.contains(&(*name).to_owned()) {
            complaints.push(format!(
                "{}{name}.rs: not in `{}` of {}",
                folder.path, folder.list, folder.registry
            ));
        }
    }
    for (beside, _) in folder.beside {
        if !names.contains(beside) {
            complaints.push(format!("{}: exception `{beside}` has no file", folder.path));
        }
    }
    complaints
}

/// The module name of a file or subfolder that stands directly in the folder.
fn plug_in<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    let name = path.strip_prefix(folder)?;
    let name = name.strip_suffix("/mod.rs").or(name.strip_suffix(".rs"))?;
    (!name.contains('/') && name != "mod").then_some(name)
}

/// The words in the value of a `const` or `static` at the top of a file.
fn initializer(registry: &Source, list: &str) -> Option<Vec<String>> {
    registry.syntax.items.iter().find_map(|item| {
        let (ident, value) = match item {
            syn::Item::Const(item) => (&item.ident, &item.expr),
            syn::Item::Static(item) => (&item.ident, &item.expr),
            _ => return None,
        };
        (ident == list).then(|| idents(value))
    })
}

fn idents(value: &syn::Expr) -> Vec<String> {
    struct Words(Vec<String>);
    impl<'ast> syn::visit::Visit<'ast> for Words {
        fn visit_ident(&mut self, ident: &'ast proc_macro2::Ident) {
            self.0.push(ident.to_string());
        }
    }
    let mut words = Words(Vec::new());
    syn::visit::Visit::visit_expr(&mut words, value);
    words.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAULTS: Folder = Folder {
        path: "src/faults/",
        registry: "src/faults/mod.rs",
        list: "ALL",
        beside: &[],
    };

    fn tree(registry: &str) -> Vec<Source> {
        vec![
            Source::parse("src/faults/mod.rs", registry),
            Source::parse("src/faults/pause.rs", "//! p"),
            Source::parse("src/faults/kill/mod.rs", "//! k"),
            Source::parse("src/faults/kill/signal.rs", "//! part of kill"),
        ]
    }

    #[test]
    fn a_plug_in_without_its_line_is_seen() {
        let sources = tree("pub const ALL: &[&Kind] = &[&pause::KIND]; fn f() { kill::g() }");
        assert_eq!(
            unregistered(&FAULTS, &sources),
            ["src/faults/kill.rs: not in `ALL` of src/faults/mod.rs"]
        );
        let sources = tree("pub const ALL: &[&Kind] = &[&pause::KIND, &kill::KIND];");
        assert_eq!(unregistered(&FAULTS, &sources), [""; 0]);
    }

    #[test]
    fn a_registry_that_went_away_is_seen() {
        assert_eq!(unregistered(&FAULTS, &tree("//! empty")).len(), 1);
        assert_eq!(unregistered(&FAULTS, &[]).len(), 1);
    }

    #[test]
    fn an_exception_needs_its_file() {
        let folder = Folder {
            beside: &[("target", "selectors"), ("kill", "an example")],
            ..FAULTS
        };
        let sources = tree("pub const ALL: &[&Kind] = &[&pause::KIND];");
        assert_eq!(
            unregistered(&folder, &sources),
            ["src/faults/: exception `target` has no file"]
        );
    }
}
