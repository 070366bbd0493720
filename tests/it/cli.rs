//! The command line as an operator types it.

use crate::process::{Workplace, mode, wait_until};
use holdfast::config::SETTINGS;
use std::time::Duration;

#[test]
fn the_first_start_leaves_its_secrets_in_a_private_file_and_the_second_makes_none() {
    let place = Workplace::new();
    let server = place.serve();
    assert!(server.printed[0].contains("holdfast.db.first-run"));
    let printed = server.printed.join("\n");
    let key = place.first_key();
    assert!(!printed.contains(&key), "a service log would keep it");
    server.get("/api/v1/dora/measures?limit=1").key(&key).expect(200);
    for file in
        ["holdfast.db", "holdfast.db-wal", "holdfast.db-shm", "holdfast.db.first-run", "holdfast.db.lock"]
    {
        assert_eq!(mode(&place.folder.path().join(file)), 0o600, "{file}");
    }
    let text = std::fs::read_to_string(place.folder.path().join("holdfast.db.first-run")).unwrap();
    assert!(text.contains("owner@localhost") && text.contains("curl -H"));
    assert!(text.contains(&format!("http://{}/api/v1/", server.address)));
    assert!(server.stop(Duration::from_secs(15)).success());
    std::fs::remove_file(place.folder.path().join("holdfast.db.first-run")).unwrap();
    let again = place.serve();
    assert_eq!(again.printed.len(), 1, "{:?}", again.printed);
    again.get("/api/v1/dora/measures?limit=1").key(&key).expect(200);
}

#[test]
fn tenants_are_made_listed_and_deleted() {
    let place = Workplace::new();
    let id = place.done(&["tenant", "create", "Bank Ä"]);
    assert!(id.starts_with("tnt_"));
    assert!(place.failed(&["tenant", "create", "Bank Ä"], 1).contains("already"));
    assert!(place.failed(&["tenant", "create", "  "], 1).contains("1 to 255"));
    assert!(place.done(&["tenant", "list"]).contains("Bank Ä"));
    assert!(place.failed(&["tenant", "delete", "Bank Ä"], 1).contains("--yes"));
    place.done(&["tenant", "delete", "Bank Ä", "--yes"]);
    assert!(place.failed(&["tenant", "delete", "Bank Ä", "--yes"], 1).contains("no tenant"));
    assert!(!place.done(&["tenant", "list"]).contains("Bank"));
}

#[test]
fn people_are_made_with_a_typed_or_a_made_password() {
    let place = Workplace::new();
    place.done(&["tenant", "create", "A"]);
    let create =
        |email: &'static str| ["user", "create", "--tenant", "A", "--email", email, "--role", "editor"];
    let typed = place.fed(&create("anna@a.example"), "a long enough password\n");
    assert!(typed.status.success() && typed.stdout.is_empty());
    let made = place.done(&create("bert@a.example"));
    assert_eq!(made.len(), 24, "a made password is printed");
    let short = place.fed(&create("carl@a.example"), "short\n");
    assert_eq!(short.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&short.stderr).contains("15 characters"));
    assert!(place.failed(&create("ANNA@a.example"), 1).contains("already a user"));
    assert!(place.failed(&create("nonsense"), 1).contains("mail address"));
    let list = place.done(&["user", "list"]);
    assert!(list.contains("anna@a.example") && list.contains("bert@a.example") && !list.contains("carl"));
    place.done(&["user", "password", "--email", "anna@a.example"]);
    place.done(&["user", "disable", "--email", "anna@a.example"]);
    assert!(place.done(&["user", "list", "--tenant", "A"]).contains("disabled"));
    place.done(&["user", "enable", "--email", "anna@a.example"]);
    assert!(!place.done(&["user", "list", "--tenant", "A"]).contains("disabled"));
    let common = place.fed(&create("carl@a.example"), "passwordpassword\n");
    assert_eq!(common.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&common.stderr).contains("everybody tries first"));
    let owner =
        ["user", "create", "--tenant", "A", "--email", "o@a.example", "--role", "owner", "--name", "Olga"];
    place.done(&owner);
    assert!(place.done(&["user", "list"]).contains("Olga"));
    assert!(place.failed(&["user", "disable", "--email", "o@a.example"], 1).contains("last owner"));
    assert!(place.failed(&["user", "disable", "--email", "nobody@a.example"], 1).contains("no user"));
    assert!(place.failed(&["user", "list", "--tenant", "B"], 1).contains("no tenant"));
    place.failed(&["user", "create", "--tenant", "A", "--email", "x@y", "--role", "king"], 2);
    let bytes = std::fs::read(place.db()).unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("a long enough password"));
}

