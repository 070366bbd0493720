//! People who sign in to the workspace.

use super::{Store, failed, secret};
use crate::domain::id::{self, Kind};
use crate::domain::user::{Role, User, check_password, normal_email};
use crate::error::Error;
use rusqlite::Connection;

/// What a new account needs.
pub(super) struct NewUser<'a> {
    pub tenant_id: &'a str,
    pub id: &'a str,
    pub email: &'a str,
    pub role: Role,
    pub password_hash: &'a str,
    pub now_ms: i64,
}

impl Store {
    /// Makes an account.
    pub fn create_user(
        &self,
        tenant: &str,
        email: &str,
        role: Role,
        password: &str,
    ) -> Result<String, Error> {
        let email = normal_email(email).map_err(Error::invalid)?;
        let password_hash = self.hashed(password)?;
        let tenant_id = self.tenant_id(tenant)?;
        let now_ms = self.clock.now_ms();
        let id = id::new(Kind::User, now_ms, &self.chance)?;
        self.write(move |connection| {
            let user = NewUser {
                tenant_id: &tenant_id,
                id: &id,
                email: &email,
                role,
                password_hash: &password_hash,
                now_ms,
            };
            insert_user(connection, &user).map(|()| id)
        })
    }

    /// All accounts, or those of one tenant, by tenant and address.
    pub fn users(&self, tenant: Option<&str>) -> Result<Vec<User>, Error> {
        let tenant_id = tenant.map(|name| self.tenant_id(name)).transpose()?;
        self.read(|connection| {
            let mut rows = connection.prepare_cached(
                "select user_account.id, tenant.name, email, role, user_account.created_at, disabled_at
                 from user_account join tenant on tenant.id = tenant_id
                 where ?1 is null or tenant_id = ?1 order by tenant.name, email",
            )?;
            let users = rows.query_map([tenant_id], |row| {
                Ok(User {
                    id: row.get(0)?,
                    tenant: row.get(1)?,
                    email: row.get(2)?,
                    role: Role::parse(&row.get::<_, String>(3)?).unwrap_or(Role::Viewer),
                    created_at_ms: row.get(4)?,
                    disabled_at_ms: row.get(5)?,
                })
            })?;
            users.collect()
        })
    }

    /// Sets a new password.
    pub fn set_password(&self, email: &str, password: &str) -> Result<(), Error> {
        let hash = self.hashed(password)?;
        self.change_user(email, "update user_account set password_hash = ?2 where email = ?1", hash)
    }

    /// Switches an account off; it stays in the lists.
    pub fn disable_user(&self, email: &str) -> Result<(), Error> {
        let now_ms = self.clock.now_ms();
        let sql = "update user_account set disabled_at = coalesce(disabled_at, ?2) where email = ?1";
        self.change_user(email, sql, now_ms)
    }

    fn change_user(
        &self,
        email: &str,
        sql: &'static str,
        value: impl rusqlite::ToSql + Send + 'static,
    ) -> Result<(), Error> {
        let email = normal_email(email).map_err(Error::invalid)?;
        self.write(move |connection| {
            let changed = connection.execute(sql, (&email, value)).map_err(failed)?;
            if changed == 1 { Ok(()) } else { Err(Error::invalid(format!("there is no user `{email}`"))) }
        })
    }

    fn hashed(&self, password: &str) -> Result<String, Error> {
        check_password(password).map_err(Error::invalid)?;
        secret::hash_password(password, &self.chance)
    }
}

pub(super) fn insert_user(connection: &Connection, user: &NewUser) -> Result<(), Error> {
    let added = connection
        .execute(
            "insert into user_account (tenant_id, id, email, role, password_hash, created_at)
             values (?1, ?2, ?3, ?4, ?5, ?6) on conflict (email) do nothing",
            (user.tenant_id, user.id, user.email, user.role.name(), user.password_hash, user.now_ms),
        )
        .map_err(failed)?;
    if added == 1 { Ok(()) } else { Err(Error::invalid(format!("there is already a user `{}`", user.email))) }
}
