//! Documents that one can hand to an auditor: what stands in them, how they are set, and their PDF files.
//!
//! The rule: nothing is looked up here. Objects, names, words, the reader and the time are handed in, so the same input
//! gives the same bytes. It knows neither the store nor HTTP.
//!
//! `report` says what stands in the document of each noun, `layout` sets it, `render` writes the file.

pub mod document;
mod layout;
mod render;
pub mod report;
mod sheet;
mod table;
mod text;
pub mod words;

use crate::error::Error;
use document::Document;

/// The file of a document.
pub fn render(document: &Document) -> Result<Vec<u8>, Error> {
    let fonts = text::Fonts::new()?;
    let laid = layout::set(document, &fonts);
    render::write(document, &laid, &fonts)
}

#[cfg(test)]
mod tests {
    use super::document::{Block, Cell, Column, Fact, SheetForm, Sign, Table};
    use super::sheet::{Laid, Placed};
    use super::text::{Fonts, Weight};
    use super::*;
    use proptest::prelude::*;

    fn sample(title: &str, blocks: Vec<Block>) -> Document {
        Document {
            kind: "Finding".to_owned(),
            title: title.to_owned(),
            lead: "High · Open".to_owned(),
            facts: vec![Fact { name: "Reference".into(), value: "fnd_1".into() }],
            tenant: "Altmoor".to_owned(),
            printed_at: 1_794_729_600_000,
            foot: "Printed by Mara".to_owned(),
            sheet_of: "{n} of {total}",
            missing: "{sign} stands for something else.",
            language: "en",
            sheet: SheetForm::Upright,
            blocks,
        }
    }

    fn laid(document: &Document) -> Laid {
        layout::set(document, &Fonts::new().unwrap())
    }

    /// The lines of a sheet: height, text, and whether it is read out.
    fn lines(sheet: &[Placed]) -> Vec<(f32, &str, bool)> {
        let mut found = Vec::new();
        for thing in sheet {
            if let Placed::Line { y, text, place, .. } = thing {
                found.push((*y, text.as_str(), place.is_some()));
            }
        }
        found
    }

    fn table(rows: Vec<Vec<Cell>>) -> Block {
        let columns =
            vec![Column { head: "One".into(), share: 1.0 }, Column { head: "Two".into(), share: 3.0 }];
        Block::Table(Table { columns, rows })
    }

    #[test]
    fn the_same_document_gives_the_same_bytes() {
        let document =
            sample("Größe", vec![Block::Paragraph("Zażółć gęślą jaźń, ελληνικά, кириллица".into())]);
        let bytes = render(&document).unwrap();
        assert_eq!(bytes, render(&document).unwrap());
        assert!(bytes.starts_with(b"%PDF-1.7"));
        let later = Document { printed_at: document.printed_at + 60_000, ..document };
        assert_ne!(bytes, render(&later).unwrap());
    }

    #[test]
    fn rows_stay_whole_heads_come_again_and_are_read_once() {
        let rows = (0..200).map(|row| vec![format!("row {row}").into(), "a\nb\nc".into()]).collect();
        let laid = laid(&sample("List", vec![table(rows)]));
        assert!(laid.sheets.len() > 5);
        let mut read = 0;
        for sheet in &laid.sheets {
            let lines = lines(sheet);
            let heads: Vec<_> = lines.iter().filter(|(_, text, _)| *text == "One").collect();
            assert_eq!(heads.len(), 1);
            read += heads.iter().filter(|(_, _, read)| *read).count();
            let count = |wanted: &str| lines.iter().filter(|(_, text, _)| text.trim() == wanted).count();
            assert_eq!(count("a"), count("c"), "no row is broken that fits on a sheet");
            assert!(lines.iter().all(|(y, _, _)| *y < 842.0 - 30.0));
        }
        assert_eq!(read, 1);
    }

    #[test]
    fn a_row_that_fits_on_no_sheet_is_broken_and_loses_nothing() {
        let text: String = (0..300).map(|line| format!("line {line}\n")).collect();
        let laid =
            laid(&sample("List", vec![table(vec![vec!["tall".into(), text.into()], vec!["next".into()]])]));
        assert!(laid.sheets.len() > 4);
        let all: Vec<String> = laid
            .sheets
            .iter()
            .flat_map(|sheet| lines(sheet))
            .filter(|(_, text, _)| text.starts_with("line "))
            .map(|(_, text, _)| text.trim().to_owned())
            .collect();
        assert_eq!(all, (0..300).map(|line| format!("line {line}")).collect::<Vec<_>>());
    }

    #[test]
    fn a_heading_is_never_the_last_on_a_sheet() {
        for gap in 0..60 {
            let filler = "x\n".repeat(20 + gap);
            let blocks = vec![
                Block::Paragraph(filler),
                Block::Heading("Section".into()),
                table(vec![vec!["first".into(), "a\nb\nc\nd".into()]]),
            ];
            let laid = laid(&sample("Title", blocks));
            let sheet =
                laid.sheets.iter().find(|sheet| lines(sheet).iter().any(|line| line.1 == "Section")).unwrap();
            assert!(lines(sheet).iter().any(|line| line.1.trim() == "first"), "{gap}");
        }
    }

