//! Sessions of people who are signed in, and the tokens that their forms carry.
//!
//! Nothing is kept in memory: a session that was ended, by whatever process, is over at the next request. The
//! one query that knows a cookie also asks whether its person is still let in.

use super::list::word;
use super::secret::{self, Digest};
use super::{Desk, Store, Tenant, audit, failed, throttle};
use crate::domain::audit::{Entry, Event, Outcome};
use crate::domain::id::{self, Kind};
use crate::domain::language::Language;
use crate::domain::session::{
    IDLE_MS, OwnSession, SEEN_EVERY_MS, SESSIONS_MAX, Session, Token, Visitor, WHOLE_MS,
};
use crate::domain::user::Role;
use crate::error::Error;
use rusqlite::{Connection, OptionalExtension, Row};
use std::net::IpAddr;

/// The longest text that is kept of what a browser calls itself.
const AGENT_CHARS_MAX: usize = 200;

/// A new session, ready to be stored.
pub(super) struct NewSession {
    pub id: String,
    pub token: Token,
    digest: Digest,
    address: Option<String>,
    agent: Option<String>,
}

impl Store {
    /// Who is behind a cookie. Ended, expired and unknown ones are all nobody.
    pub fn session(&self, cookie: &str) -> Result<Option<Session>, Error> {
        let now_ms = self.clock.now_ms();
        let digest = secret::digest_of_token(cookie);
        let found = self.read(|connection| find(connection, &digest).optional())?;
        let found = found.filter(|session| !Session::is_over(session.created_at, session.seen_at, now_ms));
        let Some(session) = found else { return Ok(None) };
        if now_ms - session.seen_at >= SEEN_EVERY_MS {
            let (tenant_id, id) = (session.tenant_id.clone(), session.id.clone());
            self.write(move |connection| {
                connection
                    .prepare_cached("update session set seen_at = ?3 where tenant_id = ?1 and id = ?2")
                    .and_then(|mut row| row.execute((tenant_id, id, now_ms)))
                    .map_err(failed)
            })?;
        }
        Ok(Some(session))
    }

    /// Ends the session behind a cookie, if there is one.
    pub fn sign_out(&self, cookie: &str, address: Option<IpAddr>) -> Result<(), Error> {
        let now_ms = self.clock.now_ms();
        let digest = secret::digest_of_token(cookie);
        self.write(move |connection| {
            let found = find(connection, &digest).optional().map_err(failed)?;
            let Some(session) = found else { return Ok(()) };
            drop_session(connection, &session.tenant_id, &session.id)?;
            let entry = Entry {
                event: Event::SignedOut,
                result: Outcome::Done,
                actor: session.actor(address),
                tenant: Some(session.tenant_id),
                object_id: Some(session.id),
                detail: None,
            };
            audit::push(connection, now_ms, &entry)
        })
    }

    /// The token that the forms of a session carry.
    pub fn form_token(&self, session_id: &str) -> Result<String, Error> {
        Ok(secret::base64url(&secret::hmac(
            &self.server_secret()?,
            format!("session {session_id}").as_bytes(),
        )))
    }

    /// Does a form carry the token of its session?
    pub fn is_form_token(&self, session_id: &str, given: &str) -> Result<bool, Error> {
        Ok(secret::is_same(&self.form_token(session_id)?, given))
    }

    /// The value of a cookie for somebody who is not signed in yet; its form carries `visit_token` of it.
    pub fn make_visit(&self) -> Result<Token, Error> {
        Ok(Token::new(secret::make_token(&self.chance)?))
    }

    /// The token that the sign-in form carries, by the cookie that came with it.
    pub fn visit_token(&self, cookie: &str) -> Result<String, Error> {
        Ok(secret::base64url(&secret::hmac(&self.server_secret()?, format!("visit {cookie}").as_bytes())))
    }

    /// Does the sign-in form carry the token of its cookie?
    pub fn is_visit_token(&self, cookie: &str, given: &str) -> Result<bool, Error> {
        Ok(secret::is_same(&self.visit_token(cookie)?, given))
    }

