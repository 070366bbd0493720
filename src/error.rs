//! What can go wrong, by meaning.
//!
//! Below `http/` nobody writes a status number: `http/reply.rs` turns each
//! meaning into its status, once. Two audiences: the text of every variant but
//! `Internal` is for the caller; `Internal` is for the operator's log alone.

use crate::domain::limit::Refusal;
use crate::domain::permission::Permission;
use std::fmt;

/// Why a request, or a command, could not be done.
#[derive(Debug)]
pub enum Error {
    /// No key, or none that counts: unknown, malformed, expired and revoked look the same.
    NoKey,
    /// A valid key that lacks the permission.
    NotAllowed(Permission),
    /// Somebody at the workspace who may not do this, or a form that did not come from it; and why.
    Denied(&'static str),
    /// The named kind of thing does not exist for this caller.
    NotFound(&'static str),
    /// The request does not fit; every fault is named.
    Invalid(Faults),
    /// The body is larger than the server reads.
    TooLarge {
        /// The largest body that is read.
        limit_bytes: usize,
    },
    /// The rate limit was hit.
    TooMany(Refusal),
    /// The route stands in the table, but this build has no code for it yet.
    NotYet,
    /// The server is at fault. The text goes to the log, never to the caller.
    Internal(String),
}

impl Error {
    /// An internal error with what was being done when it happened.
    pub fn internal(doing: &str, cause: impl fmt::Display) -> Error {
        Error::Internal(format!("{doing}: {cause}"))
    }

    /// A request that is wrong in one field.
    pub fn field(name: &str, reason: impl Into<String>) -> Error {
        Error::Invalid(Faults::one(name, reason))
    }

    /// A request that is wrong as a whole, not in one field.
    pub fn invalid(text: impl Into<String>) -> Error {
        Error::Invalid(Faults { summary: text.into(), ..Faults::default() })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoKey => write!(out, "a valid API key is needed"),
            Error::NotAllowed(permission) => write!(out, "permission `{permission}` is needed"),
            Error::Denied(why) => write!(out, "{why}"),
            Error::NotFound(what) => write!(out, "{what} not found"),
            Error::Invalid(faults) => write!(out, "{faults}"),
            Error::TooLarge { limit_bytes } => write!(out, "body over {limit_bytes} bytes"),
            Error::TooMany(refusal) => write!(out, "{}", refusal.text()),
            Error::NotYet => write!(out, "not available in this build yet"),
            Error::Internal(text) => write!(out, "{text}"),
        }
    }
}

impl std::error::Error for Error {}

/// All that is wrong with one request: a sentence, and the reason per field.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Faults {
    /// One sentence; made from the fields when it is left empty.
    pub summary: String,
    /// Field name and reason, in the order found; at most `FAULTS_MAX`.
    pub fields: Vec<(String, String)>,
    /// Faults beyond those.
    pub more: usize,
}

/// So many faults are named; of the rest only the number. A body of nothing but faults must not cost much.
const FAULTS_MAX: usize = 50;

impl Faults {
    /// One faulty field.
    pub fn one(name: &str, reason: impl Into<String>) -> Faults {
        let mut faults = Faults::default();
        faults.add(name, reason);
        faults
    }

    /// Adds a faulty field; the first reason given for a field stands.
    pub fn add(&mut self, name: &str, reason: impl Into<String>) {
        if self.fields.len() >= FAULTS_MAX {
            self.more += 1;
        } else if !self.fields.iter().any(|(known, _)| known == name) {
            self.fields.push((name.to_owned(), reason.into()));
        }
    }

    /// Adds what another check found.
    pub fn join(&mut self, other: Faults) {
        if self.summary.is_empty() {
            self.summary = other.summary;
        }
        self.more += other.more;
        for (name, reason) in other.fields {
            self.add(&name, reason);
        }
    }

    /// `Ok` when nothing was found, else the error.
    pub fn into_result(self) -> Result<(), Error> {
        if self.fields.is_empty() && self.summary.is_empty() { Ok(()) } else { Err(Error::Invalid(self)) }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.summary)?;
        for (position, (name, reason)) in self.fields.iter().enumerate() {
            let separator = if position == 0 && self.summary.is_empty() { "" } else { "; " };
            write!(out, "{separator}{name}: {reason}")?;
        }
        if self.more > 0 {
            write!(out, "; and {} more faults", self.more)?;
        }
        Ok(())
    }
}
