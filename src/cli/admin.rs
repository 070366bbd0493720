//! Administration: tenants, people, keys. Works beside a running server.

use super::{Context, KeyCommand, TenantCommand, UserCommand, print};
use crate::clock::{parse_rfc3339, rfc3339};
use crate::domain::permission::Permissions;
use crate::error::Error;
use crate::store::{NewKey, Purpose, Store, make_password};
use std::io::{IsTerminal, Read};

const DAY_MS: i64 = 86_400_000;

/// `holdfast tenant …`
pub fn tenant(context: &Context, command: TenantCommand) -> Result<(), Error> {
    match command {
        TenantCommand::Create { name } => with_store(context, Purpose::Provision, |store| {
            print(&format!("{}\n", store.create_tenant(&name)?))
        }),
        TenantCommand::List => with_store(context, Purpose::Administer, |store| {
            let rows = store.tenants()?.into_iter().map(|tenant| {
                [
                    tenant.id,
                    tenant.name,
                    tenant.keys.to_string(),
                    tenant.users.to_string(),
                    rfc3339(tenant.created_at_ms),
                ]
            });
            print(&table(["ID", "NAME", "KEYS", "USERS", "CREATED"], rows.collect()))
        }),
        TenantCommand::Delete { name, yes: false } => Err(Error::invalid(format!(
            "this deletes the tenant `{name}` with all its data, for good; say so with --yes"
        ))),
        TenantCommand::Delete { name, yes: true } => {
            with_store(context, Purpose::Administer, |store| store.delete_tenant(&name))
        }
    }
}

/// `holdfast user …`
pub fn user(context: &Context, command: UserCommand) -> Result<(), Error> {
    with_store(context, Purpose::Administer, |store| match command {
        UserCommand::Create { tenant, email, role, name } => {
            let password = password(context)?;
            store.create_user(&tenant, &email, &name, role, password.text())?;
            password.show()
        }
        UserCommand::List { tenant } => {
            let rows = store.users(tenant.as_deref())?.into_iter().map(|user| {
                let state = match (user.disabled_at_ms, user.has_password) {
                    (Some(_), _) => "disabled",
                    (None, false) => "invited",
                    (None, true) => "active",
                };
                [
                    user.email,
                    user.name,
                    user.role.name().into(),
                    user.tenant,
                    state.into(),
                    rfc3339(user.created_at_ms),
                ]
            });
            print(&table(["EMAIL", "NAME", "ROLE", "TENANT", "STATE", "CREATED"], rows.collect()))
        }
        UserCommand::Password { email } => {
            let password = password(context)?;
            store.set_password(&email, password.text())?;
            password.show()
        }
        UserCommand::Disable { email } => store.disable_user(&email),
        UserCommand::Enable { email } => store.enable_user(&email),
    })
}

/// `holdfast key …`
pub fn key(context: &Context, command: KeyCommand) -> Result<(), Error> {
    with_store(context, Purpose::Administer, |store| match command {
        KeyCommand::Create { tenant, name, permissions, expires_in_days, expires_at } => {
            let expires_at_ms = expiry(context.clock.now_ms(), expires_in_days, expires_at.as_deref())?;
            let new = NewKey {
                name: checked_name(&name)?,
                permissions: Permissions::parse_list(&permissions).map_err(Error::invalid)?,
                expires_at_ms,
                created_by: None,
            };
            let (_, secret) = store.create_key(&store.tenant_id(&tenant)?, new)?;
            print(&format!("{}\n", secret.reveal()))
        }
        KeyCommand::List { tenant } => {
            let now_ms = context.clock.now_ms();
            let time = |at: Option<i64>| at.map_or("-".to_owned(), rfc3339);
            let rows = store.keys(&store.tenant_id(&tenant)?)?.into_iter().map(|key| {
                let state = match (key.revoked_at_ms, key.is_live(now_ms)) {
                    (Some(_), _) => "revoked",
                    (None, false) => "expired",
                    (None, true) => "live",
                };
                let permissions = Some(key.permissions.to_list()).filter(|list| !list.is_empty());
                [
                    key.id,
                    key.prefix,
                    key.name,
                    permissions.unwrap_or_else(|| "read".into()),
                    state.into(),
                    rfc3339(key.created_at_ms),
                    time(key.expires_at_ms),
                    time(key.last_used_at_ms),
                ]
            });
            let header = ["ID", "BEGINS", "NAME", "PERMISSIONS", "STATE", "CREATED", "EXPIRES", "LAST USED"];
            print(&table(header, rows.collect()))
        }
        KeyCommand::Revoke { id } => store.revoke_key(&id),
    })
}

/// `holdfast reindex`
pub fn reindex(context: &Context) -> Result<(), Error> {
    with_store(context, Purpose::Administer, |store| {
        print(&format!("{} objects indexed\n", store.rebuild_search()?))
    })
}

pub(super) fn with_store(
    context: &Context,
    purpose: Purpose,
    act: impl FnOnce(&Store) -> Result<(), Error>,
) -> Result<(), Error> {
    let store = context.store(purpose)?;
    let outcome = act(&store);
    outcome.and(store.close())
}

fn checked_name(name: &str) -> Result<String, Error> {
    let chars = name.chars().count();
    if name.trim().is_empty() || chars > 255 || name.contains('\0') {
        return Err(Error::invalid("a key's name has 1 to 255 characters, one of them not white space"));
    }
    Ok(name.to_owned())
}

fn expiry(now_ms: i64, in_days: Option<u32>, at: Option<&str>) -> Result<Option<i64>, Error> {
    if let Some(days) = in_days {
        return Ok(Some(now_ms + i64::from(days) * DAY_MS));
    }
    let parse = |text: &str| {
        parse_rfc3339(text).ok_or_else(|| {
            Error::invalid(format!("`{text}` is no time; it needs the form 2027-01-31T00:00:00Z"))
        })
    };
    at.map(parse).transpose()
}

/// A password that was typed, or one that was made and has to be shown.
enum Password {
    Typed(String),
    Made(String),
}

impl Password {
    fn text(&self) -> &str {
        match self {
            Password::Typed(text) | Password::Made(text) => text,
        }
    }

    fn show(&self) -> Result<(), Error> {
        match self {
            Password::Made(text) => print(&format!("{text}\n")),
            Password::Typed(_) => Ok(()),
        }
    }
}

fn password(context: &Context) -> Result<Password, Error> {
    let mut input = std::io::stdin();
    let mut typed = String::new();
    if !input.is_terminal() {
        input
            .by_ref()
            .take(4096)
            .read_to_string(&mut typed)
            .map_err(|cause| Error::invalid(format!("the password cannot be read: {cause}")))?;
    }
    let typed = typed.trim_end_matches(['\r', '\n']);
    match typed.is_empty() {
        true => Ok(Password::Made(make_password(&context.chance)?)),
        false => Ok(Password::Typed(typed.to_owned())),
    }
}

/// Columns as wide as their widest cell.
fn table<const N: usize>(header: [&str; N], rows: Vec<[String; N]>) -> String {
    let mut widths = header.map(str::len);
    // A name may hold anything; a terminal must not obey it.
    let plain =
        |cell: String| if cell.contains(char::is_control) { cell.escape_debug().to_string() } else { cell };
    let rows: Vec<[String; N]> = rows.into_iter().map(|row| row.map(plain)).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let header = header.map(str::to_owned);
    let mut text = String::new();
    for row in std::iter::once(&header).chain(&rows) {
        let cells: Vec<String> =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}
