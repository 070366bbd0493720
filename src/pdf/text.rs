//! From text to lines: what the fonts can show, how wide it is, and where it breaks.
//!
//! The rule: any text may come, and none panics. A character that the fonts lack becomes `�`; one that shows
//! nothing is left away.

use crate::error::Error;
use rustybuzz::{Direction, Feature, UnicodeBuffer, ttf_parser};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// Shown for what the fonts lack.
pub const MISSING: char = '\u{fffd}';
/// More marks than this on one letter are no writing.
const MARKS_MAX: usize = 4;
/// Shaped words that are kept; then the memory begins anew.
const KEPT_MAX: usize = 8_192;
/// A longer word hardly comes twice.
const KEPT_BYTES: usize = 48;

/// The two fonts, subsets of DejaVu Sans.
pub static FONTS: [&[u8]; 2] = [
    include_bytes!("../../data/fonts/DejaVuSans.ttf"),
    include_bytes!("../../data/fonts/DejaVuSans-Bold.ttf"),
];

/// Which font.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// For reading.
    Regular,
    /// For heads and names.
    Bold,
}

/// A glyph with its advance and offsets in parts of the font's size.
#[derive(Clone, Debug)]
pub struct Glyph {
    /// Its number in the font.
    pub id: u32,
    /// The bytes of the word that it stands for.
    pub range: Range<usize>,
    /// How far the next one is.
    pub advance: f32,
    /// How far it is moved to the right, and up.
    pub offset: (f32, f32),
}

/// A word as glyphs.
#[derive(Debug, Default)]
pub struct Shaped {
    /// In order.
    pub glyphs: Vec<Glyph>,
    /// The sum of the advances.
    pub width: f32,
}

/// The fonts, ready to measure.
pub struct Fonts {
    faces: [rustybuzz::Face<'static>; 2],
    kept: RefCell<[HashMap<Box<str>, Rc<Shaped>>; 2]>,
    space: [f32; 2],
    missed: Cell<bool>,
}

impl Fonts {
    /// Reads the fonts.
    pub fn new() -> Result<Fonts, Error> {
        let face = |bytes: &'static [u8]| {
            rustybuzz::Face::from_slice(bytes, 0).ok_or_else(|| Error::internal("reading a font", "damaged"))
        };
        let mut fonts = Fonts {
            faces: [face(FONTS[0])?, face(FONTS[1])?],
            kept: RefCell::default(),
            space: [0.0; 2],
            missed: Cell::new(false),
        };
        fonts.space =
            [Weight::Regular, Weight::Bold].map(|weight| fonts.shape_anew(" ", weight as usize).width);
        Ok(fonts)
    }

    /// Was there a character that the fonts lack?
    pub fn missed(&self) -> bool {
        self.missed.get()
    }

    /// The text as the fonts can show it; lines end with `\n`, gaps are single spaces' matter.
    pub fn plain(&self, text: &str) -> String {
        let mut plain = String::with_capacity(text.len());
        let (mut marks, mut after_return) = (0, false);
        for char in text.chars() {
            let newline_done = after_return && char == '\n';
            after_return = char == '\r';
            if newline_done || is_invisible(char) {
                continue;
            }
            marks = if is_mark(char) { marks + 1 } else { 0 };
            match char {
                '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => plain.push('\n'),
                '\t'
                | '\u{1680}'
                | '\u{2000}'..='\u{2006}'
                | '\u{2008}'..='\u{200a}'
                | '\u{205f}'
                | '\u{3000}' => {
                    plain.push(' ');
                }
                _ if marks <= MARKS_MAX && self.knows(char) => plain.push(char),
                _ => {
                    self.missed.set(true);
                    plain.push(MISSING);
                }
            }
        }
        plain
    }

