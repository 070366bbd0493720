//! Identifiers of tenant objects: a short type prefix, `_`, and the 26 characters of a ULID.
//!
//! The time part makes new rows land at the end of an index; the 80 random bits
//! make an id impossible to guess.

use crate::chance::Chance;
use crate::error::Error;
use std::cell::Cell;

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
    /// A test programme.
    Programme,
    /// A test case.
    TestCase,
    /// A finding.
    Finding,
    /// A CRA report.
    CraReport,
    /// A provider in the register.
    Provider,
    /// An arrangement with a provider.
    Arrangement,
    /// A concentration analysis.
    Analysis,
    /// A webhook.
    Webhook,
    /// An event.
    Event,
    /// A delivery.
    Delivery,
    /// A vulnerability scan.
    Scan,
    /// A person's session.
    Session,
}

impl Kind {
    /// The prefix in front of the underscore.
    pub fn prefix(self) -> &'static str {
        match self {
            Kind::Tenant => "tnt",
            Kind::User => "usr",
            Kind::Key => "key",
            Kind::Programme => "prg",
            Kind::TestCase => "tc",
            Kind::Finding => "fnd",
            Kind::CraReport => "cra",
            Kind::Provider => "prv",
            Kind::Arrangement => "arr",
            Kind::Analysis => "anl",
            Kind::Webhook => "whk",
            Kind::Event => "evt",
            Kind::Delivery => "dlv",
            Kind::Scan => "scan",
            Kind::Session => "ses",
        }
    }
}

/// Makes a new identifier.
pub fn new(kind: Kind, now_ms: i64, chance: &Chance) -> Result<String, Error> {
    Ok(spell(kind, random(now_ms, chance)?))
}

/// Identifiers of one moment that sort in the order in which they were made: the first is random, each
/// further one is the next number. An import keeps the order of its file by it.
#[derive(Debug)]
pub struct Sequence {
    next: Cell<u128>,
}

impl Sequence {
    /// A new, random beginning.
    pub fn begin(now_ms: i64, chance: &Chance) -> Result<Sequence, Error> {
        // The highest bit is left free, so that no act runs out of numbers.
        Ok(Sequence { next: Cell::new(random(now_ms, chance)? & !(1 << 79)) })
    }

    /// The next identifier.
    pub fn next(&self, kind: Kind) -> String {
        let value = self.next.get();
        self.next.set(value + 1);
        spell(kind, value)
    }
}

fn random(now_ms: i64, chance: &Chance) -> Result<u128, Error> {
    let time = u128::try_from(now_ms).unwrap_or(0) & 0xffff_ffff_ffff;
    let mut value = time << 80;
    for (position, byte) in chance.bytes::<10>()?.into_iter().enumerate() {
        value |= u128::from(byte) << (8 * position);
    }
    Ok(value)
}

fn spell(kind: Kind, value: u128) -> String {
    let mut text = format!("{}_", kind.prefix());
    for position in (0..26).rev() {
        let digit = (value >> (5 * position)) & 31;
        text.push(char::from(ALPHABET[digit as usize]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_sorts_in_its_order() {
        let sequence = Sequence::begin(1_794_729_600_000, &Chance::seeded(7)).unwrap();
        let ids: Vec<String> = (0..1000).map(|_| sequence.next(Kind::Finding)).collect();
        assert!(ids.is_sorted());
        assert_ne!(ids[0], ids[1]);
    }

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
