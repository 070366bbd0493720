//! The first start: a tenant, its owner and a key are made and shown once.
//!
//! On a terminal they are printed. Otherwise a service manager would keep what is
//! printed in its log, so they go to a file that only its owner can read.

use super::print;
use crate::app::App;
use crate::chance::Chance;
use crate::clock::rfc3339;
use crate::domain::actor::Actor;
use crate::domain::day::Day;
use crate::domain::import::{Import, read_object};
use crate::domain::json;
use crate::domain::key::Secret;
use crate::domain::risk::Basis;
use crate::error::Error;
use crate::store::make_password;
use serde_json::Value;
use std::fs::OpenOptions;
use std::io::{IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

const OWNER: &str = "owner@localhost";
/// The database of `holdfast demo`.
pub const DEMO_FILE: &str = "holdfast-demo.db";
const DEMO_DATA: &str = include_str!("../../data/demo/tenant.json");

/// What a new database begins with beside its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Example {
    /// Nothing.
    None,
    /// An invented bank.
    Bank,
}

impl Example {
    fn tenant(self) -> &'static str {
        match self {
            Example::None => "default",
            Example::Bank => "Bankhaus Merrowald (demo)",
        }
    }
}

/// Makes the first tenant, if there is none.
pub fn greet(app: &App, chance: &Chance, example: Example) -> Result<(), Error> {
    let tenants = app.store.tenants()?;
    if !tenants.is_empty() {
        let is_demo = tenants.iter().any(|tenant| tenant.name == example.tenant());
        if example == Example::Bank && !is_demo {
            return Err(Error::invalid(
                "this database has tenants of its own; `demo` serves only what it made itself",
            ));
        }
        return Ok(());
    }
    let password = make_password(chance)?;
    let tenant = example.tenant();
    if std::io::stdout().is_terminal() {
        show(app, tenant, password)?
    } else {
        leave_file(app, tenant, password)?
    }
    if example == Example::Bank {
        let handle = app.store.tenant(&app.store.tenant_id(tenant)?).by(Actor::command_line());
        handle.import(example_data(app.clock.now_ms())?, false)?;
        handle.analyse(Basis::Criticality)?;
    }
    Ok(())
}

/// The example's rows, with the days and times in them counted from now: `@-12` and `@+30` are days,
/// `@-3h` hours and `@-12d` moments so many days ago.
fn example_data(now_ms: i64) -> Result<Import, Error> {
    let mut data = json::object(DEMO_DATA.as_bytes()).map_err(Error::Invalid)?;
    data.values_mut().for_each(|part| date(part, now_ms));
    read_object(data).map_err(Error::Invalid)
}

fn date(value: &mut Value, now_ms: i64) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| date(item, now_ms)),
        Value::Object(fields) => fields.values_mut().for_each(|field| date(field, now_ms)),
        Value::String(text) => {
            if let Some(dated) = text.strip_prefix('@').and_then(|distance| dated(distance, now_ms)) {
                *text = dated;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn dated(distance: &str, now_ms: i64) -> Option<String> {
    const HOUR_MS: i64 = 3_600_000;
    let moment = |number: &str, unit_ms: i64| Some(rfc3339(now_ms + number.parse::<i64>().ok()? * unit_ms));
    if let Some(hours) = distance.strip_suffix('h') {
        return moment(hours, HOUR_MS);
    }
    if let Some(days) = distance.strip_suffix('d') {
        return moment(days, 24 * HOUR_MS);
    }
    let days: i32 = distance.parse().ok()?;
    Some(Day::of_ms(now_ms).plus_days(days).to_string())
}

fn show(app: &App, tenant: &'static str, password: String) -> Result<(), Error> {
    let (tell, told) = channel();
    let base_url = app.base_url.clone();
    let spoken = password.clone();
    app.store.first_run(tenant, OWNER, &password, move |key| {
        let _ = tell.send(text(tenant, &base_url, &spoken, key));
        Ok(())
    })?;
    print(&told.recv().unwrap_or_default())
}

/// The file is there before the commit, so that no key exists that nobody has seen.
fn leave_file(app: &App, tenant: &'static str, password: String) -> Result<(), Error> {
    let mut name = app.config.db.as_os_str().to_owned();
    name.push(".first-run");
    let path = PathBuf::from(name);
    let (base_url, spoken, file) = (app.base_url.clone(), password.clone(), path.clone());
    let made = app
        .store
        .first_run(tenant, OWNER, &password, move |key| write(&file, &text(tenant, &base_url, &spoken, key)));
    if made.is_err() {
        let _ = std::fs::remove_file(&path);
    }
    made?;
    print(&format!("first run: the owner's password and the first key are in {}\n", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    let cannot = |cause: std::io::Error| Error::internal("writing the first-run file", cause);
    // Made anew: an older file could be readable by others.
    let _ = std::fs::remove_file(path);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(cannot)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(cannot)
}

fn text(tenant: &str, base_url: &str, password: &str, key: &Secret) -> String {
    let key = key.reveal();
    format!(
        "\nHoldfast is ready. This is shown once; keep it safe.\n\n  \
         tenant      {tenant}\n  \
         owner       {OWNER}\n  \
         password    {password}\n  \
         API key     {key}\n\n\
         Try it:\n\n  \
         curl -H 'Authorization: Bearer {key}' '{base_url}/api/v1/dora/measures?limit=2'\n\n"
    )
}
