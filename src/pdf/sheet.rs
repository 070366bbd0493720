//! What the typesetter leaves behind: things placed on sheets, and the tree that says what they mean.
//!
//! The rule: every line of text either has a place in the tree or is said to be an ornament of the page.

use super::text::Weight;

/// A document, set: all that is needed to draw it.
#[derive(Debug, Default)]
pub struct Laid {
    /// Width and height of every sheet, in points.
    pub size: (f32, f32),
    /// What stands on each sheet.
    pub sheets: Vec<Vec<Placed>>,
    /// What it means, in reading order.
    pub tree: Vec<Node>,
    /// How many places the tree has.
    pub places: usize,
    /// Sections: name, number of the sheet from 0, height on it.
    pub bookmarks: Vec<(String, usize, f32)>,
}

/// Something on a sheet. Positions are from the upper left corner.
#[derive(Debug)]
pub enum Placed {
    /// A line of text; `y` is its foot line. Without a place in the tree it belongs to the page.
    Line { x: f32, y: f32, text: String, style: Style, place: Option<usize> },
    /// A hairline.
    Rule { x: f32, y: f32, width: f32, tone: Tone },
    /// Four bars, so many of them filled.
    Bars { x: f32, y: f32, filled: u8 },
    /// The service's emblem.
    Emblem { x: f32, y: f32, size: f32 },
}

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// Which font.
    pub weight: Weight,
    /// Its size in points.
    pub size: f32,
    /// From line to line.
    pub leading: f32,
    /// Its colour.
    pub tone: Tone,
}

/// The workspace's colours, as on paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Text.
    Ink,
    /// Second text, names.
    Soft,
    /// Hints and times.
    Faint,
    /// Lines that divide.
    Line,
    /// Lines between rows.
    Hair,
    /// The accent.
    Accent,
    /// Critical; late.
    Critical,
    /// High.
    High,
    /// Medium.
    Medium,
    /// Low.
    Low,
}

impl Tone {
    /// Red, green and blue.
    pub fn rgb(self) -> (u8, u8, u8) {
        match self {
            Tone::Ink => (0x19, 0x20, 0x1e),
            Tone::Soft => (0x47, 0x50, 0x4d),
            Tone::Faint => (0x5e, 0x68, 0x64),
            Tone::Line => (0xcd, 0xd1, 0xca),
            Tone::Hair => (0xe2, 0xe4, 0xde),
            Tone::Accent => (0x0b, 0x55, 0x63),
            Tone::Critical => (0x9a, 0x16, 0x31),
            Tone::High => (0xa2, 0x44, 0x0a),
            Tone::Medium => (0x75, 0x59, 0x00),
            Tone::Low => (0x34, 0x60, 0x8a),
        }
    }

    /// The colour of so many bars.
    pub fn of_bars(filled: u8) -> Tone {
        match filled {
            0 => Tone::Faint,
            1 => Tone::Low,
            2 => Tone::Medium,
            3 => Tone::High,
            4.. => Tone::Critical,
        }
    }
}

/// A part of the tree.
#[derive(Debug)]
pub enum Node {
    /// Something that holds others.
    Group(Role, Vec<Node>),
    /// Text: the number of its place.
    Text(usize),
}

/// What a part of a document is, to somebody who hears it read.
#[derive(Debug)]
pub enum Role {
    /// The title.
    Title(String),
    /// The head of a section.
    Heading(String),
    /// Text.
    Paragraph,
    /// Names and values.
    Facts,
    /// One of them.
    Fact,
    /// A name.
    Name,
    /// A value.
    Value,
    /// A table.
    Table,
    /// The row of heads.
    Heads,
    /// All other rows.
    Rows,
    /// A row.
    Row,
    /// The head of a column.
    ColumnHead,
    /// The cell that names its row.
    RowHead,
    /// Any other cell.
    Cell,
}