    /// One line of it, for places that hold no more.
    pub fn plain_line(&self, text: &str) -> String {
        self.plain(text).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn knows(&self, char: char) -> bool {
        !char.is_control()
            && !is_turning(char)
            && self.faces.iter().all(|face| face.glyph_index(char).is_some_and(|glyph| glyph.0 != 0))
    }

    /// A word as glyphs.
    pub fn shape(&self, weight: Weight, word: &str) -> Rc<Shaped> {
        let face = weight as usize;
        if let Some(shaped) = self.kept.borrow()[face].get(word) {
            return Rc::clone(shaped);
        }
        let shaped = Rc::new(self.shape_anew(word, face));
        if word.len() <= KEPT_BYTES {
            let kept = &mut self.kept.borrow_mut()[face];
            if kept.len() >= KEPT_MAX {
                kept.clear();
            }
            kept.insert(word.into(), Rc::clone(&shaped));
        }
        shaped
    }

    fn shape_anew(&self, word: &str, face: usize) -> Shaped {
        let mut buffer = UnicodeBuffer::new();
        buffer.push_str(word);
        buffer.guess_segment_properties();
        buffer.set_direction(Direction::LeftToRight);
        // A ligature is one glyph for two letters, of which a reader's search would find neither.
        let no_ligatures = Feature::new(ttf_parser::Tag::from_bytes(b"liga"), 0, ..);
        let face = &self.faces[face];
        let units = face.units_per_em() as f32;
        let output = rustybuzz::shape(face, &[no_ligatures], buffer);
        let (infos, positions) = (output.glyph_infos(), output.glyph_positions());
        let mut shaped = Shaped::default();
        for (at, (info, position)) in infos.iter().zip(positions).enumerate() {
            let start = info.cluster as usize;
            let next = infos[at..].iter().map(|later| later.cluster as usize).find(|later| *later > start);
            let advance = position.x_advance as f32 / units;
            shaped.glyphs.push(Glyph {
                id: info.glyph_id,
                range: start..next.unwrap_or(word.len()),
                advance,
                offset: (position.x_offset as f32 / units, position.y_offset as f32 / units),
            });
            shaped.width += advance;
        }
        shaped
    }

    /// The advance of a space, in parts of the size.
    pub fn space(&self, weight: Weight) -> f32 {
        self.space[weight as usize]
    }

    /// How wide a line is, in parts of the size.
    pub fn width(&self, weight: Weight, line: &str) -> f32 {
        let words = line.split(' ');
        words.map(|word| self.shape(weight, word).width + self.space(weight)).sum::<f32>()
            - self.space(weight)
    }

    /// Breaks plain text into lines that fit `width` (in parts of the size). A line that goes on after a gap
    /// ends with a space, so that whoever copies the text gets whole words; an empty line is a gap.
    pub fn wrap(&self, weight: Weight, plain: &str, width: f32) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for paragraph in plain.trim().split('\n') {
            let mut filling =
                Filling { fonts: self, weight, width, lines: &mut lines, line: String::new(), used: 0.0 };
            let mut words = paragraph.split(' ').filter(|word| !word.is_empty()).peekable();
            if words.peek().is_none() {
                if filling.lines.last().is_some_and(|line| !line.is_empty()) {
                    filling.lines.push(String::new());
                }
                continue;
            }
            for word in words {
                for (nth, piece) in pieces(word).enumerate() {
                    filling.add(piece, nth == 0);
                }
            }
            filling.end(true);
        }
        if let Some(last) = lines.last_mut() {
            last.truncate(last.trim_end().len());
        }
        lines
    }

    /// The text cut to a width, with an ellipsis if something is missing.
    pub fn cut(&self, weight: Weight, line: &str, width: f32) -> String {
        if self.width(weight, line) <= width {
            return line.to_owned();
        }
        let mut cut: String = line.chars().take(400).collect();
        while !cut.is_empty() && self.width(weight, &cut) + self.width(weight, "…") > width {
            cut.pop();
        }
        cut.trim_end().to_owned() + "…"
    }
}

/// A paragraph on its way into lines.
struct Filling<'a> {
    fonts: &'a Fonts,
    weight: Weight,
    width: f32,
    lines: &'a mut Vec<String>,
    line: String,
    used: f32,
}

impl Filling<'_> {
    /// Adds a piece of a word: the first one stands behind a space.
    fn add(&mut self, piece: &str, begins_word: bool) {
        let shaped = self.fonts.shape(self.weight, piece);
        let gap = if begins_word && !self.line.is_empty() { self.fonts.space(self.weight) } else { 0.0 };
        if self.used + gap + shaped.width > self.width && !self.line.is_empty() {
            self.end(begins_word);
        } else if gap > 0.0 {
            self.line.push(' ');
            self.used += gap;
        }
        if shaped.width <= self.width {
            self.line.push_str(piece);
            self.used += shaped.width;
            return;
        }
        self.chop(piece, &shaped);
    }

    /// Breaks a piece that is longer than a line, between letters and never before a mark.
    fn chop(&mut self, piece: &str, shaped: &Shaped) {
        let mut at = 0;
        while let Some(glyph) = shaped.glyphs.get(at) {
            let same = |other: &&Glyph| other.range.start == glyph.range.start;
            let letter = shaped.glyphs[at..].iter().take_while(same);
            let (count, advance) =
                letter.fold((0, 0.0), |(count, sum), part| (count + 1, sum + part.advance));
            if self.used + advance > self.width && !self.line.is_empty() {
                self.end(false);
            }
            self.line.push_str(piece.get(glyph.range.clone()).unwrap_or_default());
            self.used += advance;
            at += count;
        }
    }

    fn end(&mut self, with_space: bool) {
        let mut line = std::mem::take(&mut self.line);
        if with_space {
            line.push(' ');
        }
        self.lines.push(line);
        self.used = 0.0;
    }
}

/// A word in pieces between which a line may end: behind a hyphen between letters.
fn pieces(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let hyphen = rest.match_indices('-').find(|(at, _)| {
            let before = rest[..*at].chars().next_back().is_some_and(char::is_alphabetic);
            before && rest[at + 1..].chars().next().is_some_and(char::is_alphabetic)
        });
        let end = hyphen.map_or(rest.len(), |(at, _)| at + 1);
        let (piece, later) = rest.split_at(end);
        rest = later;
        Some(piece)
    })
}

/// Marks that stand on the letter before them.
fn is_mark(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36f}')
}

/// Shows nothing, in a browser either.
fn is_invisible(char: char) -> bool {
    matches!(char, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}')
}

/// Turns the direction of the text after it: what one reads would not be what stands there.
fn is_turning(char: char) -> bool {
    matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2061}'..='\u{206f}')
}