    /// Clears away what is over: sessions, invitations, old failures. Gives how many sessions.
    pub fn forget_expired_sessions(&self) -> Result<usize, Error> {
        let now_ms = self.clock.now_ms();
        self.write(move |connection| {
            let over = "delete from session where created_at <= ?1 or seen_at <= ?2"; // whoever's they are
            let gone = connection.execute(over, (now_ms - WHOLE_MS, now_ms - IDLE_MS)).map_err(failed)?;
            connection
                .execute("delete from invitation where expires_at <= ?1", [now_ms]) // whoever's they are
                .map_err(failed)?;
            throttle::forget(connection, now_ms)?;
            Ok(gone)
        })
    }

    /// The secret of this database; made at its first use.
    fn server_secret(&self) -> Result<Digest, Error> {
        if let Some(known) = self.server_secret.get() {
            return Ok(*known);
        }
        let fresh = self.chance.bytes::<32>()?;
        let stored = self.write(move |connection| {
            connection
                .execute("insert or ignore into server_secret (name, value) values ('forms', ?1)", [fresh])
                .and_then(|_| {
                    let sql = "select value from server_secret where name = 'forms'";
                    connection.query_row(sql, [], |row| row.get::<_, Digest>(0))
                })
                .map_err(failed)
        })?;
        Ok(*self.server_secret.get_or_init(|| stored))
    }

    pub(super) fn new_session(&self, visitor: &Visitor) -> Result<NewSession, Error> {
        let token = secret::make_token(&self.chance)?;
        let agent = visitor.agent.as_ref().map(|agent| agent.chars().take(AGENT_CHARS_MAX).collect());
        Ok(NewSession {
            id: id::new(Kind::Session, self.clock.now_ms(), &self.chance)?,
            digest: secret::digest_of_token(&token),
            token: Token::new(token),
            address: visitor.address.map(|address| address.to_string()),
            agent,
        })
    }
}

impl Tenant<'_> {
    /// A person's sessions, the one used last first.
    pub fn sessions(&self, user_id: &str) -> Result<Vec<OwnSession>, Error> {
        let now_ms = self.now_ms();
        let mut sessions: Vec<OwnSession> = self.read(|connection| {
            let mut rows = connection.prepare_cached(
                "select id, created_at, seen_at, address, agent from session
                 where tenant_id = ?1 and user_id = ?2 order by seen_at desc, id desc",
            )?;
            let sessions = rows.query_map((&self.id, user_id), |row| {
                Ok(OwnSession {
                    id: row.get(0)?,
                    created_at: row.get(1)?,
                    seen_at: row.get(2)?,
                    address: row.get(3)?,
                    agent: row.get(4)?,
                })
            })?;
            sessions.collect()
        })?;
        sessions.retain(|session| !Session::is_over(session.created_at, session.seen_at, now_ms));
        Ok(sessions)
    }

    /// Ends one of a person's sessions.
    pub fn end_session(&self, user_id: &str, session_id: &str) -> Result<(), Error> {
        let (user_id, session_id) = (user_id.to_owned(), session_id.to_owned());
        self.write(move |desk| {
            let sql = "delete from session where tenant_id = ?1 and user_id = ?2 and id = ?3";
            let gone = desk
                .connection
                .prepare_cached(sql)
                .and_then(|mut row| row.execute((desk.tenant_id, &user_id, &session_id)))
                .map_err(failed)?;
            if gone == 0 {
                return Err(Error::NotFound("session"));
            }
            audit::note(desk, Event::SessionEnded, Some(&session_id), None)
        })
    }

    /// Ends all of a person's sessions but one; gives how many.
    pub fn end_other_sessions(&self, user_id: &str, keep: &str) -> Result<usize, Error> {
        let (user_id, keep) = (user_id.to_owned(), keep.to_owned());
        self.write(move |desk| end_all(desk, &user_id, Some(&keep)))
    }
}

