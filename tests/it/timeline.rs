//! The compliance timeline: shown by date, moved by the clock, brought in line by a sync.

use crate::client::Call;
use crate::house::House;
use crate::process::{Workplace, wait_until};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

const LIST: &str = "/api/v1/compliance-timeline";
const DAY_MS: i64 = 86_400_000;
/// Milestones of this build.
const BUILT: usize = 103;

fn page(house: &House, query: &str) -> Value {
    house.get(&format!("{LIST}{query}")).key(&house.ours.reader).expect(200).json()
}

/// All items of a list, whatever its page size.
fn items(house: &House, query: &str) -> Vec<Value> {
    let joint = if query.is_empty() { '?' } else { '&' };
    page(house, &format!("{query}{joint}limit=500"))["data"].as_array().unwrap().clone()
}

fn item(house: &House, id: &str) -> Option<Value> {
    items(house, "").into_iter().find(|each| each["id"] == id)
}

fn syncing(house: &House) -> Call {
    house.call("POST", "/api/v1/compliance-timeline/sync").key(&house.ours.writer)
}

/// Added, updated, removed and unchanged of a sync.
fn synced(house: &House) -> [u64; 4] {
    let answer = syncing(house).expect(200).json();
    ["added", "updated", "removed", "unchanged"].map(|name| answer["data"][name].as_u64().unwrap())
}

fn own(id: &str, date: &str) -> Value {
    json!({
        "id": id, "date": date, "date_precision": "day", "title": "Board approves the strategy",
        "description": "Yearly.", "framework": "house-rules", "category": "internal_audit", "authority": "Board",
        "source": "minutes", "confirmed": true,
    })
}

/// A house with an operator's file, and where the file is.
fn house_with(text: Option<&str>) -> (House, PathBuf) {
    let mut place = PathBuf::new();
    let house = House::with(|config| {
        config.limits = None;
        place = config.db.with_file_name("timeline.json");
        if let Some(text) = text {
            std::fs::write(&place, text).unwrap();
        }
        config.timeline_file = Some(place.clone());
    });
    (house, place)
}

fn write(place: &PathBuf, milestones: &[Value]) {
    std::fs::write(place, json!({ "data": milestones }).to_string()).unwrap();
}

#[test]
fn a_new_database_has_the_builds_milestones_by_date() {
    let house = House::new();
    let first = page(&house, "");
    let meta = json!({ "version": "2026-11-01", "count": 50, "total": BUILT, "limit": 50, "offset": 0 });
    assert_eq!(first["meta"], meta);
    let names: Vec<&String> = first["data"][0].as_object().unwrap().keys().collect();
    for name in [
        "id",
        "date",
        "date_precision",
        "title",
        "description",
        "framework",
        "category",
        "authority",
        "status",
        "source",
        "confirmed",
    ] {
        assert!(names.iter().any(|known| *known == name), "{name}");
    }
    assert_eq!(names.len(), 11);
    let all = items(&house, "");
    assert_eq!(all.len(), BUILT);
    let place = |each: &Value| (each["date"].to_string(), each["id"].to_string());
    assert!(all.windows(2).all(|pair| place(&pair[0]) < place(&pair[1])));
    let mut paged = Vec::new();
    for offset in [0, 40, 80, 120] {
        let page = page(&house, &format!("?limit=40&offset={offset}"));
        paged.extend(page["data"].as_array().unwrap().clone());
        assert_eq!(page["meta"]["total"], json!(BUILT));
    }
    assert_eq!(paged, all);
}

#[test]
fn filters_and_search_narrow_and_unknown_words_are_named() {
    let house = House::with(|config| config.limits = None);
    let all = items(&house, "");
    let in_force = items(&house, "?status=in_force").len();
    let imminent = items(&house, "?status=imminent").len();
    let upcoming = items(&house, "?status=upcoming").len();
    assert!(in_force > 0 && imminent > 0 && upcoming > 0);
    assert_eq!(in_force + imminent + upcoming, all.len());
    for name in ["status", "framework", "category"] {
        for value in all.iter().map(|each| each[name].as_str().unwrap()) {
            let expected: Vec<&Value> = all.iter().filter(|each| each[name] == value).collect();
            let found = items(&house, &format!("?{name}={value}"));
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{name}={value}");
        }
    }
    let both = items(&house, "?framework=dora&category=level_2&search=REGULATION+2024");
    assert!(!both.is_empty() && both.len() < items(&house, "?framework=dora").len());
    assert_eq!(page(&house, "?search=no-such-word")["meta"]["total"], json!(0));
    let bad = "?status=over&limit=0&colour=red";
    let answer = house.get(&format!("{LIST}{bad}")).key(&house.ours.reader).expect(422).json();
    assert_eq!(answer["fields"].as_object().unwrap().len(), 3);
    let bad = format!("{LIST}?framework=DORA&category=nothing");
    let answer = house.get(&bad).key(&house.ours.reader).expect(422).json();
    assert!(answer["fields"]["framework"].as_str().unwrap().contains("ai-act, amlr"));
    assert!(answer["fields"]["category"].as_str().unwrap().contains("deadline, decision"));
}

