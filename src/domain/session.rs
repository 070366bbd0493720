//! Sessions: how long a sign-in lasts, and what is known of whoever is signed in.

use super::actor::Actor;
use super::language::Language;
use super::user::Role;
use std::fmt;
use std::net::IpAddr;

/// A session that nobody used for so long is over.
pub const IDLE_MS: i64 = 30 * 60_000;
/// Every session is over after so long.
pub const WHOLE_MS: i64 = 8 * 3_600_000;
/// Sessions of one person at the most; the oldest goes.
pub const SESSIONS_MAX: usize = 10;
/// That it was used is written at most this often.
pub const SEEN_EVERY_MS: i64 = 60_000;
/// An invitation counts so long.
pub const INVITATION_MS: i64 = 7 * 86_400_000;

/// The secret value of a cookie or a link. It is handed out once and never stored; debug output hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Wraps a fresh one.
    pub fn new(text: String) -> Token {
        Token(text)
    }

    /// The value itself, for the one who gets it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "***")
    }
}

/// Somebody who is signed in.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// `ses_…`
    pub id: String,
    /// In whose house.
    pub tenant_id: String,
    /// What that house is called.
    pub tenant: String,
    /// `usr_…`
    pub user_id: String,
    /// What others call the person; the address if nobody said.
    pub name: String,
    /// The address to sign in with.
    pub email: String,
    /// What the person may do.
    pub role: Role,
    /// The language the person chose; none leaves it to the browser.
    pub language: Option<Language>,
    /// When it began.
    pub created_at: i64,
    /// When it was last used, to the minute.
    pub seen_at: i64,
}

impl Session {
    /// Is it over? A session from the future is: the clock went back, and nobody knows how old it is.
    pub fn is_over(created_at: i64, seen_at: i64, now_ms: i64) -> bool {
        let from_the_future = created_at > now_ms + SEEN_EVERY_MS || seen_at > now_ms + SEEN_EVERY_MS;
        from_the_future || now_ms - seen_at >= IDLE_MS || now_ms - created_at >= WHOLE_MS
    }

    /// The person as the one who acts.
    pub fn actor(&self, address: Option<IpAddr>) -> Actor {
        Actor::user(&self.user_id, &self.name).at(address)
    }
}

/// One of a person's own sessions, as the profile lists them.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnSession {
    /// `ses_…`
    pub id: String,
    /// When it began.
    pub created_at: i64,
    /// When it was last used, to the minute.
    pub seen_at: i64,
    /// From where it began, if that was known.
    pub address: Option<String>,
    /// What the browser called itself.
    pub agent: Option<String>,
}

/// From where somebody comes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Visitor {
    /// The address, if it is known.
    pub address: Option<IpAddr>,
    /// What the browser calls itself.
    pub agent: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_ends_idle_or_old_or_when_the_clock_went_back() {
        let over = Session::is_over;
        assert!(!over(0, 0, IDLE_MS - 1) && over(0, 0, IDLE_MS));
        assert!(!over(0, WHOLE_MS - 1, WHOLE_MS - 1) && over(0, WHOLE_MS - 1, WHOLE_MS));
        assert!(!over(60_000, 60_000, 0) && over(60_001, 0, 0) && over(0, 60_001, 0));
    }

    #[test]
    fn a_token_hides_itself() {
        assert_eq!(format!("{:?}", Token::new("abc".into())), "***");
    }
}