/// Ends a person's sessions, all or all but one, and says so.
pub(super) fn end_all(desk: &Desk, user_id: &str, keep: Option<&str>) -> Result<usize, Error> {
    let sql = "delete from session where tenant_id = ?1 and user_id = ?2 and id <> ?3";
    let gone = desk
        .connection
        .prepare_cached(sql)
        .and_then(|mut row| row.execute((desk.tenant_id, user_id, keep.unwrap_or_default())))
        .map_err(failed)?;
    if gone > 0 {
        audit::note(desk, Event::SessionEnded, Some(user_id), Some(format!("{gone} sessions")))?;
    }
    Ok(gone)
}

/// Stores a new session; the person's oldest go if there are too many.
pub(super) fn begin(
    connection: &Connection,
    tenant_id: &str,
    user_id: &str,
    session: &NewSession,
    now_ms: i64,
) -> Result<(), Error> {
    let sql = "insert into session (tenant_id, id, user_id, hash, created_at, seen_at, address, agent)
               values (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7)";
    let row = (tenant_id, &session.id, user_id, session.digest, now_ms, &session.address, &session.agent);
    connection.prepare_cached(sql).and_then(|mut statement| statement.execute(row)).map_err(failed)?;
    let too_many = "delete from session where tenant_id = ?1 and user_id = ?2 and id <> ?3 and id not in
        (select id from session where tenant_id = ?1 and user_id = ?2 and id <> ?3
         order by created_at desc, id desc limit ?4)";
    let others = i64::try_from(SESSIONS_MAX - 1).unwrap_or(0);
    connection
        .prepare_cached(too_many)
        .and_then(|mut row| row.execute((tenant_id, user_id, &session.id, others)))
        .map(|_| ())
        .map_err(failed)
}

/// Gives a session a new cookie: the old value is worth nothing from now on.
pub(super) fn renew(desk: &Desk, session_id: &str, new: &NewSession) -> Result<(), Error> {
    desk.connection
        .prepare_cached("update session set hash = ?3 where tenant_id = ?1 and id = ?2")
        .and_then(|mut row| row.execute((desk.tenant_id, session_id, new.digest)))
        .map(|_| ())
        .map_err(failed)
}

/// Ends the session behind a cookie without a word: its person signs in anew.
pub(super) fn replace(connection: &Connection, cookie: &str) -> Result<(), Error> {
    let found = find(connection, &secret::digest_of_token(cookie)).optional().map_err(failed)?;
    found.map_or(Ok(()), |session| drop_session(connection, &session.tenant_id, &session.id))
}

fn drop_session(connection: &Connection, tenant_id: &str, id: &str) -> Result<(), Error> {
    connection
        .prepare_cached("delete from session where tenant_id = ?1 and id = ?2")
        .and_then(|mut row| row.execute((tenant_id, id)))
        .map(|_| ())
        .map_err(failed)
}

fn find(connection: &Connection, digest: &Digest) -> rusqlite::Result<Session> {
    connection
        .prepare_cached(
            "select session.id, session.tenant_id, tenant.name, user_id, user_account.name, email, role,
               session.created_at, seen_at, language
             from session
             join user_account on user_account.tenant_id = session.tenant_id and user_account.id = user_id
             join tenant on tenant.id = session.tenant_id
             where hash = ?1 and disabled_at is null",
        )?
        .query_row([digest], of_row)
}

fn of_row(row: &Row) -> rusqlite::Result<Session> {
    let (name, email): (String, String) = (row.get(4)?, row.get(5)?);
    Ok(Session {
        id: row.get(0)?,
        tenant_id: row.get(1)?,
        tenant: row.get(2)?,
        user_id: row.get(3)?,
        name: if name.is_empty() { email.clone() } else { name },
        email,
        role: word(row, 6, Role::parse)?,
        created_at: row.get(7)?,
        seen_at: row.get(8)?,
        // A language that a newer version wrote is none that this one speaks.
        language: row.get::<_, Option<String>>(9)?.as_deref().and_then(Language::parse),
    })
}
