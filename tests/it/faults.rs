//! Full, read-only and damaged disks, jumping clocks, and a stop in the middle of everything.

use crate::client::Call;
use crate::house::{House, START_MS};
use crate::process::{Server, Workplace, wait_until};
use serde_json::json;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_secs(5);
const MIB: usize = 1024 * 1024;

/// `HOLDFAST_FAULT_CYCLES=100 cargo test --test it faults` for a longer run.
fn cycles(usual: u64) -> u64 {
    std::env::var("HOLDFAST_FAULT_CYCLES").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// A file system of its own, gone at the end.
struct Mount(PathBuf);

impl Mount {
    /// None where mounting is not allowed: then the test says so and ends.
    fn new(place: &Workplace, arguments: &[&str]) -> Option<Mount> {
        let point = place.folder.path().join("disk");
        std::fs::create_dir_all(&point).unwrap();
        let mounted = Command::new("mount").args(arguments).arg(&point).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Mount(point));
        }
        eprintln!("SKIPPED: this user may not mount, so {arguments:?} is not tested here");
        None
    }

    fn small_disk(place: &Workplace, size: &str) -> Option<Mount> {
        Mount::new(place, &["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
    }

    fn db(&self) -> PathBuf {
        self.0.join("holdfast.db")
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn serve(place: &Workplace, db: &Path, env: &[(&str, &str)]) -> Server {
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--db", db.to_str().unwrap()];
    Server::start(place.command(&arguments).env("HOLDFAST_RATE_LIMITS", "off").envs(env.iter().copied()))
}

fn key_beside(db: &Path) -> String {
    let text = std::fs::read_to_string(format!("{}.first-run", db.display())).unwrap();
    text.split_whitespace().find(|word| word.starts_with("hfast_")).unwrap().to_owned()
}

fn file_finding(address: SocketAddr, key: &str) -> (u16, Vec<u8>) {
    let body = json!({ "title": "x".repeat(200), "description": "y".repeat(2000), "severity": "low" });
    let answer = Call::new(address, "POST", "/api/v1/findings").key(key).json(&body).send();
    (answer.status, answer.body)
}

fn total(server: &Server, key: &str) -> u64 {
    let page = server.get("/api/v1/findings?limit=1").key(key).expect(200).json();
    page["meta"]["total"].as_u64().unwrap()
}

/// T-FULL with the reserve: writes end before the disk does.
#[test]
fn below_the_reserve_of_a_real_disk_writes_end_and_begin_again_by_themselves() {
    let place = Workplace::new();
    let Some(disk) = Mount::small_disk(&place, "48m") else { return };
    let server = serve(&place, &disk.db(), &[]);
    let key = key_beside(&disk.db());
    let ballast = disk.0.join("ballast");
    let mut acknowledged = 0;
    for cycle in 0..3 {
        assert_eq!(file_finding(server.address, &key).0, 201, "cycle {cycle}");
        acknowledged += 1;
        std::fs::write(&ballast, vec![0; 20 * MIB]).unwrap();
        for _ in 0..5 {
            let (status, body) = file_finding(server.address, &key);
            assert_eq!((status, body.as_slice()), (500, &br#"{"error":"internal server error"}"#[..]));
        }
        assert_eq!(total(&server, &key), acknowledged);
        wait_until(SOON, "health is degraded", || {
            server.get("/api/health").expect(200).json()["status"] == "degraded"
        });
        std::fs::remove_file(&ballast).unwrap();
        wait_until(SOON, "writing after there is room", || {
            let written = file_finding(server.address, &key).0 == 201;
            acknowledged += u64::from(written);
            written
        });
        wait_until(SOON, "health is well", || server.get("/api/health").expect(200).json()["status"] == "ok");
    }
    assert_eq!(total(&server, &key), acknowledged);
    assert!(server.stop(Duration::from_secs(15)).success());
    assert!(place.done(&["check", "--db", disk.db().to_str().unwrap()]).contains("sound"));
}

/// T-FULL without a reserve: SQLite itself meets the end of the disk, again and again.
#[test]
fn at_the_very_end_of_the_disk_nothing_acknowledged_is_lost() {
    let place = Workplace::new();
    let Some(disk) = Mount::small_disk(&place, "16m") else { return };
    let server = serve(&place, &disk.db(), &[("HOLDFAST_DISK_RESERVE_MIB", "0")]);
    let key = key_beside(&disk.db());
    let ballast = disk.0.join("ballast");
    let mut acknowledged = 0;
    for _ in 0..cycles(20) {
        // Until not one byte more goes on it.
        let mut file = std::fs::File::create(&ballast).unwrap();
        while file.write_all(&[0; 64 * 1024]).is_ok() {}
        drop(file);
        let mut refused = 0;
        for _ in 0..2000 {
            match file_finding(server.address, &key).0 {
                201 => acknowledged += 1,
                500 => refused += 1,
                other => panic!("{other}"),
            }
            if refused > 5 {
                break;
            }
        }
        assert!(refused > 5, "the disk never filled");
        assert_eq!(total(&server, &key), acknowledged);
        wait_until(SOON, "health is degraded", || server.get("/api/health").send().json()["status"] != "ok");
        std::fs::remove_file(&ballast).unwrap();
        wait_until(SOON, "writing after there is room", || {
            let written = file_finding(server.address, &key).0 == 201;
            acknowledged += u64::from(written);
            written
        });
    }
    assert_eq!(total(&server, &key), acknowledged);
    assert!(server.stop(Duration::from_secs(15)).success());
    assert!(place.done(&["check", "--db", disk.db().to_str().unwrap()]).contains("sound"));
}

/// T-FULL-START
#[test]
fn a_start_without_room_says_so_or_serves_reads_and_changes_nothing() {
    let place = Workplace::new();
    let Some(disk) = Mount::small_disk(&place, "40m") else { return };
    let db = disk.db();
    std::fs::write(disk.0.join("ballast"), vec![0; 20 * MIB]).unwrap();
    // A new database has no room for its first run.
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--db", db.to_str().unwrap()];
    let line = place.failed(&arguments, 1);
    assert!(line.contains("bytes are free") && line.trim().lines().count() == 1, "{line}");
    std::fs::remove_file(disk.0.join("ballast")).unwrap();
    let server = serve(&place, &db, &[]);
    let key = key_beside(&db);
    assert_eq!(file_finding(server.address, &key).0, 201);
    assert!(server.stop(Duration::from_secs(15)).success());
    // An existing one is served, without writes.
    std::fs::write(disk.0.join("ballast"), vec![0; 20 * MIB]).unwrap();
    let before = std::fs::read(&db).unwrap();
    let server = serve(&place, &db, &[]);
    assert_eq!(total(&server, &key), 1);
    assert_eq!(file_finding(server.address, &key).0, 500);
    assert_eq!(server.get("/api/health").expect(200).json()["status"], "degraded");
    server.kill();
    // And with not one byte free: either of the two, and the file is what it was.
    for name in ["-wal", "-shm", ".lock"] {
        let _ = std::fs::remove_file(format!("{}{name}", db.display()));
    }
    std::fs::write(&db, &before).unwrap();
    let mut file = std::fs::OpenOptions::new().append(true).open(disk.0.join("ballast")).unwrap();
    while file.write_all(&[0; 4096]).is_ok() {}
    while file.write_all(&[0]).is_ok() {}
    let null = std::process::Stdio::null;
    let mut child = place.command(&arguments).stdout(null()).stderr(null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    match child.try_wait().unwrap() {
        Some(status) => assert_eq!(status.code(), Some(1)),
        None => {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
    assert!(std::fs::read(&db).unwrap() == before, "the file was changed");
}

/// T-RO
#[test]
fn on_a_read_only_disk_a_start_is_refused_and_a_check_works() {
    let place = Workplace::new();
    place.done(&["tenant", "create", "A"]);
    let home = place.folder.path().join("home");
    std::fs::create_dir(&home).unwrap();
    std::fs::rename(place.db(), home.join("holdfast.db")).unwrap();
    let Some(disk) = Mount::new(&place, &["--bind", home.to_str().unwrap()]) else { return };
    let status = Command::new("mount").args(["-o", "remount,ro,bind"]).arg(&disk.0).status().unwrap();
    if !status.success() {
        eprintln!("SKIPPED: a bind mount cannot be made read-only here");
        return;
    }
    let db = disk.db();
    let line = place.failed(&["serve", "--listen", "127.0.0.1:0", "--db", db.to_str().unwrap()], 1);
    assert!(line.contains("ead-only") && line.trim().lines().count() == 1, "{line}");
    assert!(place.done(&["check", "--db", db.to_str().unwrap()]).contains("sound"));
    place.done(&["backup", "copy.db", "--db", db.to_str().unwrap()]);
    assert!(place.done(&["check", "--db", "copy.db"]).contains("sound"));
}

/// T-RO, while it runs: the files take no more writes, and then do again.
#[test]
fn a_file_that_becomes_read_only_is_read_on_and_written_again_when_it_can_be() {
    let place = Workplace::new();
    let server = place.serve_with(&[("HOLDFAST_RATE_LIMITS", "off")]);
    let key = place.first_key();
    let wal = place.db().with_extension("db-wal");
    let lock = |flag: &str| Command::new("chattr").arg(flag).args([&place.db(), &wal]).output();
    let mut acknowledged = 0;
    for _ in 0..3 {
        assert_eq!(file_finding(server.address, &key).0, 201);
        acknowledged += 1;
        if !lock("+i").is_ok_and(|output| output.status.success()) {
            eprintln!("SKIPPED: files cannot be made immutable here");
            return;
        }
        let unlock = Unlock(&lock);
        for _ in 0..5 {
            let (status, body) = file_finding(server.address, &key);
            assert_eq!((status, body.as_slice()), (500, &br#"{"error":"internal server error"}"#[..]));
            assert_eq!(total(&server, &key), acknowledged, "reads go on");
        }
        let health = server.get("/api/health").send().json();
        assert_eq!(
            (&health["status"], &health["checks"]["database_write"]),
            (&json!("degraded"), &json!("failed")),
            "{health}"
        );
        drop(unlock);
        wait_until(SOON, "writing after the files can be written", || {
            let written = file_finding(server.address, &key).0 == 201;
            acknowledged += u64::from(written);
            written
        });
    }
    assert_eq!(total(&server, &key), acknowledged);
    assert!(server.stop(Duration::from_secs(15)).success());
    assert!(place.done(&["check"]).contains("sound"));
}

/// Takes the lock away, whatever happens: the folder could not be removed otherwise.
struct Unlock<'a, T>(&'a dyn Fn(&str) -> T);

impl<T> Drop for Unlock<'_, T> {
    fn drop(&mut self) {
        (self.0)("-i");
    }
}

/// T-CORRUPT, while it runs: the file is overwritten under the server's feet.
#[test]
fn a_file_that_is_damaged_while_it_is_served_is_closed_for_writes() {
    let place = Workplace::new();
    let mut server = place.serve_with(&[("HOLDFAST_RATE_LIMITS", "off")]);
    let key = place.first_key();
    for _ in 0..200 {
        assert_eq!(file_finding(server.address, &key).0, 201);
    }
    // All of it in the file, none in the log.
    let connection = rusqlite::Connection::open(place.db()).unwrap();
    connection.busy_timeout(SOON).unwrap();
    wait_until(SOON, "an empty log", || {
        connection.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get::<_, i64>(0)).unwrap() == 0
    });
    drop(connection);
    let mut file = std::fs::OpenOptions::new().write(true).open(place.db()).unwrap();
    let length = file.metadata().unwrap().len() as usize;
    use std::io::Seek;
    file.seek(std::io::SeekFrom::Start(4096)).unwrap();
    file.write_all(&vec![0xa5; length - 4096]).unwrap();
    drop(file);
    // The command line changes the file too, so that the server does not live on what it remembers.
    let _ = place.run(&["tenant", "create", "B"]);
    wait_until(Duration::from_secs(20), "the server notices", || {
        let (status, body) = file_finding(server.address, &key);
        assert!(matches!(status, 201 | 401 | 500), "{status}");
        if status == 500 {
            assert_eq!(body, br#"{"error":"internal server error"}"#);
        }
        let health = server.get("/api/health").send();
        health.status == 503 && health.json()["status"] == "down"
    });
    server.get("/api/healthz").expect(200);
    assert!(server.child.try_wait().unwrap().is_none(), "the process lives");
    let mut stderr = server.child.stderr.take().unwrap();
    server.kill();
    let mut log = String::new();
    stderr.read_to_string(&mut log).unwrap();
    assert!(!log.contains("panicked"), "{log}");
    let line = place.failed(&["serve", "--listen", "127.0.0.1:0"], 1);
    assert!(line.contains("damaged"), "{line}");
}

/// T-CLOCK: what a person, or a broken battery, does to the wall clock.
#[test]
fn a_clock_that_jumps_expires_keys_as_it_says_and_blocks_nobody() {
    const HOUR_MS: i64 = 3_600_000;
    const DAY_MS: i64 = 24 * HOUR_MS;
    let house = House::new();
    let store = &house.service().house.app.store;
    let tenant = store.tenants().unwrap().into_iter().find(|tenant| tenant.name == "ours").unwrap();
    let new = holdfast::store::NewKey {
        name: "for half an hour".into(),
        permissions: holdfast::domain::permission::Permissions::default(),
        expires_at_ms: Some(START_MS + HOUR_MS / 2),
        created_by: None,
    };
    let (_, secret) = store.create_key(&tenant.id, new).unwrap();
    let ask = |key: &str| house.get("/api/v1/dora/measures?limit=1").key(key).send().status;
    // 1970, an hour and a day back, an hour and ten years on, and the night in which summer time ends.
    for (jump, alive) in [
        (-HOUR_MS, true),
        (HOUR_MS, false),
        (-DAY_MS, true),
        (3650 * DAY_MS, false),
        (-START_MS, true),
        (-21 * DAY_MS - 7 * HOUR_MS, true),
        (0, true),
    ] {
        house.clock.jump_to(START_MS + jump);
        assert_eq!(ask(secret.reveal()), if alive { 200 } else { 401 }, "{jump}");
        assert_eq!(ask(&house.ours.reader), 200, "{jump}");
        let body = json!({ "title": "t", "severity": "low" });
        house.call("POST", "/api/v1/findings").key(&house.ours.writer).json(&body).expect(201);
        // A few looks at the clock, at every jump.
        let runs = |house: &House| -> u64 {
            let info = house.get("/api/cron/info").expect(200).json();
            info["jobs"].as_array().unwrap().iter().map(|job| job["runs"].as_u64().unwrap()).sum()
        };
        let before = runs(&house);
        std::thread::sleep(Duration::from_millis(600));
        let jobs = holdfast::jobs::JOBS.len() as u64;
        assert!(runs(&house) - before <= jobs, "{jump}: a storm of jobs");
        for path in
            ["/api/health", "/api/health/history", "/api/auto-heal/status", "/api/v1/compliance-timeline"]
        {
            house.get(path).key(&house.ours.reader).expect(200);
        }
    }
    let info = house.get("/api/cron/info").expect(200).json();
    for job in info["jobs"].as_array().unwrap() {
        assert_eq!((&job["panics"], &job["failures"]), (&json!(0), &json!(0)), "{job}");
    }
}

/// One request after the other, each on a connection of its own; when it was sent, and whether it was answered.
fn ask_until(
    address: SocketAddr,
    key: &str,
    stop: &AtomicBool,
    writes: bool,
) -> Vec<(Instant, Result<u16, String>)> {
    let mut asked = Vec::new();
    while !stop.load(Ordering::SeqCst) {
        let body = r#"{"title":"under load","severity":"low"}"#;
        let request = match writes {
            true => format!(
                "POST /api/v1/findings HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-Key: {key}\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            ),
            false => format!(
                "GET /api/v1/findings?limit=50 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-Key: {key}\r\n\r\n"
            ),
        };
        let Ok(mut stream) = TcpStream::connect(address) else {
            asked.push((Instant::now(), Err("refused".into())));
            break;
        };
        let answered = stream.write_all(request.as_bytes()).and_then(|()| {
            let sent = Instant::now();
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).map(|_| (sent, answer))
        });
        asked.push(match answered {
            Ok((sent, answer)) => {
                let status =
                    String::from_utf8_lossy(&answer).split(' ').nth(1).and_then(|word| word.parse().ok());
                (sent, status.ok_or_else(|| format!("{} bytes", answer.len())))
            }
            Err(cause) => (Instant::now(), Err(cause.to_string())),
        });
        std::thread::sleep(Duration::from_millis(20));
    }
    asked
}

/// T-TERM
#[test]
fn a_stop_under_load_answers_what_was_begun_and_ends_with_0() {
    for _ in 0..cycles(5) {
        let place = Workplace::new();
        let server = place.serve_with(&[("HOLDFAST_RATE_LIMITS", "off")]);
        let (address, key) = (server.address, place.first_key());
        let stop = Arc::new(AtomicBool::new(false));
        let clients: Vec<_> = (0..8)
            .map(|client| {
                let (key, stop) = (key.clone(), Arc::clone(&stop));
                std::thread::spawn(move || ask_until(address, &key, &stop, client % 2 == 0))
            })
            .collect();
        std::thread::sleep(Duration::from_millis(400));
        let signalled = Instant::now();
        assert!(server.stop(Duration::from_secs(15)).success());
        stop.store(true, Ordering::SeqCst);
        let mut written = 0;
        let mut asked = 0;
        for (number, client) in clients.into_iter().enumerate() {
            for (sent, outcome) in client.join().unwrap() {
                asked += 1;
                match outcome {
                    Ok(200) => {}
                    Ok(201) => written += 1,
                    Ok(other) => panic!("client {number}: {other}"),
                    Err(fault) => assert!(sent > signalled, "client {number} was not answered: {fault}"),
                }
            }
        }
        assert!(asked > 50, "{asked}");
        assert!(!Path::new(&format!("{}-wal", place.db().display())).exists(), "the log is folded in");
        let connection = rusqlite::Connection::open(place.db()).unwrap();
        let kept: i64 = connection.query_row("select count(*) from finding", [], |row| row.get(0)).unwrap();
        assert!(kept >= written, "{kept} of {written}");
    }
}