#[test]
fn a_status_moves_with_the_utc_day() {
    let house = House::with(|config| config.limits = None);
    // The clock stands at 2026-11-15T08:00Z; DORA's TL-088 is of 2026-12-24, 39 days ahead.
    let status = |id: &str| item(&house, id).unwrap()["status"].as_str().unwrap().to_owned();
    let of = |date: &str| {
        let all = items(&house, "");
        all.iter().find(|each| each["date"] == date).unwrap()["id"].as_str().unwrap().to_owned()
    };
    let (soon, later) = (of("2026-12-24"), of("2027-03-31"));
    assert_eq!((status(&soon).as_str(), status(&later).as_str()), ("imminent", "upcoming"));
    let etag = house.get(LIST).key(&house.ours.reader).expect(200).header("etag").unwrap().to_owned();
    house.get(LIST).key(&house.ours.reader).header("If-None-Match", &etag).expect(304);
    // The last millisecond of 2026-12-23, and the first of the day itself.
    house.clock.advance_ms(39 * DAY_MS - 8 * 3_600_000 - 1);
    assert_eq!(status(&soon), "imminent");
    house.clock.advance_ms(1);
    assert_eq!(status(&soon), "in_force");
    // 2026-12-31 is 90 days before 2027-03-31.
    house.clock.advance_ms(7 * DAY_MS - 1);
    assert_eq!(status(&later), "upcoming");
    assert!(!items(&house, "?status=imminent").iter().any(|each| each["id"] == later));
    house.clock.advance_ms(1);
    assert_eq!(status(&later), "imminent");
    assert!(items(&house, "?status=imminent").iter().any(|each| each["id"] == later));
}

#[test]
fn a_sync_takes_an_optional_empty_body_and_a_second_one_changes_nothing() {
    let house = House::new();
    for call in [syncing(&house), syncing(&house).body(""), syncing(&house).body("{}")] {
        let expected = json!({
            "added": 0, "updated": 0, "removed": 0, "unchanged": BUILT, "synced_at": "2026-11-15T08:00:00Z",
        });
        let answer = call.expect(200);
        assert_eq!(answer.json(), json!({ "data": expected, "meta": { "version": "2026-11-01" } }));
    }
    let answer = syncing(&house).json(&json!({ "force": true, "id": "x" })).expect(422).json();
    assert_eq!(answer["fields"].as_object().unwrap().len(), 2);
    syncing(&house).body("[]").expect(422);
    house.call("POST", "/api/v1/compliance-timeline/sync").key(&house.ours.reader).expect(403);
}

#[test]
fn the_operators_file_is_added_changed_and_removed() {
    let (house, place) = house_with(Some(&json!({ "data": [own("own-1", "2027-02-01")] }).to_string()));
    assert_eq!(item(&house, "own-1").unwrap()["status"], "imminent", "read at start");
    assert_eq!(items(&house, "?framework=house-rules&category=internal_audit").len(), 1);

    let mut changed = own("own-1", "2026-11-15");
    changed["title"] = json!("The board has approved");
    write(&place, &[changed, own("own-2", "2027-09-01"), own("own-3", "2027-09-01")]);
    assert_eq!(synced(&house), [2, 1, 0, BUILT as u64]);
    assert_eq!(synced(&house), [0, 0, 0, BUILT as u64 + 3]);
    let first = item(&house, "own-1").unwrap();
    assert_eq!(
        (first["title"].as_str(), first["status"].as_str()),
        (Some("The board has approved"), Some("in_force"))
    );

    write(&place, &[own("own-3", "2027-09-01")]);
    assert_eq!(synced(&house), [0, 0, 2, BUILT as u64 + 1]);
    assert!(item(&house, "own-1").is_none() && item(&house, "own-3").is_some());
    write(&place, &[]);
    assert_eq!(synced(&house), [0, 0, 1, BUILT as u64]);
}

