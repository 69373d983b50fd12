//! Reads a rendered page as a test needs it: addresses, ids, the data of the raw timelines.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::collections::HashSet;

/// Every value of this attribute, in order.
pub fn attributes<'p>(page: &'p str, name: &str) -> Vec<&'p str> {
    let start = format!(" {name}=\"");
    let after = page.split(&start).skip(1);
    after.map(|rest| rest.split('"').next().unwrap()).collect()
}

/// What stands between these two, each time.
pub fn between<'p>(page: &'p str, open: &str, close: &str) -> Vec<&'p str> {
    let after = page.split(open).skip(1);
    after
        .map(|rest| rest.split(close).next().unwrap())
        .collect()
}

/// Follows every link inside the page; answers how many there are. A link that leads off the page
/// leads to the page of another run, or to the index of all runs.
pub fn follow_links(page: &str) -> usize {
    let ids = attributes(page, "id");
    let known: HashSet<&str> = ids.iter().copied().collect();
    assert_eq!(known.len(), ids.len(), "an id stands twice");
    let hrefs = attributes(page, "href");
    for href in &hrefs {
        match href.strip_prefix('#') {
            Some(id) => assert!(known.contains(id), "{href} leads nowhere"),
            None => assert!(
                *href == "../../index.html"
                    || (href.starts_with("../") && href.ends_with("/report.html")),
                "{href} leads off the page"
            ),
        }
    }
    hrefs.len()
}

/// `[seq, time, who, kind, text, raw]` of every line of every arm.
pub type Row = (u64, String, String, String, String, String);

/// The compressed lines of each arm.
pub fn raw_lines(page: &str) -> Vec<Vec<Row>> {
    let blobs = between(
        page,
        "<script type=\"application/octet-stream\">",
        "</script>",
    );
    let rows = blobs.into_iter().map(|blob| {
        let bytes = STANDARD.decode(blob).unwrap();
        let text = miniz_oxide::inflate::decompress_to_vec_zlib(&bytes).unwrap();
        serde_json::from_slice(&text).unwrap()
    });
    rows.collect()
}
