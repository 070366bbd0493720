//! Passwords: what is long enough, and what is too well known.
//!
//! Public lists hold hardly any password of 15 characters, so a list of whole passwords would refuse next to
//! nothing here. What people really do when they must reach 15 is to put well-known pieces in a row:
//! `passwordpassword`, `Qwertz1234567890`, `holdfast2026!!!!`. So the embedded list holds the pieces (our own
//! compilation of about 450 words), and a password is refused when at most two different words, with runs of
//! keys, digits and repetitions between them, are all there is to it. That covers some 200,000 pairs with any
//! digits behind them. Four words at random are fine, and so is anything that is not made of pieces.

use std::collections::HashSet;
use std::sync::LazyLock;

/// The shortest password: there is no second factor.
pub const PASSWORD_CHARS_MIN: usize = 15;
/// The longest, so that nobody makes us hash a book.
pub const PASSWORD_BYTES_MAX: usize = 256;

/// One word a line.
const COMMON: &str = include_str!("../../data/passwords/common-words.txt");
static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| COMMON.lines().collect());
/// Keys that lie in a row, and the alphabet; each also counts from right to left.
const ROWS: &[&str] = &[
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890123456789",
    "qwertyuiopasdfghjklzxcvbnm",
    "qwertzuiopasdfghjklyxcvbnm",
    "azertyuiopqsdfghjklmwxcvbn",
    "1q2w3e4r5t6y7u8i9o0p",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm",
    "q1w2e3r4t5y6u7i8o9p0",
    "qazwsxedcrfvtgbyhnujm",
];
/// A run shorter than this says nothing.
const RUN_MIN: usize = 3;
/// The longest piece that is looked at; a longer run is several.
const PIECE_MAX: usize = 32;
/// Different words that are too few.
const WORDS_MAX: usize = 2;

/// Is this password good enough? `personal` holds what strangers know of its owner: name, address, tenant.
pub fn check_password(password: &str, personal: &[&str]) -> Result<(), String> {
    if password.chars().count() < PASSWORD_CHARS_MIN {
        return Err(format!(
            "the password is too short: at least {PASSWORD_CHARS_MIN} characters are needed"
        ));
    }
    if password.len() > PASSWORD_BYTES_MAX {
        return Err(format!("the password is too long: at most {PASSWORD_BYTES_MAX} bytes are allowed"));
    }
    if is_guessable(password, personal) {
        return Err("the password is made of words and rows that everybody tries first; use four or more \
                    unrelated words, or let a password manager make one"
            .into());
    }
    Ok(())
}

fn is_guessable(password: &str, personal: &[&str]) -> bool {
    let known: Vec<String> = personal
        .iter()
        .flat_map(|text| text.split(|char: char| !char.is_alphanumeric()))
        .map(plain)
        .filter(|word| word.chars().count() >= RUN_MIN)
        .collect();
    let is_known = |piece: &str| WORDS.contains(piece) || known.iter().any(|word| word == piece);
    let is_word = |piece: &str| is_known(piece) || is_known(&unleet(piece));
    // `p@ssword` is a word too.
    let signs = password.replace('@', "a").replace('$', "s").replace('!', "i");
    [plain(password), plain(&signs)].iter().any(|text| is_covered(text, &is_word))
}

/// Lower case, accents aside, letters and digits only.
fn plain(text: &str) -> String {
    let lower = text.to_lowercase();
    lower
        .chars()
        .filter(|char| char.is_alphanumeric())
        .map(|char| match char {
            'ä' | 'á' | 'à' | 'â' => 'a',
            'ö' | 'ó' | 'ô' => 'o',
            'ü' | 'ú' => 'u',
            'é' | 'è' | 'ê' => 'e',
            'í' => 'i',
            'ñ' => 'n',
            other => other,
        })
        .collect()
}

/// Digits that stand for letters.
fn unleet(text: &str) -> String {
    let letter = |char| match char {
        '0' => 'o',
        '1' => 'i',
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '7' => 't',
        other => other,
    };
    text.chars().map(letter).collect()
}