    #[test]
    fn what_the_fonts_lack_is_shown_and_said() {
        let fonts = Fonts::new().unwrap();
        assert_eq!(fonts.plain("Größe Łódź Ωμέγα Ёлка € → ☑"), "Größe Łódź Ωμέγα Ёлка € → ☑");
        assert!(!fonts.missed());
        assert_eq!(fonts.plain("a\r\nb\tc\u{200b}d\u{2028}e"), "a\nb cd\ne");
        assert!(!fonts.missed());
        assert_eq!(fonts.plain("\0\u{202e}🔥漢\u{7}"), "�����");
        assert!(fonts.missed());
        assert_eq!(fonts.plain(&format!("e{}", "\u{301}".repeat(9))).matches('\u{301}').count(), 4);
        let laid = laid(&sample("漢", Vec::new()));
        assert!(lines(&laid.sheets[0]).iter().any(|line| line.1.starts_with("� stands for")));
    }

    #[test]
    fn lines_fit_and_words_break_only_if_they_must() {
        let fonts = Fonts::new().unwrap();
        let text = "Ein Text mit Donaudampfschifffahrtsgesellschaftskapitänsmütze und dem DORA-Testprogramm vom 2026-11-15";
        let wrapped = fonts.wrap(Weight::Regular, text, 12.0);
        assert!(
            wrapped.iter().all(|line| fonts.width(Weight::Regular, line.trim_end()) <= 12.001),
            "{wrapped:?}"
        );
        assert_eq!(wrapped.concat(), text);
        assert!(wrapped.iter().any(|line| line.contains("2026-11-15")), "{wrapped:?}");
        assert_eq!(fonts.wrap(Weight::Bold, "a\n\n\n\nb\n", 12.0), ["a ", "", "b"]);
        assert!(fonts.wrap(Weight::Regular, " \n ", 12.0).is_empty());
    }

    fn any_text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            proptest::collection::vec(any::<char>(), 0..40).prop_map(|chars| chars.into_iter().collect()),
            "[a-zA-Z0-9äöüßłżέя ,.\n\t-]{0,400}",
            "[\u{0}-\u{1f}\u{7f}-\u{9f}]{0,20}",
            "[\u{300}-\u{36f}]{0,30}",
            "[\u{590}-\u{6ff}\u{202a}-\u{202e} ]{0,60}",
            "[\u{1f300}-\u{1faff}\u{200d}\u{fe0f}]{0,20}",
            "[W]{0,3000}",
        ];
        proptest::collection::vec(piece, 0..6).prop_map(|pieces: Vec<String>| pieces.concat())
    }

    fn any_cell() -> impl Strategy<Value = Cell> {
        let sign =
            prop_oneof![Just(None), Just(Some(Sign::Late)), any::<u8>().prop_map(|n| Some(Sign::Bars(n)))];
        (any_text(), any_text(), sign).prop_map(|(text, below, sign)| Cell { text, below, sign })
    }

    fn any_block() -> impl Strategy<Value = Block> {
        let cells = || proptest::collection::vec(any_cell(), 0..5);
        prop_oneof![
            any_text().prop_map(Block::Heading),
            any_text().prop_map(Block::Paragraph),
            any_text().prop_map(Block::Remark),
            cells().prop_map(|cells| {
                Block::Facts(cells.into_iter().map(|value| Fact { name: "Name".into(), value }).collect())
            }),
            (proptest::collection::vec(-1.0..9.0_f32, 0..8), proptest::collection::vec(cells(), 0..5))
                .prop_map(|(shares, rows)| {
                    let columns =
                        shares.into_iter().map(|share| Column { head: "A head of a column".into(), share });
                    Block::Table(Table { columns: columns.collect(), rows })
                }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Whatever people write, there is a document: tagged, checked by the library, with every line on its sheet.
        #[test]
        fn any_text_gives_a_document(
            title in any_text(), names in (any_text(), any_text(), any_text()), at in any::<i64>(),
            across in any::<bool>(), blocks in proptest::collection::vec(any_block(), 0..6),
        ) {
            let mut document = sample(&title, blocks);
            (document.tenant, document.foot, document.lead) = names;
            document.printed_at = at;
            document.sheet = if across { SheetForm::Across } else { SheetForm::Upright };
            let laid = laid(&document);
            for thing in laid.sheets.iter().flatten() {
                if let Placed::Line { x, y, text, .. } = thing {
                    prop_assert!(*x >= 0.0 && *x < laid.size.0 && *y > 0.0 && *y < laid.size.1, "{text}: {x}, {y}");
                    prop_assert!(!text.contains(char::is_control));
                }
            }
            let bytes = render(&document);
            prop_assert!(bytes.is_ok(), "{bytes:?}");
        }
    }
}
