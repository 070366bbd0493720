//! From set sheets to the bytes of a PDF file, by krilla.
//!
//! The rule: the file is a tagged one, and the library's own checks of PDF/UA-1 and PDF/A-2a pass, or there is
//! no file. Same sheets, same bytes.

use super::document::Document;
use super::sheet::{Laid, Node, Placed, Role, Style, Tone};
use super::text::{FONTS, Fonts, Weight};
use super::words;
use crate::error::Error;
use krilla::color::rgb;
use krilla::configure::{Accessibility, Archival, ConfigurationBuilder};
use krilla::destination::XyzDestination;
use krilla::geom::{Path, PathBuilder, Point, Rect};
use krilla::metadata::{DateTime, Metadata};
use krilla::num::NormalizedF32;
use krilla::outline::{Outline, OutlineNode};
use krilla::page::PageSettings;
use krilla::paint::{Fill, LineCap, Stroke};
use krilla::surface::Surface;
use krilla::tagging::{
    Artifact, ArtifactType, ContentTag, Identifier, ListNumbering, Node as TagNode, TableHeaderScope, Tag,
    TagGroup, TagKind, TagTree,
};
use krilla::text::{Font, GlyphId, KrillaGlyph};
use krilla::{Data, SerializeSettings};
use std::num::NonZeroU16;

/// The service's emblem, on a square of 24: moves, lines and curves.
const EMBLEM: [&[(f32, f32)]; 4] = [
    &[(12.0, 2.5), (12.0, 10.5)],
    &[(12.0, 10.5), (12.0, 16.0), (5.5, 15.0), (4.5, 21.0)],
    &[(12.0, 10.5), (12.0, 16.0), (18.5, 15.0), (19.5, 21.0)],
    &[(12.0, 10.5), (12.0, 21.5)],
];

/// Writes the file.
pub fn write(document: &Document, laid: &Laid, fonts: &Fonts) -> Result<Vec<u8>, Error> {
    let failed = |doing: &str, cause: &dyn std::fmt::Debug| Error::internal(doing, format!("{cause:?}"));
    let configuration = ConfigurationBuilder::new()
        .with_accessibility_validator(Accessibility::UA1)
        .with_archival_validator(Archival::A2_A)
        .finish()
        .map_err(|cause| failed("choosing the PDF standard", &cause))?;
    let settings = SerializeSettings { configuration, enable_tagging: true, ..SerializeSettings::default() };
    let mut file = krilla::Document::new_with(settings);
    let mut drawing = Drawing { fonts, faces: faces()?, places: vec![Vec::new(); laid.places] };
    for sheet in &laid.sheets {
        let size = PageSettings::from_wh(laid.size.0, laid.size.1);
        let mut page =
            file.start_page_with(size.ok_or_else(|| Error::internal("setting a page", "its size"))?);
        let mut surface = page.surface();
        drawing.sheet(&mut surface, sheet);
        surface.finish();
        page.finish();
    }
    file.set_metadata(metadata(document, fonts));
    file.set_outline(outline(laid));
    let mut tree = TagTree::new();
    for node in &laid.tree {
        for tag in tags(node, &drawing.places) {
            tree.push(tag);
        }
    }
    file.set_tag_tree(tree);
    file.finish().map_err(|cause| failed("writing a PDF", &cause))
}

fn faces() -> Result<[Font; 2], Error> {
    let face = |bytes: &'static [u8]| {
        Font::new(Data::from(bytes), 0).ok_or_else(|| Error::internal("reading a font", "damaged"))
    };
    Ok([face(FONTS[0])?, face(FONTS[1])?])
}

fn metadata(document: &Document, fonts: &Fonts) -> Metadata {
    let short = |text: &str| fonts.plain_line(text).chars().take(400).collect::<String>();
    let [year, month, day, hour, minute, second] = words::parts(document.printed_at);
    let part = |number: u16| u8::try_from(number).unwrap_or(0);
    let printed = DateTime::new(year)
        .month(part(month))
        .day(part(day))
        .hour(part(hour))
        .minute(part(minute))
        .second(part(second))
        .utc_offset_hour(0)
        .utc_offset_minute(0);
    let title = match short(&document.title) {
        none if none.is_empty() => document.kind.clone(),
        title => title,
    };
    Metadata::new()
        .title(title)
        .language(document.language.to_owned())
        .creator("Holdfast".to_owned())
        .authors(vec![short(&document.tenant)])
        .description(document.kind.clone())
        .creation_date(printed)
}

fn outline(laid: &Laid) -> Outline {
    let mut outline = Outline::new();
    for (name, sheet, y) in &laid.bookmarks {
        let name = if name.is_empty() { "–" } else { name };
        let target = XyzDestination::new(*sheet, Point::from_xy(0.0, (y - 12.0).max(0.0)));
        outline.push_child(OutlineNode::new(name.to_owned(), target));
    }
    outline
}

/// The tags of a part of the tree. What was never drawn has none.
fn tags(node: &Node, places: &[Vec<Identifier>]) -> Vec<TagNode> {
    match node {
        Node::Text(place) => places
            .get(*place)
            .map(|ids| ids.iter().map(|id| TagNode::Leaf(*id)).collect())
            .unwrap_or_default(),
        Node::Group(role, nodes) => {
            let children: Vec<TagNode> = nodes.iter().flat_map(|node| tags(node, places)).collect();
            match children.is_empty() {
                true => Vec::new(),
                false => vec![TagNode::Group(TagGroup::with_children(tag(role), children))],
            }
        }
    }
}

