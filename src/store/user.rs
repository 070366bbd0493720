//! People who sign in to the workspace.
//!
//! A tenant always keeps one owner who can sign in. Whatever takes power away from a person ends the
//! person's sessions in the same act.

use super::list::word;
use super::{Desk, Store, Tenant, audit, failed, history, secret, session};
use crate::domain::actor::Actor;
use crate::domain::audit::Event;
use crate::domain::id::Kind;
use crate::domain::password::check_password;
use crate::domain::session::{INVITATION_MS, Token};
use crate::domain::user::{Role, User, normal_email};
use crate::error::Error;
use rusqlite::{Connection, OptionalExtension, Row};

const SELECT: &str = "select user_account.id, tenant.name, email, role, user_account.created_at, disabled_at,
    user_account.name, password_hash <> '' from user_account join tenant on tenant.id = tenant_id";
/// The longest name of a person.
const NAME_CHARS_MAX: usize = 255;

/// What became of an attempt to use an invitation.
#[derive(Debug, PartialEq)]
pub enum Invitation {
    /// The password is set; the person can sign in with this address.
    Used {
        /// The address.
        email: String,
    },
    /// There is no such invitation, or it was used, or its time is over.
    Gone,
    /// The password will not do, and why.
    Refused(String),
    /// Too many do this at this moment.
    Busy,
}

impl Store {
    /// Makes an account with a password.
    pub fn create_user(
        &self,
        tenant: &str,
        email: &str,
        name: &str,
        role: Role,
        password: &str,
    ) -> Result<String, Error> {
        let email = normal_email(email).map_err(Error::invalid)?;
        let name = checked_name(name)?;
        check_password(password, &[&email, &name, tenant]).map_err(Error::invalid)?;
        let hash = secret::hash_password(password, &self.chance)?;
        let handle = self.tenant(&self.tenant_id(tenant)?).by(Actor::command_line());
        handle.write(move |desk| {
            let id = insert(desk, &email, &name, role, &hash)?;
            audit::note(desk, Event::UserCreated, Some(&id), Some(format!("{email}, {}", role.name())))?;
            Ok(id)
        })
    }

    /// All accounts, or those of one tenant, by tenant and address.
    pub fn users(&self, tenant: Option<&str>) -> Result<Vec<User>, Error> {
        let tenant_id = tenant.map(|name| self.tenant_id(name)).transpose()?;
        self.read(|connection| {
            let mut rows = connection.prepare_cached(&format!(
                "{SELECT} where ?1 is null or tenant_id = ?1 order by tenant.name, email"
            ))?;
            let users = rows.query_map([tenant_id], of_row)?;
            users.collect()
        })
    }

    /// Sets a new password and ends all sessions.
    pub fn set_password(&self, email: &str, password: &str) -> Result<(), Error> {
        let (tenant_id, user) = self.user_by_email(email)?;
        check_password(password, &[&user.email, &user.name, &user.tenant]).map_err(Error::invalid)?;
        let hash = secret::hash_password(password, &self.chance)?;
        self.tenant(&tenant_id).by(Actor::command_line()).write(move |desk| {
            set_hash(desk.connection, desk.tenant_id, &user.id, &hash)?;
            drop_invitation(desk, &user.id)?;
            session::end_all(desk, &user.id, None)?;
            history::touched(desk, &user.id, "password")?;
            audit::note(desk, Event::PasswordChanged, Some(&user.id), None)
        })
    }

    /// Switches an account off, by its address; it stays in the lists.
    pub fn disable_user(&self, email: &str) -> Result<(), Error> {
        let (tenant_id, user) = self.user_by_email(email)?;
        self.tenant(&tenant_id).by(Actor::command_line()).disable_user(&user.id).map(|_| ())
    }

    /// Switches an account on again, by its address.
    pub fn enable_user(&self, email: &str) -> Result<(), Error> {
        let (tenant_id, user) = self.user_by_email(email)?;
        self.tenant(&tenant_id).by(Actor::command_line()).enable_user(&user.id).map(|_| ())
    }

