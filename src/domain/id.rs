//! Identifiers of tenant objects: a short type prefix, `_`, and the 26 characters of a ULID.
//!
//! The time part makes new rows land at the end of an index; the 80 random bits
//! make an id impossible to guess.

use crate::chance::Chance;
use crate::error::Error;

/// Crockford's base 32: no I, L, O, U.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// What an identifier names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A customer.
    Tenant,
    /// A person who signs in to the workspace.
    User,
    /// An API key.
    Key,
}

impl Kind {
    /// The prefix in front of the underscore.
    pub fn prefix(self) -> &'static str {
        match self {
            Kind::Tenant => "tnt",
            Kind::User => "usr",
            Kind::Key => "key",
        }
    }
}

/// Makes a new identifier.
pub fn new(kind: Kind, now_ms: i64, chance: &Chance) -> Result<String, Error> {
    let time = u128::try_from(now_ms).unwrap_or(0) & 0xffff_ffff_ffff;
    let mut value = time << 80;
    for (position, byte) in chance.bytes::<10>()?.into_iter().enumerate() {
        value |= u128::from(byte) << (8 * position);
    }
    let mut text = format!("{}_", kind.prefix());
    for position in (0..26).rev() {
        let digit = (value >> (5 * position)) & 31;
        text.push(char::from(ALPHABET[digit as usize]));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_prefix_and_a_ulid_that_sorts_by_time() {
        let chance = Chance::seeded(7);
        let earlier = new(Kind::Key, 1_794_729_600_000, &chance).unwrap();
        let later = new(Kind::Key, 1_794_729_600_001, &chance).unwrap();
        assert_eq!(earlier.len(), "key_".len() + 26);
        assert!(earlier.starts_with("key_01"));
        assert!(earlier < later);
        assert!(earlier[4..].bytes().all(|byte| ALPHABET.contains(&byte)));
    }
}