#[test]
fn a_faulty_file_is_refused_whole_with_every_fault_and_nothing_changes() {
    let (house, place) = house_with(Some(&json!({ "data": [own("own-1", "2027-02-01")] }).to_string()));
    let before = items(&house, "");
    let mut bad = own("TL-001", "2027-13-01");
    bad["framework"] = json!("House Rules");
    write(&place, &[own("own-2", "2027-02-01"), bad, own("own-2", "2027-02-01")]);
    let answer = syncing(&house).expect(422).json();
    let named: Vec<&String> = answer["fields"].as_object().unwrap().keys().collect();
    assert_eq!(named.len(), 4, "{named:?}");
    for name in ["data[1].date", "data[1].framework", "data[1].id", "data[2].id"] {
        assert!(named.iter().any(|known| *known == name), "{name}");
    }
    assert_eq!(items(&house, ""), before);
    for text in ["", "{", "[]", "{\"data\":[],\"data\":[]}", "{\"data\":[5]}"] {
        std::fs::write(&place, text).unwrap();
        assert!(syncing(&house).expect(422).error().contains("timeline file"), "{text}");
    }
    std::fs::remove_file(&place).unwrap();
    let error = syncing(&house).expect(422).error();
    assert!(error.contains("cannot be read") && !error.contains(place.to_str().unwrap()), "{error}");
    assert_eq!(items(&house, ""), before);
    write(&place, &[]);
    assert_eq!(synced(&house), [0, 0, 1, BUILT as u64]);
}

#[test]
fn a_start_goes_on_with_the_builds_milestones_when_the_file_is_faulty() {
    let (mut house, place) = house_with(Some("{"));
    assert_eq!(items(&house, "").len(), BUILT);
    write(&place, &[own("own-1", "2027-02-01")]);
    house.restart();
    assert_eq!(items(&house, "").len(), BUILT + 1, "every start brings it in line");

    let workplace = Workplace::new();
    let server = workplace.serve_with(&[("HOLDFAST_TIMELINE_FILE", "no-such-file.json")]);
    server.get(LIST).key(&workplace.first_key()).expect(200);
    let mut stopped = server;
    stopped.signal("-TERM");
    let mut log = String::new();
    std::io::Read::read_to_string(&mut stopped.child.stderr.take().unwrap(), &mut log).unwrap();
    assert!(log.contains("HOLDFAST_TIMELINE_FILE is left out"), "{log}");
}

#[test]
fn a_start_that_changes_nothing_writes_no_milestone() {
    let workplace = Workplace::new();
    let server = workplace.serve();
    // The first start scans itself a moment later.
    let scan = || server.get("/api/v1/vulnerability-scan/latest").key(&workplace.first_key()).send();
    wait_until(Duration::from_secs(20), "the first scan", || scan().status == 200);
    assert!(server.stop(Duration::from_secs(10)).success());
    // The service remembers its own runs and its health; a written milestone would be told by the trigger.
    let connection = rusqlite::Connection::open(workplace.db()).unwrap();
    for act in ["insert", "update", "delete"] {
        let refuse = format!(
            "create trigger no_{act} before {act} on milestone begin select raise(abort, 'written'); end;"
        );
        connection.execute_batch(&refuse).unwrap();
    }
    drop(connection);
    assert!(workplace.serve().stop(Duration::from_secs(10)).success());
}

#[test]
fn v2_shows_the_same_rows_in_its_envelope() {
    let house = House::with(|config| config.limits = None);
    let get = |query: &str| house.get(&format!("/api/v2/compliance-timeline{query}")).key(&house.ours.reader);
    let all = get("?limit=501").expect(200).json();
    let meta = json!({ "version": "2.0", "count": BUILT, "total": BUILT, "limit": 500, "offset": 0 });
    assert_eq!(all["meta"], meta);
    assert_eq!(all["data"], json!(items(&house, "")));
    let some = get("?status=in_force&category=deadline&search=dora").expect(200).json();
    assert_eq!(some["data"], json!(items(&house, "?status=in_force&category=deadline&search=dora")));
    assert!(some["meta"]["total"].as_u64().unwrap() > 0);
    for query in ["?level=high", "?framework=dora", "?status=open", "?category=nothing"] {
        get(query).expect(422);
    }
}

#[test]
fn a_start_brings_an_older_builds_rows_in_line() {
    let workplace = Workplace::new();
    assert!(workplace.serve().stop(Duration::from_secs(10)).success());
    let old = rusqlite::Connection::open(workplace.db()).unwrap();
    old.execute_batch(
        "update milestone set title = 'as it was called then' where id = 'TL-001';
         update milestone set id = 'TL-000' where id = 'TL-002';",
    )
    .unwrap();
    drop(old);
    let server = workplace.serve();
    let page = server.get(&format!("{LIST}?limit=500")).key(&workplace.first_key()).expect(200).json();
    assert_eq!(page["meta"]["total"], json!(BUILT));
    let ids: Vec<&str> =
        page["data"].as_array().unwrap().iter().map(|each| each["id"].as_str().unwrap()).collect();
    assert_eq!(ids[..2], ["TL-001", "TL-002"]);
    assert_ne!(page["data"][0]["title"], "as it was called then");
}