    fn user_by_email(&self, email: &str) -> Result<(String, User), Error> {
        let email = normal_email(email).map_err(Error::invalid)?;
        let found = self.read(|connection| {
            let sql = "select tenant_id, id from user_account where email = ?1";
            let place: Option<(String, String)> =
                connection.query_row(sql, [&email], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
            place
                .map(|(tenant_id, id)| Ok((tenant_id.clone(), find(connection, &tenant_id, &id)?)))
                .transpose()
        })?;
        found.ok_or_else(|| Error::invalid(format!("there is no user `{email}`")))
    }

    /// The person behind an invitation that counts.
    pub fn invited(&self, token: &str) -> Result<Option<User>, Error> {
        let now_ms = self.clock.now_ms();
        let digest = secret::digest_of_token(token);
        let place = self.read(|connection| invited(connection, &digest, now_ms))?;
        place.map(|(tenant_id, user_id)| self.tenant(&tenant_id).user(&user_id)).transpose()
    }

    /// Sets the password of whoever holds an invitation, once.
    pub fn use_invitation(&self, token: &str, name: &str, password: &str) -> Result<Invitation, Error> {
        let Some(user) = self.invited(token)? else { return Ok(Invitation::Gone) };
        let name = checked_name(name)?;
        if let Err(reason) = check_password(password, &[&name, &user.email, &user.tenant]) {
            return Ok(Invitation::Refused(reason));
        }
        let Some(_turn) = self.turns.take() else { return Ok(Invitation::Busy) };
        let hash = secret::hash_password(password, &self.chance)?;
        let digest = secret::digest_of_token(token);
        let tenant_id = self.tenant_id(&user.tenant)?;
        let shown = if name.is_empty() { &user.email } else { &name };
        let actor = Actor::user(&user.id, shown);
        self.tenant(&tenant_id).by(actor).write(move |desk| {
            // Of two who use it at once, one does.
            let still = invited(desk.connection, &digest, desk.now_ms).map_err(failed)?;
            if still.is_none() {
                return Ok(Invitation::Gone);
            }
            set_hash(desk.connection, desk.tenant_id, &user.id, &hash)?;
            drop_invitation(desk, &user.id)?;
            if !name.is_empty() {
                update(desk, &User { name: name.clone(), ..user.clone() })?;
            }
            session::end_all(desk, &user.id, None)?;
            history::touched(desk, &user.id, "password")?;
            audit::note(desk, Event::InvitationUsed, Some(&user.id), None)?;
            Ok(Invitation::Used { email: user.email })
        })
    }
}

impl Tenant<'_> {
    /// The tenant's people, by address.
    pub fn users(&self) -> Result<Vec<User>, Error> {
        self.read(|connection| {
            let mut rows =
                connection.prepare_cached(&format!("{SELECT} where tenant_id = ?1 order by email"))?;
            let users = rows.query_map([&self.id], of_row)?;
            users.collect()
        })
    }

    /// One person.
    pub fn user(&self, id: &str) -> Result<User, Error> {
        self.read(|connection| find(connection, &self.id, id).optional())?.ok_or(Error::NotFound("user"))
    }

    /// Brings somebody in: an account without a password, and the token of a link that sets one within a week.
    pub fn invite_user(&self, email: &str, name: &str, role: Role) -> Result<(User, Token), Error> {
        let email = normal_email(email).map_err(|reason| Error::field("email", reason))?;
        let name = checked_name(name)?;
        let token = secret::make_token(&self.store.chance)?;
        let digest = secret::digest_of_token(&token);
        let user = self.write(move |desk| {
            let id = insert(desk, &email, &name, role, "")?;
            invite(desk, &id, digest)?;
            audit::note(desk, Event::UserInvited, Some(&id), Some(format!("{email}, {}", role.name())))?;
            find(desk.connection, desk.tenant_id, &id).map_err(failed)
        })?;
        Ok((user, Token::new(token)))
    }

