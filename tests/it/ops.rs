//! What the service tells of itself, what it does by itself, and what it mends.

use crate::client::Answer;
use crate::house::{House, START_MS};
use crate::process::{Workplace, wait_until};
use holdfast::config::Metrics;
use holdfast::disk::Disk;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::time::Duration;

const MIB: u64 = 1024 * 1024;
const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;
const SOON: Duration = Duration::from_secs(10);

/// Every operational route.
const OPERATIONAL: &[&str] = &[
    "/api/health",
    "/api/health-detailed",
    "/api/health/history",
    "/api/healthz",
    "/api/ping",
    "/api/auto-heal/status",
    "/api/errors/500-rate",
    "/api/cron/info",
    "/api/actions/disk-report",
];

fn show(house: &House, path: &str) -> Value {
    house.get(path).expect(200).json()
}

fn named(list: &Value, name: &str) -> Value {
    let found = list.as_array().unwrap().iter().find(|item| item["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is not in {list}")).clone()
}

fn job(house: &House, name: &str) -> Value {
    named(&show(house, "/api/cron/info")["jobs"], name)
}

fn rule(house: &House, name: &str) -> Value {
    named(&show(house, "/api/auto-heal/status")["rules"], name)
}

/// Waits until the clockwork has come round.
fn until(what: &str, holds: impl FnMut() -> bool) {
    wait_until(SOON, what, holds);
}

fn file_finding(house: &House) -> Answer {
    let body = json!({ "title": "a finding", "severity": "low" });
    house.call("POST", "/api/v1/findings").key(&house.ours.writer).json(&body).send()
}

#[test]
fn health_has_its_checks_and_the_details_have_figures() {
    let house = House::new();
    let plain = show(&house, "/api/health");
    assert_eq!((&plain["status"], &plain["version"]), (&json!("ok"), &json!(env!("CARGO_PKG_VERSION"))));
    let detailed = show(&house, "/api/health-detailed");
    let checks = detailed["checks"].as_object().unwrap();
    assert_eq!(checks.len(), plain["checks"].as_object().unwrap().len());
    for (name, check) in checks {
        for field in ["status", "value", "limit", "duration_ms"] {
            assert!(check.get(field).is_some(), "{name}.{field}");
        }
        assert_eq!(plain["checks"][name], check["status"], "{name}");
    }
    assert_eq!(checks["disk"]["limit"], json!(32 * MIB));
    assert_eq!(checks["wal"]["limit"], json!(64 * MIB));
    assert!(checks["disk"]["value"].as_u64().unwrap() > 0);
}

#[test]
fn a_sample_is_kept_every_minute_for_seven_days_over_restarts() {
    let mut house = House::new();
    let count = |house: &House| show(house, "/api/health/history")["snapshots"].as_array().unwrap().len();
    until("the first sample", || count(&house) == 1);
    for minute in 2..6 {
        house.clock.advance_ms(MINUTE_MS);
        until("a sample a minute", || count(&house) == minute);
    }
    let history = show(&house, "/api/health/history");
    assert_eq!(history["uptime_pct"], json!(100.0));
    let last = &history["snapshots"][4];
    assert_eq!((&last["at"], &last["status"]), (&json!("2026-11-15T08:04:00Z"), &json!("ok")));
    assert_eq!(last["checks"]["database_write"], json!("ok"));
    // Away for five minutes: of ten minutes it was up for six.
    house.service.take().unwrap().stop().unwrap();
    house.clock.advance_ms(5 * MINUTE_MS);
    house.start_again();
    until("a sample after the restart", || count(&house) == 6);
    assert_eq!(show(&house, "/api/health/history")["uptime_pct"], json!(60.0));
    // Eight days later the old ones are not shown, and the retention has removed them.
    house.clock.advance_ms(8 * DAY_MS);
    until("the retention", || job(&house, "retention")["outcome"] == "ok");
    until("a fresh history", || count(&house) == 1);
    let connection = rusqlite::Connection::open(&house.config.db).unwrap();
    let kept: i64 = connection.query_row("select count(*) from health_sample", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, 1);
}

