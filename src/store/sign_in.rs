//! Signing in, and the other place where a password is asked for: changing it.
//!
//! Both go through the same turns and the same throttle. What is wrong, the address or the password, the
//! answer does not tell, and neither does the time it takes.

use super::session::{self, NewSession};
use super::throttle::Attempt;
use super::{Store, Tenant, audit, failed, history, secret, user};
use crate::domain::actor::{Actor, ActorKind};
use crate::domain::audit::{Entry, Event, Outcome};
use crate::domain::password::{PASSWORD_BYTES_MAX, check_password};
use crate::domain::session::{Token, Visitor};
use crate::domain::user::normal_email;
use crate::error::Error;
use rusqlite::{Connection, OptionalExtension};

/// What became of an attempt to sign in.
#[derive(Debug, PartialEq)]
pub enum SignIn {
    /// Come in; this is the cookie.
    Welcome(Token),
    /// There is no such person, or the password is another, or the account is switched off.
    Wrong,
    /// Too many failures: it was not even looked at.
    Wait {
        /// Until it will be.
        seconds: u64,
    },
    /// Too many sign in at this moment.
    Busy,
}

/// What became of an attempt to change a password.
#[derive(Debug, PartialEq)]
pub enum PasswordChange {
    /// Done; all other sessions are ended, and this one has a new cookie.
    Done(Token),
    /// The old password is another.
    Wrong,
    /// The new one will not do, and why.
    Refused(String),
    /// Too many failures: it was not even looked at.
    Wait {
        /// Until it will be.
        seconds: u64,
    },
    /// Too many do this at this moment.
    Busy,
}

/// An account as far as signing in goes.
struct Account {
    tenant_id: String,
    user_id: String,
    name: String,
    /// None before the first password is set.
    hash: Option<String>,
    disabled: bool,
}

/// What the throttle and the password together say.
enum Knock {
    Right,
    Wrong,
    Wait(u64),
    Busy,
}

impl Store {
    /// Signs somebody in. The session behind `old_cookie`, if one came along, is replaced.
    pub fn sign_in(
        &self,
        email: &str,
        password: &str,
        visitor: &Visitor,
        old_cookie: Option<&str>,
    ) -> Result<SignIn, Error> {
        // What is no address names nobody, and is refused like nobody.
        let email = normal_email(email).unwrap_or_else(|_| email.trim().to_lowercase());
        let account = self.read(|connection| account_of(connection, &email).optional())?;
        let attempt = Attempt::new(&email, visitor.address);
        let hash = account.as_ref().filter(|account| !account.disabled).and_then(|known| known.hash.clone());
        match self.knock(&attempt, password, hash.as_deref())? {
            Knock::Wait(seconds) => return Ok(SignIn::Wait { seconds }),
            Knock::Busy => return Ok(SignIn::Busy),
            Knock::Wrong => {
                self.refuse_sign_in(account.as_ref(), &email, visitor)?;
                return Ok(SignIn::Wrong);
            }
            Knock::Right => {}
        }
        let (Some(account), Some(hash)) = (account, hash) else { return Ok(SignIn::Wrong) };
        let turn = if secret::is_weak(&hash) { self.turns.take() } else { None };
        let rehashed = turn.as_ref().map(|_| secret::hash_password(password, &self.chance)).transpose()?;
        drop(turn);
        let new = self.new_session(visitor)?;
        let token = new.token.clone();
        let actor = Actor::user(&account.user_id, &account.name).at(visitor.address);
        let old_cookie = old_cookie.map(str::to_owned);
        let now_ms = self.clock.now_ms();
        let entered = self.write(move |connection| {
            // Somebody may have switched the account off, or changed its password, meanwhile.
            let now = account_of(connection, &email).optional().map_err(failed)?;
            if !now.is_some_and(|now| !now.disabled && now.hash.as_deref() == Some(hash.as_str())) {
                return Ok(false);
            }
            attempt.forgive(connection)?;
            if let Some(cookie) = &old_cookie {
                session::replace(connection, cookie)?;
            }
            if let Some(hash) = &rehashed {
                user::set_hash(connection, &account.tenant_id, &account.user_id, hash)?;
            }
            enter(connection, &account, actor, &new, now_ms).map(|()| true)
        })?;
        Ok(if entered { SignIn::Welcome(token) } else { SignIn::Wrong })
    }