    /// A new link for somebody, in place of the one before: it sets a first password, or a forgotten one anew.
    pub fn invite_again(&self, user_id: &str) -> Result<Token, Error> {
        let user_id = user_id.to_owned();
        let token = secret::make_token(&self.store.chance)?;
        let digest = secret::digest_of_token(&token);
        self.write(move |desk| {
            let user = known(desk, &user_id)?;
            if user.disabled_at_ms.is_some() {
                return Err(Error::invalid("this account is switched off; switch it on first"));
            }
            if desk.actor.id.as_deref() == Some(user_id.as_str()) {
                return Err(Error::invalid("your own password is changed in your profile"));
            }
            invite(desk, &user_id, digest)?;
            audit::note(desk, Event::UserInvited, Some(&user_id), Some(user.email))
        })?;
        Ok(Token::new(token))
    }

    /// Gives a person another name.
    pub fn rename_user(&self, user_id: &str, name: &str) -> Result<User, Error> {
        let (user_id, name) = (user_id.to_owned(), checked_name(name)?);
        self.write(move |desk| {
            let user = User { name, ..known(desk, &user_id)? };
            update(desk, &user)?;
            audit::note(desk, Event::UserChanged, Some(&user_id), None)?;
            Ok(user)
        })
    }

    /// Gives a person another role. The last owner stays one.
    pub fn change_role(&self, user_id: &str, role: Role) -> Result<User, Error> {
        let user_id = user_id.to_owned();
        self.write(move |desk| {
            let before = known(desk, &user_id)?;
            if before.role == role {
                return Ok(before);
            }
            keep_an_owner(desk, &before)?;
            let user = User { role, ..before.clone() };
            update(desk, &user)?;
            session::end_all(desk, &user_id, None)?;
            let detail = format!("{} to {}", before.role.name(), role.name());
            audit::note(desk, Event::RoleChanged, Some(&user_id), Some(detail))?;
            Ok(user)
        })
    }

    /// Switches an account off. The last owner's stays on.
    pub fn disable_user(&self, user_id: &str) -> Result<User, Error> {
        let user_id = user_id.to_owned();
        self.write(move |desk| {
            let before = known(desk, &user_id)?;
            if before.disabled_at_ms.is_some() {
                return Ok(before);
            }
            keep_an_owner(desk, &before)?;
            let user = User { disabled_at_ms: Some(desk.now_ms), ..before };
            update(desk, &user)?;
            drop_invitation(desk, &user_id)?;
            session::end_all(desk, &user_id, None)?;
            audit::note(desk, Event::UserDisabled, Some(&user_id), None)?;
            Ok(user)
        })
    }

    /// Switches an account on again.
    pub fn enable_user(&self, user_id: &str) -> Result<User, Error> {
        let user_id = user_id.to_owned();
        self.write(move |desk| {
            let before = known(desk, &user_id)?;
            if before.disabled_at_ms.is_none() {
                return Ok(before);
            }
            let user = User { disabled_at_ms: None, ..before };
            update(desk, &user)?;
            audit::note(desk, Event::UserEnabled, Some(&user_id), None)?;
            Ok(user)
        })
    }
}

fn checked_name(name: &str) -> Result<String, Error> {
    let name = name.trim();
    if name.chars().count() > NAME_CHARS_MAX || name.chars().any(char::is_control) {
        let reason = format!("has at most {NAME_CHARS_MAX} characters, none of them a control character");
        return Err(Error::field("name", reason));
    }
    Ok(name.to_owned())
}

fn known(desk: &Desk, user_id: &str) -> Result<User, Error> {
    let found = find(desk.connection, desk.tenant_id, user_id).optional().map_err(failed)?;
    found.ok_or(Error::NotFound("user"))
}

/// Refuses to take the last owner who can sign in.
fn keep_an_owner(desk: &Desk, user: &User) -> Result<(), Error> {
    if user.role != Role::Owner || user.disabled_at_ms.is_some() || !user.has_password {
        return Ok(());
    }
    let sql = "select count(*) from user_account where tenant_id = ?1 and id <> ?2 and role = 'owner'
               and disabled_at is null and password_hash <> ''";
    let others: i64 = desk
        .connection
        .prepare_cached(sql)
        .and_then(|mut row| row.query_row((desk.tenant_id, &user.id), |row| row.get(0)))
        .map_err(failed)?;
    if others > 0 {
        return Ok(());
    }
    Err(Error::invalid(format!("{} is the last owner; make somebody else an owner first", user.email)))
}

