//! A picture as SVG. Colours are classes (a strict content policy forbids style attributes),
//! hatches are plain strokes (a pattern inside a hidden SVG would not be painted in another).

use super::ink::{Ink, style_sheet};
use super::picture::{Anchor, Area, Form, Picture, Shape, Words};
use maud::{Markup, PreEscaped, html};
use std::fmt::Write as _;

/// Where the story of an event is told; none if it is not.
pub type Href<'h> = &'h dyn Fn(u64) -> Option<String>;

/// Inline, for a page that holds the style sheet.
pub fn inline(picture: &Picture, class: &str, href: Href<'_>) -> Markup {
    html! {
        svg class=(format!("p {class}")) role="img" aria-label=(picture.label)
            viewBox=(view_box(picture)) {
            @for shape in &picture.shapes { (draw(shape, href)) }
        }
    }
}

/// A file of its own.
pub fn standalone(picture: &Picture, href: Href<'_>) -> String {
    let ground = Area {
        x: 0.0,
        y: 0.0,
        w: picture.width,
        h: picture.height,
    };
    let body = html! {
        svg xmlns="http://www.w3.org/2000/svg" class="p" role="img" aria-label=(picture.label)
            viewBox=(view_box(picture)) width=(num(picture.width)) height=(num(picture.height)) {
            style { (PreEscaped(style_sheet())) }
            (form(&Form::Fill(ground, Ink::Page), None))
            @for shape in &picture.shapes { (draw(shape, href)) }
        }
    };
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n",
        body.into_string()
    )
}

fn view_box(picture: &Picture) -> String {
    format!("0 0 {} {}", num(picture.width), num(picture.height))
}

fn draw(shape: &Shape, href: Href<'_>) -> Markup {
    let drawn = form(&shape.form, shape.note.as_deref());
    match shape.event.and_then(href) {
        Some(href) => html! { a href=(href) { (drawn) } },
        None => drawn,
    }
}

fn form(form: &Form, note: Option<&str>) -> Markup {
    let title = html! { @if let Some(note) = note { title { (note) } } };
    match form {
        Form::Fill(a, ink) => html! {
            rect x=(num(a.x)) y=(num(a.y)) width=(num(a.w)) height=(num(a.h)) class=(fill(*ink)) { (title) }
        },
        Form::Outline(a, ink, dashed) => html! {
            rect x=(num(a.x)) y=(num(a.y)) width=(num(a.w)) height=(num(a.h))
                class=(stroke(*ink)) stroke-dasharray=[dashed.then_some("4 3")] { (title) }
        },
        Form::Hatch(a, ink) => html! {
            path d=(hatch(*a)) class=(stroke(*ink)) stroke-width="1.2" { (title) }
        },
        Form::Path(points, ink, width) => html! {
            path d=(path(points)) class=(stroke(*ink)) stroke-width=(num(*width)) { (title) }
        },
        Form::Polygon(points, ink) => html! {
            path d=(format!("{}Z", path(points))) class=(fill(*ink)) { (title) }
        },
        Form::Disc(x, y, r, ink) => html! {
            circle cx=(num(*x)) cy=(num(*y)) r=(num(*r)) class=(fill(*ink)) { (title) }
        },
        Form::Ring(x, y, r, ink) => html! {
            circle cx=(num(*x)) cy=(num(*y)) r=(num(*r))
                class=(format!("f-page s-{}", ink.class())) stroke-width="1.8" { (title) }
        },
        Form::Cross(x, y, r, ink) => html! {
            path d=(cross(*x, *y, *r)) class=(stroke(*ink)) stroke-width="2.6" { (title) }
        },
        Form::Text(words) => text(words, &title),
    }
}

fn text(words: &Words, title: &Markup) -> Markup {
    let anchor = match words.anchor {
        Anchor::Start => None,
        Anchor::Middle => Some("middle"),
        Anchor::End => Some("end"),
    };
    let class = format!("{}{}", fill(words.ink), if words.bold { " b" } else { "" });
    html! {
        text x=(num(words.x)) y=(num(words.y)) font-size=(num(words.size)) class=(class)
            text-anchor=[anchor] { (words.text) (title) }
    }
}

fn fill(ink: Ink) -> String {
    format!("f-{}", ink.class())
}

fn stroke(ink: Ink) -> String {
    format!("l s-{}", ink.class())
}

fn path(points: &[(f64, f64)]) -> String {
    let mut d = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        let letter = if index == 0 { 'M' } else { 'L' };
        // Writing to a String cannot fail.
        let _ = write!(d, "{letter}{} {}", num(*x), num(*y));
    }
    d
}

fn cross(x: f64, y: f64, r: f64) -> String {
    let d = num(2.0 * r);
    format!("M{} {}l{d} {d}m0-{d}l-{d} {d}", num(x - r), num(y - r))
}

fn hatch(area: Area) -> String {
    super::picture::hatch_lines(area)
        .iter()
        .map(|(from, to)| path(&[*from, *to]))
        .collect()
}

/// A coordinate with one decimal and no trailing zero; anything that is not finite becomes 0.
fn num(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
