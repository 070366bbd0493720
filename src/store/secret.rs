//! Secrets: made here, hashed here, never stored in clear.

use crate::chance::Chance;
use crate::domain::key::Secret;
use crate::error::Error;
use argon2::password_hash::PasswordHasher;
use argon2::{Algorithm, Argon2, Params, Version};
use sha2::{Digest as _, Sha256};

/// SHA-256 of a key. Enough for a secret of 190 random bits: there is nothing to guess.
pub type Digest = [u8; 32];

/// The hash under which a key is stored and looked up.
pub fn digest_of(key: &Secret) -> Digest {
    Sha256::digest(key.reveal().as_bytes()).into()
}

/// Argon2id with the parameters of the OWASP floor: 19 MiB, two rounds, one lane.
pub fn hash_password(password: &str, chance: &Chance) -> Result<String, Error> {
    let salt = chance.bytes::<16>()?;
    let params = Params::new(19_456, 2, 1, None).map_err(|cause| Error::internal("hashing", cause))?;
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_with_salt(password.as_bytes(), &salt)
        .map(|hash| hash.to_string())
        .map_err(|cause| Error::internal("hashing", cause))
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
    }

    #[test]
    fn a_made_password_passes_our_own_rules() {
        let password = make_password(&Chance::seeded(3)).unwrap();
        assert_eq!(password.len(), 24);
        crate::domain::user::check_password(&password).unwrap();
    }
}
