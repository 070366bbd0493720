//! The typesetter: from a document to sheets.
//!
//! The rule: whatever comes, it goes on. A line that does not fit begins a new sheet, a row that fits on no
//! sheet is broken, and a heading never stands alone at the foot.

use super::document::{Block, Document, Fact, SheetForm};
use super::sheet::{Laid, Node, Placed, Role, Style, Tone};
use super::table::GUTTER;
use super::text::{Fonts, MISSING, Weight};
use super::words::put_in;

const A4: (f32, f32) = (595.28, 841.89);
pub(super) const SIDE: f32 = 45.0;
const TOP: f32 = 42.0;
/// Where the text begins below the running head.
const BODY_TOP: f32 = 72.0;
const FOOT: f32 = 64.0;
const NAME_WIDTH: f32 = 118.0;
/// What a heading needs below it.
pub(super) const COMPANY: f32 = 58.0;

const fn style(weight: Weight, size: f32, leading: f32, tone: Tone) -> Style {
    Style { weight, size, leading, tone }
}
const KIND: Style = style(Weight::Bold, 8.5, 14.0, Tone::Accent);
const TITLE: Style = style(Weight::Bold, 16.0, 22.0, Tone::Ink);
const LEAD: Style = style(Weight::Regular, 9.5, 15.0, Tone::Soft);
const HEADING: Style = style(Weight::Bold, 11.0, 16.0, Tone::Ink);
const BODY: Style = style(Weight::Regular, 9.0, 13.5, Tone::Ink);
const NAME: Style = style(Weight::Regular, 8.5, 13.5, Tone::Faint);
const REMARK: Style = style(Weight::Regular, 8.0, 12.0, Tone::Faint);
pub(super) const HEAD: Style = style(Weight::Bold, 7.5, 11.0, Tone::Soft);
pub(super) const CELL: Style = style(Weight::Regular, 8.0, 11.5, Tone::Ink);
pub(super) const BELOW: Style = style(Weight::Regular, 7.0, 10.0, Tone::Faint);
const RUNNING: Style = style(Weight::Regular, 7.5, 11.0, Tone::Faint);
const BRAND: Style = style(Weight::Bold, 9.5, 14.0, Tone::Ink);

/// Sets a document.
pub fn set(document: &Document, fonts: &Fonts) -> Laid {
    let size = match document.sheet {
        SheetForm::Upright => A4,
        SheetForm::Across => (A4.1, A4.0),
    };
    let laid = Laid { size, sheets: vec![Vec::new()], ..Laid::default() };
    let mut flow = Flow { fonts, laid, y: TOP };
    flow.title_block(document);
    for (nth, block) in document.blocks.iter().enumerate() {
        flow.block(block, document.blocks.get(nth + 1));
    }
    if fonts.missed() {
        let says = put_in(document.missing, &[("sign", &MISSING.to_string())]);
        flow.block(&Block::Remark(says), None);
    }
    flow.running_lines(document);
    flow.laid
}

/// A document on its way onto sheets.
pub(super) struct Flow<'a> {
    pub(super) fonts: &'a Fonts,
    pub(super) laid: Laid,
    pub(super) y: f32,
}

