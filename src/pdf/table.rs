//! Rows: what stands side by side, and tables of it.
//!
//! The rule: rows stay whole unless that would leave half a sheet empty; heads come again on each new sheet.

use super::document::{Cell, Sign, Table};
use super::layout::{BELOW, CELL, COMPANY, Flow, HEAD, SIDE};
use super::sheet::{Node, Placed, Role, Style, Tone};

/// Between columns.
pub(super) const GUTTER: f32 = 9.0;
const ROW_PAD: f32 = 4.0;
const BARS_WIDTH: f32 = 17.0;
/// Heads are ours and short; a longer one is cut here.
const HEAD_LINES: usize = 3;

/// Lines of a cell on their way onto a sheet.
pub(super) struct Waiting {
    x: f32,
    indent: f32,
    sign: Option<Sign>,
    lines: std::collections::VecDeque<(String, Style)>,
    pub(super) place: usize,
}

impl Waiting {
    pub(super) fn height(&self) -> f32 {
        self.lines.iter().map(|(_, style)| style.leading).sum()
    }
}

/// The heads of a table.
pub(super) struct Heads {
    columns: Vec<HeadOf>,
    pub(super) height: f32,
}

/// The head of one column.
pub(super) struct HeadOf {
    x: f32,
    width: f32,
    lines: Vec<String>,
    place: usize,
}

