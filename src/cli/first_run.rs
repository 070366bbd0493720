//! The first start: a tenant, its owner and a key are made and shown once.
//!
//! On a terminal they are printed. Otherwise a service manager would keep what is
//! printed in its log, so they go to a file that only its owner can read.

use super::print;
use crate::app::App;
use crate::chance::Chance;
use crate::domain::key::Secret;
use crate::error::Error;
use crate::store::make_password;
use std::fs::OpenOptions;
use std::io::{IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

const TENANT: &str = "default";
const OWNER: &str = "owner@localhost";

/// Makes the first tenant, if there is none.
pub fn greet(app: &App, chance: &Chance) -> Result<(), Error> {
    if !app.store.is_unused()? {
        return Ok(());
    }
    let password = make_password(chance)?;
    if std::io::stdout().is_terminal() { show(app, password) } else { leave_file(app, password) }
}

fn show(app: &App, password: String) -> Result<(), Error> {
    let (tell, told) = channel();
    let base_url = app.base_url.clone();
    let spoken = password.clone();
    app.store.first_run(TENANT, OWNER, &password, move |key| {
        let _ = tell.send(text(&base_url, &spoken, key));
        Ok(())
    })?;
    print(&told.recv().unwrap_or_default())
}

/// The file is there before the commit, so that no key exists that nobody has seen.
fn leave_file(app: &App, password: String) -> Result<(), Error> {
    let mut name = app.config.db.as_os_str().to_owned();
    name.push(".first-run");
    let path = PathBuf::from(name);
    let (base_url, spoken, file) = (app.base_url.clone(), password.clone(), path.clone());
    let made = app
        .store
        .first_run(TENANT, OWNER, &password, move |key| write(&file, &text(&base_url, &spoken, key)));
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

fn text(base_url: &str, password: &str, key: &Secret) -> String {
    let key = key.reveal();
    format!(
        "\nHoldfast is ready. This is shown once; keep it safe.\n\n  \
         tenant      {TENANT}\n  \
         owner       {OWNER}\n  \
         password    {password}\n  \
         API key     {key}\n\n\
         Try it:\n\n  \
         curl -H 'Authorization: Bearer {key}' '{base_url}/api/v1/dora/measures?limit=2'\n\n"
    )
}
