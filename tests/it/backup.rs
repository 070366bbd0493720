//! Backups and restores, through the real binary.

use crate::client::Call;
use crate::house::{House, START_MS};
use crate::process::{Workplace, mode, wait_until};
use serde_json::json;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const UNLIMITED: &[(&str, &str)] = &[("HOLDFAST_RATE_LIMITS", "off")];

fn file_finding(address: SocketAddr, key: &str, title: &str) -> Option<String> {
    let body = json!({ "title": title, "severity": "low" });
    let answer = Call::new(address, "POST", "/api/v1/findings").key(key).json(&body).send();
    (answer.status == 201).then(|| answer.json()["data"]["id"].as_str().unwrap().to_owned())
}

fn findings(path: &Path) -> Vec<String> {
    let connection = rusqlite::Connection::open(path).unwrap();
    let mut rows = connection.prepare("select id from finding order by id").unwrap();
    let ids = rows.query_map([], |row| row.get(0)).unwrap();
    ids.collect::<rusqlite::Result<_>>().unwrap()
}

fn is_sound(path: &Path) {
    let connection = rusqlite::Connection::open(path).unwrap();
    let verdict: String = connection.query_row("pragma integrity_check", [], |row| row.get(0)).unwrap();
    let orphans: i64 =
        connection.query_row("select count(*) from pragma_foreign_key_check", [], |row| row.get(0)).unwrap();
    assert_eq!((verdict.as_str(), orphans), ("ok", 0), "{}", path.display());
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}{ending}", path.display()))
}

/// A database with a key and one finding, and a backup of that.
fn backed_up() -> (Workplace, String, PathBuf) {
    let place = Workplace::new();
    let server = place.serve();
    let key = place.first_key();
    file_finding(server.address, &key, "before").unwrap();
    let file = place.folder.path().join("copy.db");
    place.done(&["backup", "copy.db"]);
    (place, key, file)
}