#[test]
fn keys_expire_when_they_are_told_to() {
    let place = Workplace::new();
    place.done(&["tenant", "create", "A"]);
    let create = |more: &[&str]| {
        let mut arguments = vec!["key", "create", "--tenant", "A", "--name", "k"];
        arguments.extend(more);
        place.run(&arguments)
    };
    let past = create(&["--expires-at", "2020-01-01T00:00:00Z"]);
    let past = String::from_utf8(past.stdout).unwrap().trim().to_owned();
    let days = create(&["--expires-in-days", "30"]);
    let days = String::from_utf8(days.stdout).unwrap().trim().to_owned();
    let server = place.serve();
    assert_eq!(server.printed.len(), 1, "a provisioned database needs no first run");
    server.get("/api/v1/dora/measures?limit=1").key(&past).expect(401);
    server.get("/api/v1/dora/measures?limit=1").key(&days).expect(200);
    assert!(place.done(&["key", "list", "--tenant", "A"]).contains("expired"));
    for (wrong, code) in [
        (vec!["--expires-at", "tomorrow"], 1),
        (vec!["--expires-in-days", "0"], 2),
        (vec!["--expires-in-days", "1", "--expires-at", "2030-01-01T00:00:00Z"], 2),
        (vec!["--permissions", "admin"], 1),
    ] {
        assert_eq!(create(&wrong).status.code(), Some(code), "{wrong:?}");
    }
    assert!(place.failed(&["key", "revoke", "key_unknown"], 1).contains("no key"));
}

#[test]
fn wrong_usage_is_2_and_a_failure_is_1_in_one_line() {
    let place = Workplace::new();
    place.failed(&["frobnicate"], 2);
    place.failed(&["key", "create"], 2);
    let line = place.failed(&["tenant", "list"], 1);
    assert_eq!(line.trim().lines().count(), 1, "{line}");
    assert!(line.contains("does not exist"));
    assert!(!place.db().exists(), "looking makes no database");
    let line = place.failed(&["--listen", "0.0.0.0:0"], 1);
    assert!(line.contains("HOLDFAST_BEHIND_PROXY=1"), "{line}");
    assert!(!place.db().exists());
    let line = place.failed(&["--listen", "nonsense"], 1);
    assert!(line.contains("nonsense"), "{line}");
}

#[test]
fn help_names_every_command_and_every_setting_with_its_default() {
    let place = Workplace::new();
    let help = place.done(&["help"]);
    for setting in SETTINGS {
        assert!(help.contains(setting.name), "{}", setting.name);
        assert!(
            setting.default.is_empty() || help.contains(&format!("default {}", setting.default)),
            "{}",
            setting.name
        );
    }
    for command in
        ["serve", "tenant", "user", "key", "scan", "sbom", "check", "openapi", "healthcheck", "completions"]
    {
        assert!(help.contains(command), "{command}");
    }
    assert!(place.done(&["--version"]).contains(env!("CARGO_PKG_VERSION")));
    assert!(place.done(&["completions", "bash"]).contains("holdfast"));
}

#[test]
fn a_setting_that_is_none_is_pointed_out() {
    let place = Workplace::new();
    let output = place.command(&["tenant", "create", "A"]).env("HOLDFAST_LISTNE", "x").output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("HOLDFAST_LISTNE is no setting"));
}

