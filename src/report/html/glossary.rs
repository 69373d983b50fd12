//! The words of a report, each with one meaning: a list at the end of the page, and the same
//! meaning at the place where a word stands first.

use super::terms::{self, Term};
use super::units::tied;
use maud::{Markup, html};
use std::collections::BTreeSet;

/// The list: every word that the page uses, and those in which it is explained.
pub fn section(page: &str) -> Markup {
    let used = used(&visible(page));
    html! {
        section id="words" {
            h2 { "Words used here" }
            dl.facts.words {
                @for term in &used { dt { (term.name) } dd { (term.meaning) } }
            }
        }
    }
}

fn used(words: &str) -> Vec<&'static Term> {
    let mut used = vec![false; terms::all().count()];
    let mut text = words.to_owned();
    // What a word is explained in may be a word of the list itself.
    while !text.is_empty() {
        let mut next = String::new();
        for (term, used) in terms::all().zip(&mut used) {
            if !*used && is_in(&text, term) {
                *used = true;
                next.push_str(term.meaning);
                next.push(' ');
            }
        }
        text = next;
    }
    let all = terms::all().zip(used);
    all.filter(|(_, used)| *used)
        .map(|(term, _)| term)
        .collect()
}

fn is_in(text: &str, term: &Term) -> bool {
    let mut forms = term.forms.iter().chain(term.seen);
    forms.any(|form| place(text, form).is_some())
}

/// What a reader sees of a page: no tags, and nothing in them.
fn visible(page: &str) -> String {
    let mut seen = String::with_capacity(page.len() / 4);
    for (index, part) in page.split('<').enumerate() {
        let text = match (index, part.split_once('>')) {
            (0, _) => part,
            (_, Some((_, text))) => text,
            (_, None) => "",
        };
        seen.push_str(text);
        seen.push(' ');
    }
    seen
}

/// Words in which each term that is not in `told` yet carries its meaning; it is then in `told`.
/// What stands between backticks is shown as typed.
pub fn explain(words: &str, told: &mut BTreeSet<&'static str>) -> Markup {
    backticks(words, |part| plain(part, told))
}

/// The same without any meaning.
pub fn typed(words: &str) -> Markup {
    backticks(words, tied)
}

fn backticks(words: &str, mut plain: impl FnMut(&str) -> Markup) -> Markup {
    let parts: Vec<&str> = words.split('`').collect();
    // An odd number of backticks is not a pair: shown as it stands.
    if parts.len().is_multiple_of(2) {
        return plain(words);
    }
    html! {
        @for (index, part) in parts.iter().enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (plain(part)) }
        }
    }
}

fn plain(words: &str, told: &mut BTreeSet<&'static str>) -> Markup {
    let Some((from, to, term)) = first(words, told) else {
        return tied(words);
    };
    told.insert(term.name);
    let (before, word, after) = (&words[..from], &words[from..to], &words[to..]);
    html! { (tied(before)) abbr title=(term.meaning) { (word) } (plain(after, told)) }
}

/// The first place of a term that was not told yet; of two at one place the longer.
fn first(words: &str, told: &BTreeSet<&'static str>) -> Option<(usize, usize, &'static Term)> {
    let untold = terms::all().filter(|term| !told.contains(term.name));
    let places = untold.flat_map(|term| {
        let found = term.forms.iter().filter_map(|form| place(words, form));
        found.map(move |(from, to)| (from, to, term))
    });
    places.min_by_key(|(from, to, _)| (*from, usize::MAX - *to))
}

/// A whole word, not part of a name such as `a.write.2.armed`.
fn place(words: &str, form: &str) -> Option<(usize, usize)> {
    let part_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-' || c == '.';
    words.match_indices(form).find_map(|(from, found)| {
        let to = from + found.len();
        let before = words[..from].chars().next_back();
        let mut after = words[to..].chars();
        let next = after.next();
        let dotted = next == Some('.') && after.next().is_some_and(char::is_alphanumeric);
        let free = before.is_none_or(|c| !part_of_name(c))
            && next.is_none_or(|c| c == '.' || !part_of_name(c))
            && !dotted;
        free.then_some((from, to))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_holds_what_the_page_uses_and_what_explains_it() {
        let names =
            |page: &str| -> Vec<&str> { used(&visible(page)).iter().map(|t| t.name).collect() };
        let told = names("<p title=\"epoch\">a <b>racy</b> fence</p>");
        assert!(told.contains(&"fence: atomic, racy, off"), "{told:?}");
        assert!(told.contains(&"fencing token"), "{told:?}");
        assert!(!told.contains(&"fencing counter, epoch"), "{told:?}");
        assert!(names("").is_empty());
    }

    #[test]
    fn a_word_is_explained_once_and_never_inside_a_name() {
        let mut told = BTreeSet::new();
        let text = explain("a seal, a second seal, b.seal.1 and `seal`", &mut told).into_string();
        assert_eq!(text.matches("<abbr").count(), 1);
        assert!(text.contains("b.seal.1 and <code>seal</code>"));
        let name = explain("no_stale_write at a.write.2.armed", &mut BTreeSet::new());
        assert!(!name.into_string().contains("<abbr"));
        let half = explain("one ` alone", &mut BTreeSet::new()).into_string();
        assert_eq!(half, "one ` alone");
    }
}