#[test]
fn a_backup_beside_a_running_server_is_whole_private_and_has_its_digest() {
    let (place, _, file) = backed_up();
    assert_eq!((mode(&file), mode(&beside(&file, ".sha256"))), (0o600, 0o600));
    is_sound(&file);
    assert_eq!(findings(&file).len(), 1);
    let checked = std::process::Command::new("sha256sum")
        .args(["-c", "copy.db.sha256"])
        .current_dir(place.folder.path())
        .output()
        .unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    assert!(place.done(&["check", "--db", "copy.db"]).contains("sound"));
    // Nothing half is left, and a second backup takes the place of the first.
    assert!(place.done(&["backup", "copy.db"]).contains("verified"));
    assert_eq!(place.done(&["audit", "export"]).matches("\"backed_up\"").count(), 2);
    let names: Vec<String> = std::fs::read_dir(place.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(!names.iter().any(|name| name.contains(".new-")), "{names:?}");
}

#[test]
fn a_backup_replaces_nothing_but_a_backup() {
    let (place, ..) = backed_up();
    std::fs::write(place.folder.path().join("letter.txt"), "dear diary").unwrap();
    assert!(place.failed(&["backup", "letter.txt"], 1).contains("another file"));
    assert_eq!(std::fs::read(place.folder.path().join("letter.txt")).unwrap(), b"dear diary");
    assert!(place.failed(&["backup", "holdfast.db"], 1).contains("the database itself"));
    std::os::unix::fs::symlink(place.db(), place.folder.path().join("link.db")).unwrap();
    assert!(place.failed(&["backup", "link.db"], 1).contains("the database itself"));
    assert!(place.failed(&["backup", "no/such/folder.db"], 1).contains("cannot be made"));
    assert!(place.failed(&["backup", "x.db", "--db", "none.db"], 1).contains("does not exist"));
    is_sound(&place.db());
}

#[test]
fn a_damaged_database_gives_no_backup_and_leaves_the_older_one() {
    let (place, _, file) = backed_up();
    place.done(&["tenant", "create", "another"]);
    let good = std::fs::read(&file).unwrap();
    let mut bytes = std::fs::read(place.db()).unwrap();
    let pages = bytes.len() / 4096;
    // A page's own header, in the middle of the file.
    bytes[4096 * (pages / 2)..][..64].fill(0xa5);
    std::fs::write(place.db(), &bytes).unwrap();
    let line = place.failed(&["backup", "copy.db"], 1);
    assert_eq!(line.trim().lines().count(), 1, "{line}");
    assert!(std::fs::read(&file).unwrap() == good);
}

#[test]
fn a_restore_gives_back_exactly_the_backup_and_keeps_what_it_replaced() {
    let (place, key, file) = backed_up();
    let server = place.serve();
    let after = file_finding(server.address, &key, "after").unwrap();
    let busy = place.failed(&["restore", "copy.db"], 1);
    assert!(busy.contains("in use"), "{busy}");
    server.kill(); // so that its log stays behind
    assert!(beside(&place.db(), "-wal").exists());
    let told = place.done(&["restore", "copy.db"]);
    assert!(told.contains("is kept as"), "{told}");
    assert!(!beside(&place.db(), "-wal").exists() && !beside(&place.db(), "-shm").exists());
    assert_eq!(findings(&place.db()), findings(&file));
    assert_eq!(mode(&place.db()), 0o600);
    let replaced = told.split("is kept as ").nth(1).unwrap().lines().next().unwrap();
    assert!(findings(Path::new(replaced)).contains(&after), "the replaced file is whole, log included");
    let server = place.serve();
    server.get("/api/v1/findings").key(&key).expect(200);
    assert!(file_finding(server.address, &key, "goes on").is_some());
}

#[test]
fn a_restore_forgets_what_belongs_to_the_past() {
    let place = Workplace::new();
    drop(place.serve());
    let key = place.done(&["key", "create", "--tenant", "default", "--name", "later"]);
    {
        let connection = rusqlite::Connection::open(place.db()).unwrap();
        connection
            .execute_batch(
                "insert into rate_window select tenant_id, id, 'v1', 0, x'', x'', 99999999999999 from api_key where name = 'later';
                 insert into webhook (tenant_id, id, name, channel, url, events, active, created_at, updated_at)
                   select id, 'whk_1', 'w', 'slack', 'https://hooks.slack.com/x', '[]', 1, 0, 0 from tenant;
                 insert into delivery (tenant_id, id, webhook_id, state, next_at, lease_until, created_at)
                   select id, 'dlv_1', 'whk_1', 'pending', 0, null, 0 from tenant union all
                   select id, 'dlv_2', 'whk_1', 'sending', 0, 1, 0 from tenant union all
                   select id, 'dlv_3', 'whk_1', 'delivered', 0, null, 0 from tenant;",
            )
            .unwrap();
    }
    place.done(&["backup", "copy.db"]);
    let id = place.done(&["key", "list", "--tenant", "default"]);
    let id =
        id.lines().find(|line| line.contains("later")).unwrap().split_whitespace().next().unwrap().to_owned();
    place.done(&["key", "revoke", &id]);
    let told = place.done(&["restore", "copy.db"]);
    assert!(told.contains(&format!("key revoke {id}")), "{told}");
    let audit = place.done(&["audit", "export"]);
    assert!(audit.contains("\"restored\"") && place.done(&["audit", "verify"]).contains("sound"), "{audit}");
    let connection = rusqlite::Connection::open(place.db()).unwrap();
    let count = |sql: &str| -> i64 { connection.query_row(sql, [], |row| row.get(0)).unwrap() };
    assert_eq!(count("select count(*) from rate_window"), 0);
    assert_eq!(count("select count(*) from delivery where state in ('pending', 'sending')"), 0);
    assert_eq!(count("select count(*) from delivery where state = 'delivered'"), 1);
    drop(connection);
    place.serve().get("/api/v1/findings").key(&key).expect(200);
}

#[test]
fn a_damaged_truncated_or_foreign_backup_is_refused_and_nothing_is_touched() {
    let (place, _, file) = backed_up();
    let before = std::fs::read(place.db()).unwrap();
    let good = std::fs::read(&file).unwrap();
    let mut flipped = good.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    let mut broken = good.clone();
    let pages = broken.len() / 4096;
    broken[4096 * (pages / 2)..][..64].fill(0xa5);
    // One flipped bit is found by the digest alone, the others without it too.
    for (bytes, digest, expected) in [
        (flipped, true, "SHA-256"),
        (good[..good.len() / 2].to_vec(), true, "SHA-256"),
        (good[..good.len() / 2].to_vec(), false, "damaged"),
        (broken, false, "damaged"),
        (b"SQLite format 3\0".to_vec(), false, "damaged"),
        (b"hello".to_vec(), false, "not an SQLite file"),
        (Vec::new(), false, "is empty"),
    ] {
        std::fs::write(&file, bytes).unwrap();
        if !digest {
            let _ = std::fs::remove_file(beside(&file, ".sha256"));
        }
        let line = place.failed(&["restore", "copy.db"], 1);
        assert!(line.contains(expected) && line.trim().lines().count() == 1, "{expected}: {line}");
        assert!(std::fs::read(place.db()).unwrap() == before);
    }
    assert!(place.failed(&["restore", "none.db"], 1).contains("does not exist"));
    assert!(place.failed(&["restore", "holdfast.db"], 1).contains("name a backup"));
    let newer = place.folder.path().join("newer.db");
    std::fs::write(&newer, &good).unwrap();
    rusqlite::Connection::open(&newer).unwrap().pragma_update(None, "user_version", 99).unwrap();
    assert!(place.failed(&["restore", "newer.db"], 1).contains("newer than this binary"));
    assert!(std::fs::read(place.db()).unwrap() == before);
}

#[test]
fn a_log_or_a_cut_off_restore_without_its_database_is_no_reason_to_begin_anew() {
    let (place, _, file) = backed_up();
    for remains in ["holdfast.db-wal", "holdfast.db.restoring"] {
        let empty = Workplace::new();
        std::fs::write(empty.folder.path().join(remains), "x").unwrap();
        let line = empty.failed(&["serve", "--listen", "127.0.0.1:0"], 1);
        assert!(line.contains("is missing"), "{line}");
        assert!(!empty.db().exists());
        std::fs::copy(&file, empty.folder.path().join("copy.db")).unwrap();
        empty.done(&["restore", "copy.db"]);
        assert_eq!(findings(&empty.db()).len(), 1);
        drop(empty.serve());
    }
    drop(place);
}

#[test]
fn without_room_for_it_no_backup_is_begun() {
    let house = House::new();
    let disk = holdfast::disk::Disk::standing_at(1000, 1_000_000);
    let target = house.config.db.with_file_name("copy.db");
    let chance = holdfast::chance::Chance::system();
    let refused = holdfast::store::backup(&house.config.db, &target, &disk, &chance).unwrap_err().to_string();
    assert!(refused.contains("1000 are free"), "{refused}");
    assert!(!target.exists());
}

#[test]
fn every_night_there_is_a_backup_and_the_old_ones_go() {
    let folder = tempfile::tempdir().unwrap();
    let backups = folder.path().to_owned();
    let house = House::with(move |config| config.backup_dir = Some(backups));
    std::fs::write(folder.path().join("holdfast-pre-2.db"), "keep me").unwrap();
    std::fs::write(folder.path().join("holdfast-2026-11-01.db.new-1234"), "left by a kill").unwrap();
    let job = || {
        let info = house.get("/api/cron/info").expect(200).json();
        info["jobs"].as_array().unwrap().iter().find(|job| job["name"] == "nightly backup").unwrap().clone()
    };
    let nights = 20;
    for night in 1..=nights {
        house.clock.advance_ms(86_400_000);
        wait_until(Duration::from_secs(20), "the nightly backup", || {
            let job = job();
            job["runs"] == json!(night) && job["running"] == json!(false)
        });
        assert_eq!(job()["outcome"], "ok", "{}", job());
    }
    let mut names: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let copies: Vec<&String> =
        names.iter().filter(|name| name.ends_with(".db") && !name.contains("pre")).collect();
    // From 16 November to 5 December: seven nights, and the Sundays before them (the week of the 23rd leaves).
    assert_eq!(
        copies,
        [
            "holdfast-2026-11-22.db",
            "holdfast-2026-11-28.db",
            "holdfast-2026-11-29.db",
            "holdfast-2026-11-30.db",
            "holdfast-2026-12-01.db",
            "holdfast-2026-12-02.db",
            "holdfast-2026-12-03.db",
            "holdfast-2026-12-04.db",
            "holdfast-2026-12-05.db"
        ]
    );
    assert_eq!(names.iter().filter(|name| name.ends_with(".sha256")).count(), copies.len());
    assert!(
        names.contains(&"holdfast-pre-2.db".to_owned()) && !names.iter().any(|name| name.contains(".new-"))
    );
    for name in &copies {
        is_sound(&folder.path().join(name));
    }
    assert!(house.clock.now_ms() > START_MS);
}

/// T-BACKUP, its correctness: how long a writer waits meanwhile is measured by `cargo bench --bench soak`.
#[test]
fn backups_under_load_are_whole_and_hold_every_write_that_was_acknowledged_before() {
    let place = Workplace::new();
    let server = place.serve_with(UNLIMITED);
    let (address, key) = (server.address, place.first_key());
    let acknowledged = Arc::new(Mutex::new(Vec::new()));
    let stop = Arc::new(AtomicBool::new(false));
    let lost = Arc::new(AtomicUsize::new(0));
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let (key, acknowledged, stop, lost) =
                (key.clone(), Arc::clone(&acknowledged), Arc::clone(&stop), Arc::clone(&lost));
            std::thread::spawn(move || {
                while !stop.load(Ordering::SeqCst) {
                    match file_finding(address, &key, &format!("of writer {writer}")) {
                        Some(id) => acknowledged.lock().unwrap().push(id),
                        None => drop(lost.fetch_add(1, Ordering::SeqCst)),
                    }
                }
            })
        })
        .collect();
    for number in 0..20 {
        let before = acknowledged.lock().unwrap().clone();
        let name = format!("copy-{number}.db");
        place.done(&["backup", &name]);
        let file = place.folder.path().join(&name);
        is_sound(&file);
        let copied: std::collections::HashSet<String> = findings(&file).into_iter().collect();
        assert!(before.iter().all(|id| copied.contains(id)), "{name} lacks an acknowledged write");
    }
    stop.store(true, Ordering::SeqCst);
    for writer in writers {
        writer.join().unwrap();
    }
    assert_eq!(lost.load(Ordering::SeqCst), 0, "a backup made a write fail");
    assert!(acknowledged.lock().unwrap().len() > 100);
    // Each restores to exactly what it holds.
    assert!(server.stop(Duration::from_secs(15)).success());
    for number in [0, 10, 19] {
        let name = format!("copy-{number}.db");
        place.done(&["restore", &name]);
        assert_eq!(findings(&place.db()), findings(&place.folder.path().join(&name)));
        assert!(place.done(&["check"]).contains("sound"));
    }
}