#[test]
fn healthcheck_asks_the_running_server() {
    let place = Workplace::new();
    let server = place.serve();
    let address = server.address.to_string();
    place.done(&["healthcheck", "--listen", &address]);
    assert!(server.stop(Duration::from_secs(15)).success());
    assert!(place.failed(&["healthcheck", "--listen", &address], 1).contains("healthz"));
}

#[test]
fn check_tells_a_sound_database_from_a_broken_one_and_changes_neither() {
    let place = Workplace::new();
    place.done(&["tenant", "create", "A"]);
    let before = std::fs::read(place.db()).unwrap();
    assert!(place.done(&["check"]).contains("sound"));
    assert!(std::fs::read(place.db()).unwrap() == before);
    let connection = rusqlite::Connection::open(place.db()).unwrap();
    connection
        .execute_batch(
            "pragma foreign_keys = off;
             insert into user_account (tenant_id, id, email, role, password_hash, created_at)
             values ('tnt_gone', 'usr_1', 'x@y', 'owner', 'h', 0);",
        )
        .unwrap();
    drop(connection);
    assert!(place.failed(&["check"], 1).contains("user_account point to no row of tenant"));
}

#[test]
fn a_second_server_on_the_same_file_is_refused_and_the_first_goes_on() {
    let place = Workplace::new();
    let server = place.serve();
    let line = place.failed(&["serve", "--listen", "127.0.0.1:0"], 1);
    assert!(line.contains("in use by another Holdfast server"), "{line}");
    server.get("/api/health").expect(200);
    server.kill();
    wait_until(Duration::from_secs(5), "the lock's release", || {
        place.serve().get("/api/healthz").send().status == 200
    });
}

#[test]
fn many_first_commands_at_once_make_one_database_and_lose_nothing() {
    let place = Workplace::new();
    std::thread::scope(|scope| {
        for number in 0..6 {
            let place = &place;
            scope.spawn(move || place.done(&["tenant", "create", &format!("Bank {number}")]));
        }
    });
    let list = place.done(&["tenant", "list"]);
    for number in 0..6 {
        assert!(list.contains(&format!("Bank {number}")), "{list}");
    }
    let left: Vec<String> = std::fs::read_dir(place.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains(".new"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_second_server_through_a_link_is_refused_too() {
    let place = Workplace::new();
    let _server = place.serve();
    std::os::unix::fs::symlink(place.db(), place.folder.path().join("link.db")).unwrap();
    let line = place.failed(&["serve", "--listen", "127.0.0.1:0", "--db", "link.db"], 1);
    assert!(line.contains("in use by another"), "{line}");
}

#[test]
fn a_stop_right_after_the_start_is_orderly() {
    for _ in 0..20 {
        let place = Workplace::new();
        let server = place.serve();
        assert!(server.stop(Duration::from_secs(15)).success());
    }
}

#[test]
fn a_listed_name_cannot_command_the_terminal() {
    let place = Workplace::new();
    place.done(&["tenant", "create", "A"]);
    place.done(&["key", "create", "--tenant", "A", "--name", "x\nkey_FAKE \u{1b}[31mroot"]);
    let list = place.done(&["key", "list", "--tenant", "A"]);
    assert_eq!(list.lines().count(), 2, "{list}");
    assert!(!list.contains('\u{1b}'));
}

#[test]
fn a_key_that_nobody_could_see_is_an_error() {
    let place = Workplace::new();
    place.done(&["tenant", "create", "A"]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = place
        .command(&["key", "create", "--tenant", "A", "--name", "k"])
        .stdout(full)
        .output()
        .unwrap()
        .status;
    assert_eq!(status.code(), Some(1));
}

#[test]
fn a_database_that_others_could_read_is_made_private_and_a_protected_one_can_be_checked() {
    use std::os::unix::fs::PermissionsExt;
    let place = Workplace::new();
    place.done(&["tenant", "create", "A"]);
    let set = |mode| std::fs::set_permissions(place.db(), std::fs::Permissions::from_mode(mode)).unwrap();
    set(0o400);
    assert!(place.done(&["check"]).contains("sound"));
    set(0o644);
    place.done(&["tenant", "list"]);
    assert_eq!(mode(&place.db()), 0o600);
}
