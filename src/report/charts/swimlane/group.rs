//! Marks that would lie on each other are drawn as one.

/// Marks of one kind on one line, merged where they would lie on each other.
pub(super) struct Group<'t, T> {
    pub(super) x: f64,
    pub(super) first: &'t T,
    pub(super) count: usize,
}

pub(super) fn merge<'t, T>(
    items: impl IntoIterator<Item = (f64, &'t T)>,
    gap: f64,
) -> Vec<Group<'t, T>> {
    let mut sorted: Vec<(f64, &T)> = items.into_iter().collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut groups: Vec<Group<'_, T>> = Vec::new();
    for (x, item) in sorted {
        match groups.last_mut() {
            Some(last) if x - last.x < gap => last.count += 1,
            _ => groups.push(Group {
                x,
                first: item,
                count: 1,
            }),
        }
    }
    groups
}

/// ` (and 11 more)` for a merged mark.
pub(super) fn more(count: usize) -> String {
    if count > 1 {
        format!(" (and {} more here)", count - 1)
    } else {
        String::new()
    }
}
