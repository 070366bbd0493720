//! API keys: `hfast_`, 32 base62 characters, 6 characters of checksum.
//!
//! The checksum lets the service refuse a typing error without a look-up, and a
//! secret scanner recognise a leaked key without asking anybody. It is no
//! security control: the 190 random bits are.

use super::form::{Field, Form, choice, codes, text};
use super::permission::Permissions;
use crate::chance::Chance;
use crate::error::Error;
use crate::shape::{self, CREATED_AT, Is, Shape, Shown, id};
use std::fmt;

const PREFIX: &str = "hfast_";
const RANDOM_CHARS: usize = 32;
const CHECKSUM_CHARS: usize = 6;
/// The length of every key.
pub const KEY_CHARS: usize = PREFIX.len() + RANDOM_CHARS + CHECKSUM_CHARS;
/// So many characters are kept in clear, so that people recognise a key.
pub const SHOWN_CHARS: usize = 12;

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A key in clear. It is shown once and never stored; debug output hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Makes a new key.
    pub fn make(chance: &Chance) -> Result<Secret, Error> {
        let mut key = String::with_capacity(KEY_CHARS);
        key.push_str(PREFIX);
        while key.len() < PREFIX.len() + RANDOM_CHARS {
            for byte in chance.bytes::<32>()? {
                // Bytes from 248 on are thrown away: 248 is a multiple of 62, so each character is equally likely.
                if byte < 248 && key.len() < PREFIX.len() + RANDOM_CHARS {
                    key.push(char::from(BASE62[usize::from(byte) % 62]));
                }
            }
        }
        let checksum = checksum(key.as_bytes());
        key.extend(checksum.map(char::from));
        Ok(Secret(key))
    }

    /// Accepts what has the form of a key; junk and typing errors fall out here.
    pub fn parse(candidate: &[u8]) -> Option<Secret> {
        if candidate.len() != KEY_CHARS || !candidate.starts_with(PREFIX.as_bytes()) {
            return None;
        }
        let (body, given) = candidate.split_at(KEY_CHARS - CHECKSUM_CHARS);
        if !candidate[PREFIX.len()..].iter().all(u8::is_ascii_alphanumeric) || checksum(body) != given {
            return None;
        }
        String::from_utf8(candidate.to_vec()).ok().map(Secret)
    }

    /// The whole key. Only for hashing it and for showing it once.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The recognisable beginning.
    pub fn shown(&self) -> &str {
        &self.0[..SHOWN_CHARS]
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "***")
    }
}

/// A short number by which a text is told from another; no security control.
pub fn check_number(text: &[u8]) -> u32 {
    crc32fast::hash(text)
}

fn checksum(body: &[u8]) -> [u8; CHECKSUM_CHARS] {
    let mut rest = check_number(body);
    let mut digits = [b'0'; CHECKSUM_CHARS];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[(rest % 62) as usize];
        rest /= 62;
    }
    digits
}

/// A key as people see it: everything but the secret.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiKey {
    /// `key_…`
    pub id: String,
    /// The tenant for which it acts.
    pub tenant_id: String,
    /// What people call it.
    pub name: String,
    /// The first characters of the secret.
    pub prefix: String,
    /// What it may do.
    pub permissions: Permissions,
    /// When it was made.
    pub created_at_ms: i64,
    /// When it stops counting, if ever.
    pub expires_at_ms: Option<i64>,
    /// When it was last used; written down at most once an hour.
    pub last_used_at_ms: Option<i64>,
    /// When it was revoked, if it was.
    pub revoked_at_ms: Option<i64>,
}

impl ApiKey {
    /// Does it count at this moment?
    pub fn is_live(&self, now_ms: i64) -> bool {
        self.revoked_at_ms.is_none() && self.expires_at_ms.is_none_or(|end| now_ms < end)
    }
}

/// The workspace pages that `redirect_to` may name.
pub const REDIRECT_PAGES: &[&str] = &["profile", "api-keys"];

/// The body of `POST /api/v1/keys`.
pub static NEW_KEY: Form = Form {
    name: "NewKey",
    fields: &[
        text("name", 255).required().says("What people call the key.").such_as(r#""Nightly export""#),
        KEY_REDIRECT,
    ],
    read_only: &["id", "key", "prefix", "permissions", "created_at", "expires_at"],
};

words! {
    /// How long a key that is made in the workspace counts.
    Expiry { Days30 = "30", Days90 = "90", Days365 = "365", Never = "never" }
}

impl Expiry {
    /// When a key that is made now stops counting.
    pub fn at_ms(self, now_ms: i64) -> Option<i64> {
        const DAY_MS: i64 = 86_400_000;
        match self {
            Expiry::Days30 => Some(now_ms + 30 * DAY_MS),
            Expiry::Days90 => Some(now_ms + 90 * DAY_MS),
            Expiry::Days365 => Some(now_ms + 365 * DAY_MS),
            Expiry::Never => None,
        }
    }
}

/// A key made in the workspace: 365 days and nothing but reading unless it says otherwise.
pub static WORKSPACE_KEY: Form = Form {
    name: "WorkspaceKey",
    fields: &[
        text("name", 255).required().says("What people call the key."),
        codes("permissions", &["write", "manage_keys"]).says("What it may do beyond reading."),
        choice("expires", Expiry::NAMES).says("Days until it stops counting, or never."),
        KEY_REDIRECT,
    ],
    read_only: &[],
};

/// A new key, as it is shown: once, with its secret.
pub static CREATED_KEY: Shape = Shape {
    name: "CreatedKey",
    fields: &[
        id("key"),
        shape::text("name").says("What people call the key.").such_as(r#""Nightly export""#),
        shape::text("key")
            .says("The secret; it is never shown again.")
            .such_as(r#""hfast_ and 38 more characters""#),
        shape::text("prefix").says("Its first characters, for recognition.").such_as(r#""hfast_a1B2c3""#),
        Shown::new("permissions", Is::Words(&["write", "manage_keys"])).says("What it may do."),
        CREATED_AT,
        shape::time("expires_at").nullable().says("When it stops counting.").such_as("null"),
        Shown::new("redirect_to", Is::Word(REDIRECT_PAGES)).nullable().says("Echoed.").such_as("null"),
    ],
};

const KEY_REDIRECT: Field = choice("redirect_to", REDIRECT_PAGES)
    .nullable()
    .says("The workspace page a form goes on to afterwards; the API echoes it.");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_key_parses_and_a_changed_one_does_not() {
        let key = Secret::make(&Chance::seeded(1)).unwrap();
        assert_eq!(key.reveal().len(), 44);
        assert_eq!(Secret::parse(key.reveal().as_bytes()), Some(key.clone()));
        for position in 0..KEY_CHARS {
            let mut changed = key.reveal().as_bytes().to_vec();
            changed[position] = if changed[position] == b'a' { b'b' } else { b'a' };
            assert_eq!(Secret::parse(&changed), None, "position {position}");
        }
    }

    #[test]
    fn debug_output_hides_the_secret() {
        let key = Secret::make(&Chance::seeded(1)).unwrap();
        assert_eq!(format!("{key:?}"), "***");
    }

    #[test]
    fn junk_is_no_key() {
        for junk in ["", "hfast_", "hfast_é", &"x".repeat(44), &"hfast_".repeat(50)] {
            assert_eq!(Secret::parse(junk.as_bytes()), None);
        }
    }
}