/// Runs a command and kills it after a while; true if it had ended by itself.
fn cut_off(place: &Workplace, arguments: &[&str], after: Duration) -> bool {
    let null = std::process::Stdio::null;
    let mut child = place.command(arguments).stdout(null()).stderr(null()).spawn().unwrap();
    std::thread::sleep(after);
    let ended = child.try_wait().unwrap().is_some();
    let _ = child.kill();
    child.wait().unwrap();
    ended
}

/// T-KILL-AT, in backup and in restore: wherever it is cut off, there is no half file under a final name,
/// and the same command run again does it.
#[test]
fn a_backup_or_restore_that_is_killed_leaves_something_whole() {
    let (place, key, file) = backed_up();
    let whole = findings(&file);
    let took = |arguments: &[&str]| {
        let began = std::time::Instant::now();
        place.done(arguments);
        began.elapsed()
    };
    let (backup_ms, restore_ms) = (took(&["backup", "copy.db"]), took(&["restore", "copy.db"]));
    for step in 0..20 {
        cut_off(&place, &["backup", "copy.db"], backup_ms * step / 16);
        is_sound(&file);
        assert_eq!(findings(&file), whole);
    }
    place.done(&["backup", "copy.db"]);
    let mut refused = 0;
    for step in 0..20 {
        cut_off(&place, &["restore", "copy.db"], restore_ms * step / 16);
        if !place.db().exists() {
            // Nobody begins anew in the place of what is being restored.
            place.failed(&["tenant", "create", "x"], 1);
            refused += 1;
        }
        place.done(&["restore", "copy.db"]);
        assert_eq!(findings(&place.db()), whole);
    }
    eprintln!("a restore was cut off {refused} times between two renames");
    place.serve().get("/api/v1/findings").key(&key).expect(200);
}