impl Flow<'_> {
    pub(super) fn width(&self) -> f32 {
        self.laid.size.0 - 2.0 * SIDE
    }

    pub(super) fn bottom(&self) -> f32 {
        self.laid.size.1 - FOOT
    }

    pub(super) fn put(&mut self, thing: Placed) {
        if let Some(sheet) = self.laid.sheets.last_mut() {
            sheet.push(thing);
        }
    }

    pub(super) fn rule(&mut self, tone: Tone) {
        let (y, width) = (self.y, self.width());
        self.put(Placed::Rule { x: SIDE, y, width, tone });
    }

    pub(super) fn line(&mut self, x: f32, top: f32, text: String, style: Style, place: Option<usize>) {
        let y = top + style.leading / 2.0 + style.size * 0.345;
        self.put(Placed::Line { x, y, text, style, place });
    }

    pub(super) fn new_sheet(&mut self) {
        self.laid.sheets.push(Vec::new());
        self.y = BODY_TOP;
    }

    /// Begins a new sheet unless so much room is left; never two in a row.
    pub(super) fn need(&mut self, height: f32) {
        if self.y + height > self.bottom() && self.y > BODY_TOP {
            self.new_sheet();
        }
    }

    pub(super) fn place(&mut self) -> usize {
        self.laid.places += 1;
        self.laid.places - 1
    }

    /// Text over the whole width, a paragraph for each part between gaps.
    fn text(&mut self, text: &str, style: Style, role: fn() -> Role) {
        let lines = self.fonts.wrap(style.weight, &self.fonts.plain(text), self.width() / style.size);
        let lines = if lines.is_empty() { vec!["–".to_owned()] } else { lines };
        let paragraphs: Vec<&[String]> = lines.split(|line| line.is_empty()).collect();
        for (nth, paragraph) in paragraphs.into_iter().enumerate() {
            let place = self.place();
            if nth > 0 {
                self.y += style.leading * 0.5;
            }
            self.need(style.leading * paragraph.len().min(2) as f32);
            for line in paragraph {
                self.need(style.leading);
                self.line(SIDE, self.y, line.clone(), style, Some(place));
                self.y += style.leading;
            }
            self.laid.tree.push(Node::Group(role(), vec![Node::Text(place)]));
        }
    }

    fn title_block(&mut self, document: &Document) {
        let plain = |text: &str| self.fonts.plain_line(text);
        let tenant = plain(&document.tenant);
        let title = Some(plain(&document.title)).filter(|title| !title.is_empty());
        let title = title.unwrap_or_else(|| document.kind.clone());
        let short = self.fonts.cut(RUNNING.weight, &tenant, self.width() * 0.6 / RUNNING.size);
        let right = self.laid.size.0 - SIDE - self.fonts.width(RUNNING.weight, &short) * RUNNING.size;
        self.put(Placed::Emblem { x: SIDE - 2.0, y: self.y, size: 15.0 });
        self.line(SIDE + 15.0, self.y, "Holdfast".into(), BRAND, None);
        self.line(right, self.y + 1.5, short, RUNNING, None);
        self.y += 20.0;
        self.rule(Tone::Accent);
        self.y += 20.0;
        self.text(&document.kind, KIND, || Role::Paragraph);
        let from = self.laid.tree.len();
        self.text(&title, TITLE, || Role::Paragraph);
        let texts = self.laid.tree.drain(from..).flat_map(inner).collect();
        let name: String = title.chars().take(255).collect();
        self.laid.tree.push(Node::Group(Role::Title(name.clone()), texts));
        self.laid.bookmarks.push((name, 0, TOP));
        if !document.lead.is_empty() {
            self.y += 2.0;
            self.text(&document.lead, LEAD, || Role::Paragraph);
        }
        self.y += 10.0;
        let on_one_line =
            |fact: &Fact| Fact { name: fact.name.clone(), value: plain(&fact.value.text).into() };
        let facts: Vec<Fact> = document.facts.iter().map(on_one_line).collect();
        self.rule(Tone::Line);
        self.y += 5.0;
        self.facts(&facts);
        self.y += 5.0;
        self.rule(Tone::Line);
    }

    fn block(&mut self, block: &Block, next: Option<&Block>) {
        match block {
            Block::Heading(text) => self.heading(text, next),
            Block::Facts(facts) => self.facts(facts),
            Block::Paragraph(text) => {
                self.text(text, BODY, || Role::Paragraph);
                self.y += 4.0;
            }
            Block::Remark(text) => {
                self.y += 4.0;
                self.text(text, REMARK, || Role::Paragraph);
                self.y += 4.0;
            }
            Block::Table(table) => {
                let company = self.company(Some(block));
                self.table(table, company);
            }
        }
    }

    fn heading(&mut self, text: &str, next: Option<&Block>) {
        self.y += 16.0;
        let company = self.company(next);
        self.need(HEADING.leading + 6.0 + company.max(COMPANY));
        let name = match self.fonts.plain_line(text) {
            none if none.is_empty() => "–".to_owned(),
            name => name,
        };
        let bookmark = (name.clone(), self.laid.sheets.len() - 1, self.y);
        self.laid.bookmarks.push(bookmark);
        let from = self.laid.tree.len();
        self.text(&name, HEADING, || Role::Paragraph);
        let texts = self.laid.tree.drain(from..).flat_map(inner).collect();
        self.laid.tree.push(Node::Group(Role::Heading(name), texts));
        self.y += 3.0;
    }

    /// How much of what follows has to stand on the sheet of its heading.
    fn company(&mut self, next: Option<&Block>) -> f32 {
        let (heads, row) = match next {
            Some(Block::Table(table)) => {
                let heads = self.heads_of(table);
                let row = table.rows.first().map_or(0.0, |row| self.height_of(row, &heads));
                (heads.height, row)
            }
            Some(Block::Facts(facts)) => {
                let width = self.width() - NAME_WIDTH;
                (0.0, facts.first().map_or(0.0, |fact| self.waiting(&fact.value, 0.0, width, BODY).height()))
            }
            Some(Block::Heading(_) | Block::Paragraph(_) | Block::Remark(_)) | None => (0.0, 0.0),
        };
        // A row that may be broken needs no more than a few lines here.
        let row = if row > self.whole_max(heads) { COMPANY } else { row };
        heads + row
    }

    /// The highest row that is kept whole, below heads of that height. A higher one would leave half a sheet empty.
    pub(super) fn whole_max(&self, heads: f32) -> f32 {
        (self.bottom() - BODY_TOP - heads) * 0.75
    }

    fn facts(&mut self, facts: &[Fact]) {
        let mut items = Vec::new();
        for fact in facts {
            let value_width = self.width() - NAME_WIDTH;
            let name = self.waiting(&fact.name.as_str().into(), SIDE, NAME_WIDTH - GUTTER, NAME);
            let value = self.waiting(&fact.value, SIDE + NAME_WIDTH, value_width, BODY);
            let (name_place, value_place) = (name.place, value.place);
            self.row(vec![name, value], None);
            items.push(Node::Group(
                Role::Fact,
                vec![
                    Node::Group(Role::Name, vec![Node::Text(name_place)]),
                    Node::Group(Role::Value, vec![Node::Text(value_place)]),
                ],
            ));
        }
        if !items.is_empty() {
            self.laid.tree.push(Node::Group(Role::Facts, items));
        }
    }

    /// Head and foot of each sheet: whose it is, what it is, which of how many.
    fn running_lines(&mut self, document: &Document) {
        let (fonts, width, height) = (self.fonts, self.laid.size.0, self.laid.size.1);
        let wide = |text: &str| fonts.width(RUNNING.weight, text) * RUNNING.size;
        let cut = |text: &str, part: f32| {
            fonts.cut(RUNNING.weight, &fonts.plain_line(text), (width - 2.0 * SIDE) * part / RUNNING.size)
        };
        let title = cut(&document.title, 0.6);
        let tenant = cut(&document.tenant, 0.35);
        let foot = cut(&document.foot, 0.85);
        let total = self.laid.sheets.len();
        for number in 1..=total {
            let Some(sheet) = self.laid.sheets.get_mut(number - 1) else { continue };
            let mut put = |x: f32, y: f32, text: &str| {
                sheet.push(Placed::Line { x, y, text: text.to_owned(), style: RUNNING, place: None });
            };
            let page =
                put_in(document.sheet_of, &[("n", &number.to_string()), ("total", &total.to_string())]);
            if number > 1 {
                put(SIDE, TOP + 8.0, &title);
                put(width - SIDE - wide(&tenant), TOP + 8.0, &tenant);
            }
            put(SIDE, height - 36.0, &foot);
            put(width - SIDE - wide(&page), height - 36.0, &page);
            let rules = [(number > 1).then_some(TOP + 15.0), Some(height - 48.0)];
            for y in rules.into_iter().flatten() {
                sheet.push(Placed::Rule { x: SIDE, y, width: width - 2.0 * SIDE, tone: Tone::Line });
            }
        }
    }
}

fn inner(node: Node) -> Vec<Node> {
    match node {
        Node::Group(_, nodes) => nodes,
        Node::Text(place) => vec![Node::Text(place)],
    }
}