impl Flow<'_> {
    pub(super) fn waiting(&mut self, cell: &Cell, x: f32, width: f32, style: Style) -> Waiting {
        let indent = match cell.sign {
            Some(Sign::Bars(_)) => BARS_WIDTH,
            Some(Sign::Late) | None => 0.0,
        };
        let tone = if cell.sign == Some(Sign::Late) { Tone::Critical } else { style.tone };
        let wrapped = |text: &str, style: Style| {
            let room = (width - indent).max(style.size) / style.size;
            let lines = self.fonts.wrap(style.weight, &self.fonts.plain(text), room);
            lines.into_iter().map(move |line| (line, style))
        };
        let mut lines: Vec<(String, Style)> = wrapped(&cell.text, Style { tone, ..style }).collect();
        if lines.is_empty() {
            lines.push(("–".to_owned(), style));
        }
        if !cell.below.is_empty() {
            if let Some((last, _)) = lines.last_mut() {
                last.push(' ');
            }
            let tone = if cell.sign == Some(Sign::Late) { Tone::Critical } else { BELOW.tone };
            lines.extend(wrapped(&cell.below, Style { tone, ..BELOW }));
        }
        Waiting { x, indent, sign: cell.sign, lines: lines.into(), place: self.place() }
    }

    /// Places a row whole if a sheet can hold it, else in parts. `heads` come again on each new sheet.
    pub(super) fn row(&mut self, mut cells: Vec<Waiting>, heads: Option<&Heads>) {
        let height = cells.iter().map(Waiting::height).fold(0.0, f32::max);
        let is_whole = height <= self.whole_max(heads.map_or(0.0, |heads| heads.height));
        let room = self.bottom() - self.y;
        if height > room && (is_whole || room < COMPANY) {
            self.next_sheet(heads);
        }
        loop {
            let (top, bottom) = (self.y, self.bottom());
            let mut lowest = top;
            for cell in &mut cells {
                let mut y = top;
                if let Some(Sign::Bars(filled)) = cell.sign.take() {
                    self.put(Placed::Bars { x: cell.x, y: y + 9.3, filled });
                }
                while let Some((_, style)) = cell.lines.front() {
                    // The first line always goes, so that the work comes to an end on any sheet.
                    if y + style.leading > bottom && y > top {
                        break;
                    }
                    let Some((text, style)) = cell.lines.pop_front() else { break };
                    if text.is_empty() {
                        y += style.leading * 0.5;
                        continue;
                    }
                    self.line(cell.x + cell.indent, y, text, style, Some(cell.place));
                    y += style.leading;
                }
                lowest = lowest.max(y);
            }
            self.y = lowest;
            if cells.iter().all(|cell| cell.lines.is_empty()) {
                return;
            }
            self.next_sheet(heads);
        }
    }

    fn next_sheet(&mut self, heads: Option<&Heads>) {
        self.new_sheet();
        if let Some(heads) = heads {
            self.heads(heads, false);
        }
    }

    /// The row of heads. It is read once; on later sheets it is an ornament.
    fn heads(&mut self, heads: &Heads, first: bool) {
        for column in &heads.columns {
            for (nth, line) in column.lines.iter().enumerate() {
                let top = self.y + nth as f32 * HEAD.leading;
                self.line(column.x, top, line.clone(), HEAD, first.then_some(column.place));
            }
        }
        self.y += heads.height - ROW_PAD;
        self.rule(Tone::Line);
        self.y += ROW_PAD;
    }

    pub(super) fn heads_of(&mut self, table: &Table) -> Heads {
        let shares: f32 = table.columns.iter().map(|column| column.share.max(0.1)).sum();
        let mut x = SIDE;
        let mut columns = Vec::new();
        for column in &table.columns {
            let width = column.share.max(0.1) / shares * (self.width() + GUTTER) - GUTTER;
            let mut lines =
                self.fonts.wrap(HEAD.weight, &self.fonts.plain_line(&column.head), width / HEAD.size);
            lines.truncate(HEAD_LINES);
            columns.push(HeadOf { x, width, lines, place: self.place() });
            x += width + GUTTER;
        }
        let tallest = columns.iter().map(|column| column.lines.len()).max().unwrap_or(0);
        Heads { columns, height: tallest as f32 * HEAD.leading + ROW_PAD + 3.0 }
    }

    pub(super) fn table(&mut self, table: &Table, company: f32) {
        let heads = self.heads_of(table);
        if heads.columns.iter().all(|column| column.lines.is_empty()) {
            return;
        }
        self.y += 2.0;
        self.need(company);
        self.heads(&heads, true);
        let named = heads.columns.iter().filter(|column| !column.lines.is_empty());
        let head_cells =
            named.map(|column| Node::Group(Role::ColumnHead, vec![Node::Text(column.place)])).collect();
        let mut rows = Vec::with_capacity(table.rows.len());
        for row in &table.rows {
            rows.push(self.table_row(row, &heads));
        }
        let mut parts = vec![Node::Group(Role::Heads, vec![Node::Group(Role::Row, head_cells)])];
        if !rows.is_empty() {
            parts.push(Node::Group(Role::Rows, rows));
        }
        self.laid.tree.push(Node::Group(Role::Table, parts));
        self.y += 4.0;
    }

    /// How high a row is: heads do not stand alone at the foot of a sheet.
    pub(super) fn height_of(&mut self, row: &[Cell], heads: &Heads) -> f32 {
        let pairs = row.iter().zip(&heads.columns);
        pairs.map(|(cell, head)| self.waiting(cell, 0.0, head.width, CELL).height()).fold(0.0, f32::max)
    }

    fn table_row(&mut self, row: &[Cell], heads: &Heads) -> Node {
        let empty = Cell::default();
        let mut waiting = Vec::with_capacity(heads.columns.len());
        let mut cells = Vec::with_capacity(heads.columns.len());
        for (nth, column) in heads.columns.iter().enumerate() {
            let cell = self.waiting(row.get(nth).unwrap_or(&empty), column.x, column.width, CELL);
            let role = if nth == 0 { Role::RowHead } else { Role::Cell };
            cells.push(Node::Group(role, vec![Node::Text(cell.place)]));
            waiting.push(cell);
        }
        self.row(waiting, Some(heads));
        self.y += ROW_PAD;
        self.rule(Tone::Hair);
        self.y += ROW_PAD;
        Node::Group(Role::Row, cells)
    }
}