fn invite(desk: &Desk, user_id: &str, digest: secret::Digest) -> Result<(), Error> {
    let sql =
        "insert or replace into invitation (tenant_id, user_id, hash, expires_at) values (?1, ?2, ?3, ?4)";
    desk.connection
        .prepare_cached(sql)
        .and_then(|mut row| row.execute((desk.tenant_id, user_id, digest, desk.now_ms + INVITATION_MS)))
        .map(|_| ())
        .map_err(failed)
}

fn drop_invitation(desk: &Desk, user_id: &str) -> Result<(), Error> {
    desk.connection
        .prepare_cached("delete from invitation where tenant_id = ?1 and user_id = ?2")
        .and_then(|mut row| row.execute((desk.tenant_id, user_id)))
        .map(|_| ())
        .map_err(failed)
}

/// Whose an invitation is, if it counts and its person is let in.
fn invited(
    connection: &Connection,
    digest: &secret::Digest,
    now_ms: i64,
) -> rusqlite::Result<Option<(String, String)>> {
    let sql = "select invitation.tenant_id, user_id from invitation
               join user_account on user_account.tenant_id = invitation.tenant_id and user_account.id = user_id
               where hash = ?1 and expires_at > ?2 and disabled_at is null";
    connection
        .prepare_cached(sql)?
        .query_row((digest, now_ms), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

/// Stores a new account; an empty hash is none, and nobody signs in with it.
pub(super) fn insert(desk: &Desk, email: &str, name: &str, role: Role, hash: &str) -> Result<String, Error> {
    let id = desk.new_id(Kind::User)?;
    let added = desk
        .connection
        .execute(
            "insert into user_account (tenant_id, id, email, role, password_hash, created_at, name)
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7) on conflict (email) do nothing",
            (desk.tenant_id, &id, email, role.name(), hash, desk.now_ms, name),
        )
        .map_err(failed)?;
    if added == 0 {
        return Err(Error::field("email", format!("there is already a user `{email}`")));
    }
    history::created(desk, &find(desk.connection, desk.tenant_id, &id).map_err(failed)?)?;
    Ok(id)
}

fn update(desk: &Desk, user: &User) -> Result<(), Error> {
    let before = known(desk, &user.id)?;
    let sql =
        "update user_account set name = ?3, role = ?4, disabled_at = ?5 where tenant_id = ?1 and id = ?2";
    desk.connection
        .prepare_cached(sql)
        .and_then(|mut row| {
            row.execute((desk.tenant_id, &user.id, &user.name, user.role.name(), user.disabled_at_ms))
        })
        .map_err(failed)?;
    history::changed(desk, &before, user)
}

pub(super) fn set_hash(
    connection: &Connection,
    tenant_id: &str,
    user_id: &str,
    hash: &str,
) -> Result<(), Error> {
    connection
        .prepare_cached("update user_account set password_hash = ?3 where tenant_id = ?1 and id = ?2")
        .and_then(|mut row| row.execute((tenant_id, user_id, hash)))
        .map(|_| ())
        .map_err(failed)
}

fn find(connection: &Connection, tenant_id: &str, id: &str) -> rusqlite::Result<User> {
    connection
        .prepare_cached(&format!("{SELECT} where tenant_id = ?1 and user_account.id = ?2"))?
        .query_row((tenant_id, id), of_row)
}

fn of_row(row: &Row) -> rusqlite::Result<User> {
    Ok(User {
        id: row.get(0)?,
        tenant: row.get(1)?,
        email: row.get(2)?,
        role: word(row, 3, Role::parse)?,
        created_at_ms: row.get(4)?,
        disabled_at_ms: row.get(5)?,
        name: row.get(6)?,
        has_password: row.get(7)?,
    })
}