/// Can the text be cut into pieces that cost a guesser nothing, with at most two different words among them?
/// `best[i]` holds the fewest words with which the first `i` characters can be covered.
fn is_covered(text: &str, is_word: &impl Fn(&str) -> bool) -> bool {
    let chars: Vec<char> = text.chars().collect();
    let mut best: Vec<Option<Vec<String>>> = vec![None; chars.len() + 1];
    best[0] = Some(Vec::new());
    for start in 0..chars.len() {
        let Some(words) = best[start].clone() else { continue };
        for end in start + 1..=chars.len().min(start + PIECE_MAX) {
            let piece: String = chars[start..end].iter().collect();
            let mut words = words.clone();
            if !is_run(&chars[start..end]) {
                if !is_word(&piece) {
                    continue;
                }
                if !words.contains(&piece) {
                    words.push(piece);
                }
            }
            let better = best[end].as_ref().is_none_or(|known| words.len() < known.len());
            if words.len() <= WORDS_MAX && better {
                best[end] = Some(words);
            }
        }
    }
    best[chars.len()].is_some()
}

/// Digits, one character over and over, or keys in a row.
fn is_run(chars: &[char]) -> bool {
    if chars.iter().all(char::is_ascii_digit)
        || chars.windows(2).all(|pair| pair[0] == pair[1]) && chars.len() > 1
    {
        return true;
    }
    if chars.len() < RUN_MIN {
        return false;
    }
    let forward: String = chars.iter().collect();
    let backward: String = chars.iter().rev().collect();
    ROWS.iter().any(|row| row.contains(&forward) || row.contains(&backward))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_counts_in_characters_below_and_in_bytes_above() {
        assert!(check_password("fourteen chars", &[]).is_err());
        assert!(check_password("fifteen charsss", &[]).is_ok());
        assert!(check_password(&"äß-wq9 k".repeat(8), &[]).is_ok());
        assert!(check_password(&"ä".repeat(129), &[]).is_err());
        assert!(check_password(&format!("{}x", "zT4 e".repeat(51)), &[]).is_ok(), "256 bytes");
    }

    #[test]
    fn what_everybody_tries_first_is_refused() {
        for bad in [
            "passwordpassword",
            "Passwort12345678",
            "1234567890123456",
            "qwertyuiopasdfgh",
            "QWERTZUIOPasdfghjkl",
            "1q2w3e4r5t6y7u8i",
            "1qaz2wsx3edc4rfv",
            "aaaaaaaaaaaaaaaa",
            "letmeinletmein123",
            "iloveyouiloveyou",
            "Holdfast2026!!!!",
            "holdfast-holdfast",
            "administrator123",
            "P4ssw0rd12345678",
            "abcdefghijklmnop",
            "welcome welcome welcome",
            "Summer2026Summer",
            "SommerSommer2026",
            "p@ssw0rdp@ssw0rd",
            "changemechangeme",
            "111111111111111",
            "0987654321098765",
            "MunichMunich2027",
            "iloveyou3000!!!!!",
        ] {
            assert!(check_password(bad, &[]).is_err(), "{bad}");
        }
    }

    #[test]
    fn more_than_three_thousand_common_ones_are_refused() {
        let words: Vec<&str> = COMMON.lines().filter(|word| word.len() >= 4).collect();
        let mut refused = 0;
        for word in &words {
            for tail in ["", "1", "123", "2026", "!", "2024!", "1234567890", "123456789012345"] {
                let candidate = format!("{}{tail}", word.repeat(15_usize.div_ceil(word.len())));
                assert!(check_password(&candidate, &[]).is_err(), "{candidate}");
                refused += 1;
            }
        }
        assert!(refused > 3_000, "{refused}");
    }

    #[test]
    fn what_strangers_know_of_the_owner_is_a_known_word() {
        let personal = ["Wilhelmina Kraut", "wkraut@merrowald.example"];
        assert!(check_password("WilhelminaKraut", &personal).is_err());
        assert!(check_password("merrowald-merrowald-7", &personal).is_err());
        assert!(check_password("WilhelminaKraut", &[]).is_ok());
    }

    #[test]
    fn passphrases_and_random_ones_pass() {
        for good in [
            "correct horse battery staple",
            "a long enough password",
            "teal gravel onion ferry",
            "x8Qe-2bWn-7pLk-0zRt",
            "Der Anker hält im Sturm nicht",
            "ζωγραφική στο λιμάνι",
            "ab3d-9kfm-q2wx-77yz",
        ] {
            assert_eq!(check_password(good, &[]), Ok(()), "{good}");
        }
    }
}
