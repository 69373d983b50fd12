//! The frame of every page: head, content policy, style, script.

use crate::report::charts::ink::style_sheet;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("page.js");

static SHEET: LazyLock<String> = LazyLock::new(|| format!("{STYLE}\n{}", style_sheet()));

/// What the page may load and run: its own style and script, known by their hashes.
fn policy(sheet: &str) -> String {
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(sheet),
        hash(SCRIPT)
    )
}

fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

/// A whole page around its body.
pub fn shell(title: &str, body: &Markup) -> Markup {
    frame(title, body, &SHEET)
}

/// The same with rules of its own below those of every page.
pub fn shell_with(title: &str, body: &Markup, rules: &str) -> Markup {
    frame(title, body, &format!("{}\n{rules}", *SHEET))
}

fn frame(title: &str, body: &Markup, sheet: &str) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy(sheet));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(concat!("lockdrill ", env!("CARGO_PKG_VERSION")));
                title { (title) " — lockdrill" }
                style { (PreEscaped(sheet)) }
            }
            body {
                main { (body) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}