#[test]
fn every_job_is_told_with_its_last_and_its_next_run() {
    let house = House::new();
    let names: Vec<Value> = show(&house, "/api/cron/info")["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job["name"].clone())
        .collect();
    for wanted in [
        "rate counts",
        "acceptance expiry",
        "health sample",
        "auto-heal",
        "checkpoint",
        "timeline sync",
        "retention",
        "integrity check",
    ] {
        assert!(names.contains(&json!(wanted)), "{wanted} is not in {names:?}");
    }
    assert!(!names.contains(&json!("nightly backup")), "without a folder there is no backup");
    until("the start check", || job(&house, "start check")["outcome"] == "ok");
    let check = job(&house, "integrity check");
    assert_eq!(check["schedule"], "daily at 03:30 UTC");
    assert_eq!((&check["last_run_at"], &check["outcome"]), (&Value::Null, &Value::Null));
    assert_eq!(check["next_run_at"], "2026-11-16T03:30:00Z");
    house.clock.advance_ms(DAY_MS);
    until("the integrity check", || job(&house, "integrity check")["outcome"] == "ok");
    let check = job(&house, "integrity check");
    assert_eq!(check["last_run_at"], "2026-11-16T08:00:00Z");
    assert_eq!(check["next_run_at"], "2026-11-17T03:30:00Z");
    let connection = rusqlite::Connection::open(&house.config.db).unwrap();
    until("the run is stored", || {
        let sql = "select count(*) from job_run where job = 'integrity check' and outcome = 'ok'";
        connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap() == 1
    });
}

#[test]
fn a_job_that_missed_its_time_is_run_and_that_counts_as_healed() {
    let mut house = House::new();
    house.clock.advance_ms(DAY_MS);
    until("the integrity check", || job(&house, "integrity check")["runs"] == 1);
    until("the rule has looked", || rule(&house, "missed_jobs")["last_run_at"] != Value::Null);
    let before = rule(&house, "missed_jobs")["heal_count"].as_u64().unwrap();
    house.service.take().unwrap().stop().unwrap();
    house.clock.advance_ms(3 * DAY_MS);
    house.start_again();
    until("the missed check", || job(&house, "integrity check")["runs"] == 1);
    house.clock.advance_ms(2000);
    until("the rule counts it", || rule(&house, "missed_jobs")["heal_count"].as_u64().unwrap() > before);
    assert_eq!(job(&house, "integrity check")["last_run_at"], "2026-11-19T08:00:00Z");
}

#[test]
fn a_log_that_outgrew_its_limit_is_folded_into_the_file() {
    let house = House::with(|config| {
        config.limits = None;
        config.wal_limit_bytes = 200_000;
    });
    let wal_bytes = || show(&house, "/api/actions/disk-report")["wal_bytes"].as_u64().unwrap();
    // Somebody reads for a long time: nothing can be folded, and the log grows.
    let reader = rusqlite::Connection::open(&house.config.db).unwrap();
    reader.execute_batch("begin; select count(*) from tenant;").unwrap();
    while wal_bytes() <= 400_000 {
        assert_eq!(file_finding(&house).status, 201);
    }
    assert_eq!(show(&house, "/api/health")["checks"]["wal"], "low");
    house.clock.advance_ms(2000);
    until("the rule has looked in vain", || rule(&house, "wal_over_limit")["last_run_at"] != Value::Null);
    assert_eq!(rule(&house, "wal_over_limit")["heal_count"], 0);
    reader.execute_batch("commit").unwrap();
    house.clock.advance_ms(2000);
    until("the log is empty", || wal_bytes() < 200_000);
    until("that is told", || rule(&house, "wal_over_limit")["heal_count"] == 1);
    assert_eq!(file_finding(&house).status, 201);
}

#[test]
fn a_delivery_whose_worker_is_gone_is_queued_again() {
    let house = House::new();
    let connection = rusqlite::Connection::open(&house.config.db).unwrap();
    connection.busy_timeout(SOON).unwrap();
    connection
        .execute_batch(&format!(
            "insert into webhook (tenant_id, id, name, channel, url, events, active, created_at, updated_at)
               select id, 'whk_1', 'w', 'slack', 'https://hooks.slack.com/x', '[]', 0, 0, 0 from tenant where name = 'ours';
             insert into delivery (tenant_id, id, webhook_id, state, next_at, lease_until, created_at)
               select id, 'dlv_gone', 'whk_1', 'sending', 0, {gone}, 0 from tenant where name = 'ours' union all
               select id, 'dlv_busy', 'whk_1', 'sending', 0, {busy}, 0 from tenant where name = 'ours' union all
               select id, 'dlv_clock', 'whk_1', 'sending', 0, {far}, 0 from tenant where name = 'ours';",
            gone = START_MS - 1,
            busy = START_MS + 60_000,
            far = START_MS + DAY_MS,
        ))
        .unwrap();
    let state = |id: &str| -> String {
        connection.query_row("select state from delivery where id = ?1", [id], |row| row.get(0)).unwrap()
    };
    house.clock.advance_ms(2000);
    until("the stuck deliveries are free", || {
        state("dlv_gone") != "sending" && state("dlv_clock") != "sending"
    });
    assert_eq!(state("dlv_busy"), "sending", "its worker may still be at it");
    until("that is told", || rule(&house, "stuck_deliveries")["heal_count"] == 1);
    assert_eq!(rule(&house, "stuck_deliveries")["last_healed_at"], "2026-11-15T08:00:02Z");
}

#[test]
fn below_the_reserve_writes_are_refused_reads_go_on_and_room_heals_it() {
    let disk = Disk::standing_at(1000 * MIB, 2000 * MIB);
    let handed_in = disk.clone();
    let house = House::with(move |config| {
        config.limits = None;
        config.reserve.disk = handed_in;
    });
    assert_eq!(file_finding(&house).status, 201);
    for days in [2, 5] {
        let sample = rusqlite::Connection::open(&house.config.db).unwrap();
        sample.busy_timeout(SOON).unwrap();
        let sql = "insert into health_sample values (?1, 'ok', '{}')";
        sample.execute(sql, [START_MS - days * DAY_MS]).unwrap();
    }
    // Nearly full: what is old goes, and everything is still served.
    disk.set_free(40 * MIB);
    assert_eq!(file_finding(&house).status, 201);
    house.clock.advance_ms(2000);
    until("old history is pruned", || rule(&house, "disk_nearly_full")["heal_count"] == 1);
    let connection = rusqlite::Connection::open(&house.config.db).unwrap();
    let old = "select count(*) from health_sample where at < ?1";
    let old: i64 = connection.query_row(old, [START_MS - DAY_MS], |row| row.get(0)).unwrap();
    assert_eq!(old, 0);
    // Full: nothing is written, nothing is told, and reads go on.
    disk.set_free(32 * MIB - 1);
    let refused = file_finding(&house);
    assert_eq!(
        (refused.status, refused.body.as_slice()),
        (500, &br#"{"error":"internal server error"}"#[..])
    );
    let findings = house.get("/api/v1/findings").key(&house.ours.reader).expect(200).json();
    assert_eq!(findings["meta"]["total"], 2);
    let health = show(&house, "/api/health");
    assert_eq!(health["status"], "degraded");
    assert_eq!(
        (&health["checks"]["disk"], &health["checks"]["database_write"]),
        (&json!("failed"), &json!("failed"))
    );
    house.clock.advance_ms(MINUTE_MS);
    until("the full minute is in the history", || {
        let history = show(&house, "/api/health/history");
        history["snapshots"].as_array().unwrap().last().is_some_and(|last| last["status"] == "degraded")
    });
    // Room again: without a restart, at once.
    disk.set_free(100 * MIB);
    assert_eq!(file_finding(&house).status, 201);
    house.clock.advance_ms(2000);
    until("health is well again", || show(&house, "/api/health")["status"] == "ok");
}

#[test]
fn five_hundreds_are_counted_by_route() {
    let disk = Disk::standing_at(1000 * MIB, 2000 * MIB);
    let handed_in = disk.clone();
    let house = House::with(move |config| config.reserve.disk = handed_in);
    assert_eq!(file_finding(&house).status, 201);
    disk.set_free(0);
    assert_eq!(file_finding(&house).status, 500);
    let rates = show(&house, "/api/errors/500-rate");
    assert_eq!(rates["window_seconds"], 3600);
    let row = rates["routes"].as_array().unwrap().iter().find(|row| row["route"] == "POST /api/v1/findings");
    let row = row.unwrap();
    assert_eq!((&row["requests"], &row["errors"], &row["rate_pct"]), (&json!(2), &json!(1), &json!(50.0)));
}

#[test]
fn the_disk_report_has_the_size_of_every_table() {
    let house = House::new();
    until("the first measure", || show(&house, "/api/actions/disk-report")["tables_as_of"] != Value::Null);
    let report = show(&house, "/api/actions/disk-report");
    for figure in ["database_bytes", "wal_bytes", "free_bytes", "total_bytes"] {
        assert!(report[figure].is_u64(), "{figure}");
    }
    let milestones = named(&report["tables"], "milestone");
    let connection = rusqlite::Connection::open(&house.config.db).unwrap();
    let rows: i64 = connection.query_row("select count(*) from milestone", [], |row| row.get(0)).unwrap();
    assert!(rows > 50);
    assert_eq!(milestones["rows"], json!(rows));
    assert!(milestones["bytes"].as_u64().unwrap() > 4096);
    assert_eq!(named(&report["tables"], "tenant")["rows"], 2);
}

/// C37: neither a path nor a host, a tenant, a person, a key or a component is told, and asking changes nothing.
#[test]
fn operational_routes_tell_an_attacker_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let backups = folder.path().to_owned();
    let house = House::with(move |config| {
        config.limits = None;
        config.metrics = Metrics::On;
        config.backup_dir = Some(backups);
    });
    house.service().house.app.store.create_tenant("Canary & Sons").unwrap();
    file_finding(&house);
    house.clock.advance_ms(DAY_MS);
    until("the nightly backup", || job(&house, "nightly backup")["outcome"] == "ok");
    until("the first measure", || show(&house, "/api/actions/disk-report")["tables_as_of"] != Value::Null);
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned();
    let place = house.config.db.parent().unwrap().to_str().unwrap().to_owned();
    let backups = folder.path().to_str().unwrap().to_owned();
    let secrets = [
        host.as_str(),
        &place,
        &backups,
        "test.db",
        "Canary",
        "tnt_",
        "key_",
        "hfast_",
        "owner@",
        rusqlite::version(),
        "sqlite",
        "hyper",
        "rustc",
        "tokio",
    ];
    for path in OPERATIONAL.iter().chain(&["/metrics"]) {
        let text = String::from_utf8(house.get(path).expect(200).body).unwrap().to_lowercase();
        for secret in secrets {
            assert!(!text.contains(&secret.to_lowercase()), "{path} tells {secret}: {text}");
        }
    }
}

#[test]
fn figures_are_off_by_default_and_can_have_an_address_of_their_own() {
    let off = House::new();
    off.get("/metrics").expect(404);
    let on = House::with(|config| config.metrics = Metrics::On);
    on.get("/api/ping").expect(200);
    let answer = on.get("/metrics").expect(200);
    let text = String::from_utf8(answer.body).unwrap();
    let line = r#"holdfast_http_requests_total{method="GET",route="/api/ping",status="2xx"} 1"#;
    assert!(text.lines().any(|known| known == line), "{text}");
    is_exposition(&text);
    let apart = House::with(|config| config.metrics = Metrics::At("127.0.0.1:0".parse().unwrap()));
    apart.get("/metrics").expect(404);
    let address = apart.service().metrics_address.unwrap();
    let figures = crate::client::Call::new(address, "GET", "/metrics").expect(200);
    is_exposition(&String::from_utf8(figures.body).unwrap());
    for path in ["/api/ping", "/api/v1/findings", "/"] {
        crate::client::Call::new(address, "GET", path).key(&apart.ours.all).expect(404);
    }
}

/// Every sample belongs to a family that was announced, and is a number.
fn is_exposition(text: &str) {
    let mut family = "";
    let mut samples = 0;
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            family = help.split(' ').next().unwrap();
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            assert_eq!(kind.split(' ').next(), Some(family));
        } else {
            let name = line.split(['{', ' ']).next().unwrap();
            let base = name.trim_end_matches("_sum").trim_end_matches("_count");
            assert!(name == family || base == family, "{line}");
            line.rsplit(' ').next().unwrap().parse::<f64>().unwrap();
            samples += 1;
        }
    }
    assert!(samples > 20);
}

