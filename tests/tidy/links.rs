//! Links and pictures of the documents lead to files that exist.
//!
//! Only inline links (`[text](target)`) to files are looked at; addresses of other sites and
//! places within the same page are not.

/// Complaints about links whose file does not exist.
pub fn dead(path: &str, text: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut complaints = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for target in targets(line) {
            let file = target.split('#').next().unwrap_or_default();
            if !file.is_empty() && !exists(file) {
                complaints.push(format!("{path}:{}: `{target}` does not exist", number + 1));
            }
        }
    }
    complaints
}

/// Targets of the inline links of one line, without those to other sites.
fn targets(line: &str) -> Vec<&str> {
    line.match_indices("](")
        .filter_map(|(at, _)| line[at + 2..].split([')', ' ']).next())
        .filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
        .collect()
}

#[test]
fn a_dead_link_is_seen() {
    let text = "a\n[b](gone.md#x), ![c](docs/c.png), [d](#here), [e](https://example.invalid/e)";
    assert_eq!(
        dead("README.md", text, |file| file == "docs/c.png"),
        ["README.md:2: `gone.md#x` does not exist"]
    );
}
