//! People who sign in to the workspace.

words! {
    /// What a person may do: everything, change data, or look.
    Role { Owner = "owner", Editor = "editor", Viewer = "viewer" }
}

/// A person's account, without the password.
#[derive(Clone, Debug, PartialEq)]
pub struct User {
    /// `usr_…`
    pub id: String,
    /// The tenant's name.
    pub tenant: String,
    /// Signs in with it; lower case, one account per address.
    pub email: String,
    /// What the person may do.
    pub role: Role,
    /// When the account was made.
    pub created_at_ms: i64,
    /// When it was switched off, if it was.
    pub disabled_at_ms: Option<i64>,
}

/// The shortest password: there is no second factor.
pub const PASSWORD_CHARS_MIN: usize = 15;
/// The longest, so that nobody makes us hash a book.
pub const PASSWORD_BYTES_MAX: usize = 256;

/// An address in the one spelling in which it is stored, or what is wrong with it.
pub fn normal_email(address: &str) -> Result<String, String> {
    let address = address.trim().to_lowercase();
    let plain = |part: &str| {
        !part.is_empty() && !part.chars().any(|char| char.is_whitespace() || char.is_control() || char == '@')
    };
    match address.rsplit_once('@') {
        Some((local, domain)) if plain(local) && plain(domain) && address.len() <= 254 => Ok(address),
        Some(_) | None => Err(format!("`{address}` is no mail address; it needs the form name@domain")),
    }
}

/// Is this password long enough, and not too long? No rules of composition: length is what counts.
pub fn check_password(password: &str) -> Result<(), String> {
    if password.chars().count() < PASSWORD_CHARS_MIN {
        return Err(format!(
            "the password is too short: at least {PASSWORD_CHARS_MIN} characters are needed"
        ));
    }
    if password.len() > PASSWORD_BYTES_MAX {
        return Err(format!("the password is too long: at most {PASSWORD_BYTES_MAX} bytes are allowed"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_one_spelling() {
        assert_eq!(normal_email(" Anna@Bank.Example ").unwrap(), "anna@bank.example");
        for bad in ["", "a", "@b", "a@", "a b@c", "a@b c", "a@@b", "a@b\u{0}"] {
            assert!(normal_email(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn passwords_are_judged_by_length_alone() {
        assert!(check_password("fourteen chars").is_err());
        assert!(check_password("fifteen charsss").is_ok());
        assert!(check_password(&"ä".repeat(129)).is_err());
    }
}