/// What a server wrote to its log until it was stopped.
fn log_of(place: &Workplace, log: &str, ask: impl FnOnce(&crate::process::Server)) -> Vec<String> {
    let mut server = place.serve_with(&[("HOLDFAST_LOG", log)]);
    let stderr = BufReader::new(server.child.stderr.take().unwrap());
    let reader = std::thread::spawn(move || stderr.lines().map_while(Result::ok).collect());
    ask(&server);
    assert!(server.stop(Duration::from_secs(15)).success());
    reader.join().unwrap()
}

#[test]
fn json_lines_have_the_fields_of_a_request_and_no_secret() {
    let place = Workplace::new();
    drop(place.serve());
    let key = place.first_key();
    let lines = log_of(&place, "json", |server| {
        server
            .get("/api/v1/findings?search=CANARY-QUERY")
            .key(&key)
            .header("X-Request-Id", "r-1")
            .expect(200);
        server.get("/api/v1/findings/CANARY-ID%0a%7B%22fake%22:1%7D").key(&key).expect(404);
        server.get("/api/nothing?CANARY=1").header("Cookie", "CANARY").expect(404);
        let post = crate::client::Call::new(server.address, "POST", "/api/v1/findings");
        post.key(&key).body(r#"{"title":"CANARY-BODY","severity":"low"}"#).expect(201);
    });
    let text = lines.join("\n");
    assert!(!text.contains("CANARY") && !text.contains(&key), "{text}");
    let objects: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let request = objects.iter().find(|object| object["req_id"] == "r-1").unwrap();
    assert_eq!(
        (&request["level"], &request["method"], &request["route_template"], &request["status"]),
        (&json!("info"), &json!("GET"), &json!("/api/v1/findings"), &json!(200))
    );
    assert!(request["dur_us"].is_u64() && request["bytes"].as_u64().unwrap() > 50, "{request}");
    assert!(request["tenant_id"].as_str().unwrap().starts_with("tnt_"), "{request}");
    assert!(request["kid"].as_str().unwrap().starts_with("key_"), "{request}");
    assert_eq!(request["peer"], "127.0.0.1");
    let ts = request["ts"].as_str().unwrap();
    assert!(ts.len() == "2026-11-15T08:00:00.000Z".len() && ts.ends_with('Z'), "{ts}");
    assert_eq!(objects.iter().filter(|object| object["method"].is_string()).count(), 4);
}

#[test]
fn at_info_there_is_a_line_per_request_for_people_and_at_warn_none() {
    let place = Workplace::new();
    drop(place.serve());
    let ask = |server: &crate::process::Server| {
        server.get("/api/ping?CANARY=1").header("X-Request-Id", "r-2").expect(200);
    };
    let lines = log_of(&place, "info", ask);
    let line = lines.iter().find(|line| line.contains("GET /api/ping 200")).unwrap();
    assert!(line.contains("id=r-2") && !line.contains("CANARY"), "{line}");
    assert_eq!(log_of(&place, "warn", ask), Vec::<String>::new());
}
