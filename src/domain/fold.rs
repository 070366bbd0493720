//! Text as search sees it: no capitals, no marks on letters, sharp s as ss.
//!
//! The one rule: what is stored, what is indexed and what is asked for are folded here and nowhere else, so
//! that `grosse` finds `Größe` wherever something is searched.

use icu_normalizer::DecomposingNormalizerBorrowed;

/// A word is told by so many characters; the rest of a longer one does not count.
const WORD_CHARS_MAX: usize = 64;

/// Moves whenever folding or cutting into words changes: an index of another number is built anew.
pub const RULES: i64 = 1;

/// The text folded.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let lower = text.to_lowercase();
    let mut folded = String::with_capacity(lower.len());
    for letter in DecomposingNormalizerBorrowed::new_nfkd().normalize_iter(lower.chars()) {
        match letter {
            mark if is_mark(mark) => {}
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'þ' => folded.push_str("th"),
            'ø' => folded.push('o'),
            'đ' | 'ð' => folded.push('d'),
            'ł' => folded.push('l'),
            'ħ' => folded.push('h'),
            'ı' => folded.push('i'),
            'ς' => folded.push('σ'),
            plain => folded.push(plain),
        }
    }
    folded
}

/// Is it a mark that stands on a letter?
pub fn is_mark(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// The words of a text that was folded: runs of letters and digits.
pub fn words(folded: &str) -> impl Iterator<Item = &str> {
    folded.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).map(cut)
}

fn cut(word: &str) -> &str {
    match word.char_indices().nth(WORD_CHARS_MAX) {
        Some((end, _)) => &word[..end],
        None => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_lose_their_marks_and_sharp_s_is_ss() {
        for (text, folded) in [
            ("Größe", "grosse"),
            ("GRÖẞE", "grosse"),
            ("Gro\u{308}ße", "grosse"),
            ("Žižek Ångström Łódź", "zizek angstrom lodz"),
            ("ÆØÅ œuvre Þór Đorđe", "aeoa oeuvre thor dorde"),
            ("ΈΝΑΣ Ένας", "ενασ ενασ"),
            ("ﬁnance ＡＢ", "finance ab"),
            ("İstanbul ısı", "istanbul isi"),
            ("plain", "plain"),
        ] {
            assert_eq!(fold(text), folded, "{text}");
        }
    }

    #[test]
    fn folding_twice_changes_nothing_more() {
        for text in ["Größe", "ΈΝΑΣ", "ﬁ", "İ", "Ǆ", "ẞ", "각"] {
            assert_eq!(fold(&fold(text)), fold(text), "{text}");
        }
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        assert_eq!(
            words("cve-2026 \"a* (near) 漢字").collect::<Vec<_>>(),
            ["cve", "2026", "a", "near", "漢字"]
        );
        assert_eq!(words(&"ab".repeat(50)).next().map(str::len), Some(64));
        assert_eq!(words("*** \" -").count(), 0);
    }
}
