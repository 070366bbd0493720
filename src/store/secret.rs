//! Secrets: made here, hashed here, compared here, never stored in clear.

use crate::chance::Chance;
use crate::domain::key::Secret;
use crate::error::Error;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;

/// SHA-256 of a key or a token. Enough for a secret of 190 random bits or more: there is nothing to guess.
pub type Digest = [u8; 32];

/// Argon2id's cost, after the OWASP floor: 19 MiB, two rounds, one lane.
const MEMORY_KIB: u32 = 19_456;
const ROUNDS: u32 = 2;
const LANES: u32 = 1;

/// The hash that is tried for somebody who does not exist, so that the answer takes as long. No password has it.
const NOBODYS: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5LW5vYm9keS0xNg$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// The hash under which a key is stored and looked up.
pub fn digest_of(key: &Secret) -> Digest {
    Sha256::digest(key.reveal().as_bytes()).into()
}

/// SHA-256 of a file, as hexadecimal digits, and its length.
pub fn digest_of_file(path: &std::path::Path) -> std::io::Result<(String, u64)> {
    use std::io::Read;
    let mut file = std::fs::File::open(path)?;
    let (mut hasher, mut length, mut buffer) = (Sha256::new(), 0, vec![0; 64 * 1024]);
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok((crate::payload::hex(&hasher.finalize()), length));
        }
        hasher.update(&buffer[..read]);
        length += read as u64;
    }
}

/// The hash under which a token is stored and looked up.
pub fn digest_of_token(token: &str) -> Digest {
    Sha256::digest(token.as_bytes()).into()
}

fn argon2() -> Result<Argon2<'static>, Error> {
    let params =
        Params::new(MEMORY_KIB, ROUNDS, LANES, None).map_err(|cause| Error::internal("hashing", cause))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

/// Argon2id in its own spelling, with a salt of its own.
pub fn hash_password(password: &str, chance: &Chance) -> Result<String, Error> {
    let salt = chance.bytes::<16>()?;
    argon2()?
        .hash_password_with_salt(password.as_bytes(), &salt)
        .map(|hash| hash.to_string())
        .map_err(|cause| Error::internal("hashing", cause))
}

/// Is this the password? Without a stored one the answer is no, after the same work.
pub fn is_password(password: &str, stored: Option<&str>) -> bool {
    let Ok(hash) = PasswordHash::new(stored.unwrap_or(NOBODYS)) else { return false };
    let fits = Argon2::default().verify_password(password.as_bytes(), &hash).is_ok();
    fits && stored.is_some()
}

/// Was it hashed at less cost than is usual now?
pub fn is_weak(stored: &str) -> bool {
    let Ok(hash) = PasswordHash::new(stored) else { return true };
    let Ok(params) = Params::try_from(&hash) else { return true };
    hash.algorithm.as_str() != "argon2id" || params.m_cost() < MEMORY_KIB || params.t_cost() < ROUNDS
}

/// A token of 256 bits in 43 characters that fit into a cookie and an address.
pub fn make_token(chance: &Chance) -> Result<String, Error> {
    Ok(base64url(&chance.bytes::<32>()?))
}

/// HMAC-SHA256 (RFC 2104).
pub fn hmac(key: &Digest, message: &[u8]) -> Digest {
    const BLOCK: usize = 64;
    let pad = |byte: u8| {
        let mut block = [byte; BLOCK];
        block.iter_mut().zip(key).for_each(|(slot, byte)| *slot ^= byte);
        block
    };
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().into()
}

/// Are they the same? The time tells nothing of where they differ.
pub fn is_same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

/// Base 64 for addresses, without padding.
pub fn base64url(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |position: usize| u32::from(three.get(position).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for position in 0..=three.len() {
            let six = (bits >> (18 - 6 * position)) & 63;
            text.push(char::from(ALPHABET[six as usize]));
        }
    }
    text
}

/// A password that can be read aloud: five groups of four letters and digits, about 100 bits.
pub fn make_password(chance: &Chance) -> Result<String, Error> {
    // No letter that looks like a digit. 32 characters, so a byte's low five bits pick evenly.
    const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut password = String::with_capacity(24);
    for (position, byte) in chance.bytes::<20>()?.into_iter().enumerate() {
        if position > 0 && position % 4 == 0 {
            password.push('-');
        }
        password.push(char::from(ALPHABET[usize::from(byte & 31)]));
    }
    Ok(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_stored_as_argon2id_with_the_agreed_cost() {
        let hash = hash_password("correct horse battery staple", &Chance::seeded(3)).unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert!(is_password("correct horse battery staple", Some(&hash)));
        assert!(!is_password("correct horse battery stapler", Some(&hash)));
        assert!(!is_weak(&hash));
        assert!(is_weak(
            "$argon2id$v=19$m=4096,t=2,p=1$bm9ib2R5LW5vYm9keS0xNg$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        ));
    }

    #[test]
    fn nobody_has_a_password_and_finding_out_costs_the_same() {
        let hash = PasswordHash::new(NOBODYS).unwrap();
        let params = Params::try_from(&hash).unwrap();
        assert_eq!((params.m_cost(), params.t_cost(), params.p_cost()), (MEMORY_KIB, ROUNDS, LANES));
        assert_eq!(hash.hash.unwrap().as_bytes().len(), 32);
        assert!(!is_password("", None));
    }

    #[test]
    fn the_code_of_a_message_is_that_of_rfc_4231() {
        let mut key = [0; 32];
        key[..4].copy_from_slice(b"Jefe");
        let code = hmac(&key, b"what do ya want for nothing?");
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(crate::payload::hex(&code), expected);
    }

    #[test]
    fn tokens_have_43_characters_and_base_64_is_that_of_rfc_4648() {
        assert_eq!(make_token(&Chance::seeded(1)).unwrap().len(), 43);
        for (plain, text) in [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg")] {
            assert_eq!(base64url(plain.as_bytes()), text);
        }
        assert_eq!(base64url(&[0xfb, 0xff]), "-_8");
    }

    #[test]
    fn a_made_password_passes_our_own_rules() {
        let password = make_password(&Chance::seeded(3)).unwrap();
        assert_eq!(password.len(), 24);
        crate::domain::password::check_password(&password, &[]).unwrap();
    }
}