fn tag(role: &Role) -> TagKind {
    let level = |number: u16| NonZeroU16::new(number).unwrap_or(NonZeroU16::MIN);
    match role {
        Role::Title(text) => Tag::Hn(level(1), Some(text.clone())).into(),
        Role::Heading(text) => Tag::Hn(level(2), Some(text.clone())).into(),
        Role::Paragraph => Tag::P.into(),
        Role::Facts => Tag::L(ListNumbering::None).into(),
        Role::Fact => Tag::LI.into(),
        Role::Name => Tag::Lbl.into(),
        Role::Value => Tag::LBody.into(),
        Role::Table => Tag::Table.into(),
        Role::Heads => Tag::THead.into(),
        Role::Rows => Tag::TBody.into(),
        Role::Row => Tag::TR.into(),
        Role::ColumnHead => Tag::TH(TableHeaderScope::Column).into(),
        Role::RowHead => Tag::TH(TableHeaderScope::Row).into(),
        Role::Cell => Tag::TD.into(),
    }
}

/// Sheets on their way into the file.
struct Drawing<'a> {
    fonts: &'a Fonts,
    faces: [Font; 2],
    places: Vec<Vec<Identifier>>,
}

impl Drawing<'_> {
    fn sheet(&mut self, surface: &mut Surface, sheet: &[Placed]) {
        let mut open: Option<Option<usize>> = None;
        for thing in sheet {
            let place = match thing {
                Placed::Line { place, .. } => *place,
                Placed::Rule { .. } | Placed::Bars { .. } | Placed::Emblem { .. } => None,
            };
            if open != Some(place) {
                if open.is_some() {
                    surface.end_tagged();
                }
                self.begin(surface, place);
                open = Some(place);
            }
            match thing {
                Placed::Line { x, y, text, style, .. } => self.line(surface, (*x, *y), text, *style),
                Placed::Rule { x, y, width, tone } => fill(surface, (*x, *y, *width, 0.6), *tone),
                Placed::Bars { x, y, filled } => bars(surface, *x, *y, *filled),
                Placed::Emblem { x, y, size } => emblem(surface, *x, *y, *size),
            }
        }
        if open.is_some() {
            surface.end_tagged();
        }
    }

    fn begin(&mut self, surface: &mut Surface, place: Option<usize>) {
        match place.and_then(|place| self.places.get_mut(place)) {
            Some(ids) => ids.push(surface.start_tagged(ContentTag::Other)),
            None => {
                surface
                    .start_tagged(ContentTag::Artifact(Artifact::with_kind(ArtifactType::PaginationOther)));
            }
        }
    }

    fn line(&self, surface: &mut Surface, (x, y): (f32, f32), text: &str, style: Style) {
        let mut glyphs = Vec::with_capacity(text.len());
        let mut at = 0;
        for (nth, word) in text.split(' ').enumerate() {
            if nth > 0 {
                self.add(&mut glyphs, style.weight, " ", at);
                at += 1;
            }
            self.add(&mut glyphs, style.weight, word, at);
            at += word.len();
        }
        surface.set_stroke(None);
        surface.set_fill(Some(paint(style.tone)));
        let face = self.faces[style.weight as usize].clone();
        surface.draw_glyphs(Point::from_xy(x, y), &glyphs, face, text, style.size, false);
    }

    fn add(&self, glyphs: &mut Vec<KrillaGlyph>, weight: Weight, word: &str, at: usize) {
        for glyph in &self.fonts.shape(weight, word).glyphs {
            let range = glyph.range.start + at..glyph.range.end + at;
            let (right, up) = glyph.offset;
            glyphs.push(KrillaGlyph::new(GlyphId::new(glyph.id), glyph.advance, right, up, 0.0, range, None));
        }
    }
}

fn colour(tone: Tone) -> rgb::Color {
    let (red, green, blue) = tone.rgb();
    rgb::Color::new(red, green, blue)
}

fn paint(tone: Tone) -> Fill {
    Fill { paint: colour(tone).into(), opacity: NormalizedF32::ONE, ..Fill::default() }
}

fn draw(surface: &mut Surface, path: Option<Path>) {
    if let Some(path) = path {
        surface.draw_path(&path);
    }
}

fn fill(surface: &mut Surface, (x, y, width, height): (f32, f32, f32, f32), tone: Tone) {
    let Some(area) = Rect::from_xywh(x, y, width, height) else { return };
    surface.set_stroke(None);
    surface.set_fill(Some(paint(tone)));
    let mut path = PathBuilder::new();
    path.push_rect(area);
    draw(surface, path.finish());
}

fn bars(surface: &mut Surface, x: f32, y: f32, filled: u8) {
    for nth in 0..4_u8 {
        let height = 2.6 + 1.5 * f32::from(nth);
        let tone = if nth < filled { Tone::of_bars(filled) } else { Tone::Line };
        fill(surface, (x + 3.2 * f32::from(nth), y - height, 2.2, height), tone);
    }
}

fn emblem(surface: &mut Surface, x: f32, y: f32, size: f32) {
    let at = |(right, down): (f32, f32)| (x + right * size / 24.0, y + down * size / 24.0);
    let mut path = PathBuilder::new();
    for stroke in EMBLEM {
        let points: Vec<(f32, f32)> = stroke.iter().map(|point| at(*point)).collect();
        match points.as_slice() {
            [from, to] => {
                path.move_to(from.0, from.1);
                path.line_to(to.0, to.1);
            }
            [from, one, two, to] => {
                path.move_to(from.0, from.1);
                path.cubic_to(one.0, one.1, two.0, two.1, to.0, to.1);
            }
            _ => {}
        }
    }
    surface.set_fill(None);
    surface.set_stroke(Some(Stroke {
        paint: colour(Tone::Accent).into(),
        width: size / 12.0,
        line_cap: LineCap::Round,
        ..Stroke::default()
    }));
    draw(surface, path.finish());
}
