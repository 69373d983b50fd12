//! The columns of a row as `test_decoding` writes them. Pure.

use std::collections::HashMap;

/// `name[type]:value name[type]:'value' …`; none = null.
pub(super) fn columns_of(text: &str) -> HashMap<&str, Option<String>> {
    let mut columns = HashMap::new();
    let mut rest = text;
    while let Some((name, value)) = rest
        .split_once('[')
        .and_then(|(name, typed)| Some((name, typed.split_once("]:")?.1)))
    {
        let value_and_rest = match value.strip_prefix('\'') {
            Some(quoted) => unquote(quoted),
            None => value
                .split_once(' ')
                .map_or((value.to_owned(), ""), |(value, rest)| {
                    (value.to_owned(), rest)
                }),
        };
        let is_null = !value.starts_with('\'') && value_and_rest.0 == "null";
        columns.insert(name.trim_start(), (!is_null).then_some(value_and_rest.0));
        rest = value_and_rest.1;
    }
    columns
}

/// Up to the closing quote, which is doubled where it stands for itself; and what follows.
fn unquote(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut rest = text;
    while let Some((part, behind)) = rest.split_once('\'') {
        value.push_str(part);
        match behind.strip_prefix('\'') {
            Some(behind) => {
                value.push('\'');
                rest = behind;
            }
            None => return (value, behind),
        }
    }
    value.push_str(rest);
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_may_be_nothing_or_hold_what_looks_like_a_column() {
        let text = "a[text]:'it''s b[x]:1 ' b[text]:null c[bigint]:-7 d[text]:'null' e[text]:''";
        let columns = columns_of(text);
        let value = |name: &str| columns.get(name).cloned().flatten();
        assert_eq!(value("a").as_deref(), Some("it's b[x]:1 "));
        assert_eq!(columns.get("b"), Some(&None));
        assert_eq!(value("c").as_deref(), Some("-7"));
        assert_eq!(value("d").as_deref(), Some("null"));
        assert_eq!(value("e").as_deref(), Some(""));
        assert_eq!(columns.len(), 5);
        assert!(columns_of("(no-tuple-data)").is_empty());
    }
}