    /// Counts an attempt and looks at the password, if it is its turn.
    fn knock(&self, attempt: &Attempt, password: &str, hash: Option<&str>) -> Result<Knock, Error> {
        let now_ms = self.clock.now_ms();
        let wait = self.read(|connection| attempt.wait(connection, now_ms))?;
        if wait > 0 {
            return Ok(Knock::Wait(wait));
        }
        let Some(_turn) = self.turns.take() else { return Ok(Knock::Busy) };
        let claim = attempt.clone();
        let now_ms = self.clock.now_ms();
        if let Some(seconds) = self.write(move |connection| claim.claim(connection, now_ms))? {
            return Ok(Knock::Wait(seconds));
        }
        // Nobody has a password that long: it is not hashed, and costs no more than it should.
        let cut = if password.len() > PASSWORD_BYTES_MAX { "" } else { password };
        Ok(if secret::is_password(cut, hash) { Knock::Right } else { Knock::Wrong })
    }

    fn refuse_sign_in(&self, account: Option<&Account>, email: &str, visitor: &Visitor) -> Result<(), Error> {
        // Somebody may have typed a password into the wrong field: only known addresses are written.
        let actor = Actor {
            kind: ActorKind::User,
            id: account.map(|account| account.user_id.clone()),
            name: account.map(|_| email.to_owned()),
            address: visitor.address,
        };
        self.note_refused(Event::SignInRefused, account.map(|account| account.tenant_id.clone()), actor)
    }

    fn note_refused(&self, event: Event, tenant: Option<String>, actor: Actor) -> Result<(), Error> {
        let now_ms = self.clock.now_ms();
        let entry = Entry { event, result: Outcome::Refused, tenant, actor, object_id: None, detail: None };
        let Some(entry) = self.refusals.admit(entry, None, now_ms) else { return Ok(()) };
        self.write(move |connection| audit::push(connection, now_ms, &entry))
    }
}

impl Tenant<'_> {
    /// Changes one's own password, knowing the old one. `session_id` is the session that stays.
    pub fn change_password(
        &self,
        user_id: &str,
        old: &str,
        new: &str,
        session_id: &str,
    ) -> Result<PasswordChange, Error> {
        let person = self.user(user_id)?;
        if let Err(reason) = check_password(new, &[&person.name, &person.email, &person.tenant]) {
            return Ok(PasswordChange::Refused(reason));
        }
        let account = self.read(|connection| account_of(connection, &person.email))?;
        let attempt = Attempt::new(&person.email, self.actor.address);
        match self.store.knock(&attempt, old, account.hash.as_deref())? {
            Knock::Wait(seconds) => return Ok(PasswordChange::Wait { seconds }),
            Knock::Busy => return Ok(PasswordChange::Busy),
            Knock::Wrong => {
                let (tenant, actor) = (Some(self.id.clone()), self.actor.clone());
                self.store.note_refused(Event::PasswordRefused, tenant, actor)?;
                return Ok(PasswordChange::Wrong);
            }
            Knock::Right => {}
        }
        let Some(turn) = self.store.turns.take() else {
            self.store.write(move |connection| attempt.forgive(connection))?;
            return Ok(PasswordChange::Busy);
        };
        let hash = secret::hash_password(new, &self.store.chance)?;
        drop(turn);
        let renewed = self.store.new_session(&Visitor::default())?;
        let token = renewed.token.clone();
        let (user_id, session_id) = (user_id.to_owned(), session_id.to_owned());
        self.write(move |desk| {
            attempt.forgive(desk.connection)?;
            user::set_hash(desk.connection, desk.tenant_id, &user_id, &hash)?;
            session::end_all(desk, &user_id, Some(&session_id))?;
            session::renew(desk, &session_id, &renewed)?;
            history::touched(desk, &user_id, "password")?;
            audit::note(desk, Event::PasswordChanged, Some(&user_id), None)
        })?;
        Ok(PasswordChange::Done(token))
    }
}

fn enter(
    connection: &Connection,
    account: &Account,
    actor: Actor,
    new: &NewSession,
    now_ms: i64,
) -> Result<(), Error> {
    session::begin(connection, &account.tenant_id, &account.user_id, new, now_ms)?;
    let entry = Entry {
        event: Event::SignedIn,
        result: Outcome::Done,
        tenant: Some(account.tenant_id.clone()),
        actor,
        object_id: Some(new.id.clone()),
        detail: None,
    };
    audit::push(connection, now_ms, &entry)
}

fn account_of(connection: &Connection, email: &str) -> rusqlite::Result<Account> {
    let sql = "select tenant_id, id, name, password_hash, disabled_at is not null from user_account
               where email = ?1";
    connection.prepare_cached(sql)?.query_row([email], |row| {
        let hash: String = row.get(3)?;
        Ok(Account {
            tenant_id: row.get(0)?,
            user_id: row.get(1)?,
            name: row.get(2)?,
            hash: Some(hash).filter(|hash| !hash.is_empty()),
            disabled: row.get(4)?,
        })
    })
}
