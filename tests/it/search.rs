//! Search across modules: what is found, in which order, by whom, and that the index keeps up with every write.

use crate::house::House;
use crate::process::Workplace;
use holdfast::domain::import::read_json;
use holdfast::domain::search::{Ask, Wording};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::time::Duration;

fn quiet() -> House {
    House::with(|config| config.limits = None)
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn search_as(house: &House, key: &str, q: &str) -> Value {
    house.get(&format!("/api/v2/search?limit=500&q={}", encoded(q))).key(key).expect(200).json()
}

/// The tenant's own hits: type and title, best first.
fn own(house: &House, q: &str) -> Vec<(String, String)> {
    let body = search_as(house, &house.ours.reader, q);
    let hits = body["data"].as_array().unwrap().iter();
    hits.filter(|hit| hit["id"].as_str().unwrap().contains("_0"))
        .map(|hit| (hit["type"].as_str().unwrap().to_owned(), hit["title"].as_str().unwrap().to_owned()))
        .collect()
}

fn titles(house: &House, q: &str) -> Vec<String> {
    own(house, q).into_iter().map(|(_, title)| title).collect()
}

fn file(house: &House, key: &str, body: Value) -> String {
    let made = house.call("POST", "/api/v1/findings").key(key).json(&body).expect(201).json();
    made["data"]["id"].as_str().unwrap().to_owned()
}

fn import(house: &House, tenant: &str, file: Value) {
    let store = &house.service().house.app.store;
    let import = read_json(file.to_string().as_bytes()).unwrap();
    store.tenant(&store.tenant_id(tenant).unwrap()).import(import, false).unwrap();
}

/// One object of each kind that is searched, each with the mark in its title.
fn one_of_each(mark: &str) -> Value {
    json!({
        "programmes": [{ "ref": "p", "external_id": "p", "name": format!("{mark} programme"), "framework": "dora" }],
        "test_cases": [{
            "ref": "t", "external_id": "t", "programme_id": "p", "title": format!("{mark} case"), "type": "tlpt",
        }],
        "findings": [{ "external_id": "f", "title": format!("{mark} finding"), "severity": "low" }],
        "providers": [{ "external_id": "v", "name": format!("{mark} provider") }],
        "cra_reports": [{
            "external_id": "c", "kind": "severe_incident", "title": format!("{mark} report"), "product_name": "x",
        }],
    })
}

#[test]
fn own_objects_of_every_kind_and_reference_data_are_found_in_one_list() {
    let house = quiet();
    import(&house, "ours", one_of_each("Ransomware"));
    let body = search_as(&house, &house.ours.reader, "ransomware");
    let hits = body["data"].as_array().unwrap();
    assert_eq!(body["meta"]["total"], json!(hits.len()));
    assert_eq!(body["meta"]["version"], "2.0");
    let kinds: Vec<&str> = hits.iter().map(|hit| hit["type"].as_str().unwrap()).collect();
    for kind in ["programme", "test_case", "finding", "provider", "cra_report", "risk", "drill", "signal"] {
        assert!(kinds.contains(&kind), "{kind} is not among {kinds:?}");
    }
    let mut last = 1.0;
    for hit in hits {
        let names: Vec<&String> = hit.as_object().unwrap().keys().collect();
        assert_eq!(names, ["type", "id", "title", "snippet", "score", "href"]);
        let score = hit["score"].as_f64().unwrap();
        assert!(score > 0.0 && score <= last, "best first: {hit}");
        last = score;
    }
}

/// A hit is shown where its address says, whatever it is.
#[test]
fn the_address_of_each_hit_leads_to_it() {
    let house = quiet();
    import(&house, "ours", one_of_each("risk"));
    let mut kinds = std::collections::BTreeSet::new();
    for q in ["risk", "widget overall", "plan", "backup", "vendor", "evidence", "regulation", "authority"] {
        for hit in search_as(&house, &house.ours.reader, q)["data"].as_array().unwrap() {
            if !kinds.insert(hit["type"].as_str().unwrap().to_owned()) {
                continue;
            }
            let shown = house.get(hit["href"].as_str().unwrap()).key(&house.ours.reader).expect(200).json();
            let records = shown["data"].as_array().cloned().unwrap_or_else(|| vec![shown["data"].clone()]);
            assert!(records.iter().any(|record| record["id"] == hit["id"]), "{hit}");
        }
    }
    let expected = [
        "cra_report",
        "drill",
        "evidence",
        "finding",
        "measure",
        "milestone",
        "programme",
        "provider",
        "question",
        "requirement",
        "risk",
        "signal",
        "test_case",
        "training",
        "vendor",
        "widget",
    ];
    assert_eq!(kinds.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

#[test]
fn words_are_found_by_their_beginning_and_without_their_marks() {
    let house = quiet();
    file(&house, &house.ours.writer, json!({ "title": "Zu kleine Größe der Sicherung", "severity": "low" }));
    file(&house, &house.ours.writer, json!({ "title": "Łódź café naïve", "severity": "low" }));
    for q in ["grosse", "GRÖSSE", "größe", "gros", "sicherung grosse", "Gro\u{308}ße", "kle GRO sich"] {
        assert_eq!(titles(&house, q), ["Zu kleine Größe der Sicherung"], "{q}");
    }
    for q in ["lodz", "cafe", "naive", "NAÏ caf"] {
        assert_eq!(titles(&house, q), ["Łódź café naïve"], "{q}");
    }
    for q in ["rosse", "grosse cafe", "ngrosse", "grossex"] {
        assert_eq!(titles(&house, q), [""; 0], "{q}");
    }
}

#[test]
fn titles_come_before_texts_and_whole_words_before_beginnings_and_new_before_old() {
    let house = quiet();
    for (title, description) in [
        ("only its text", "a zebra"),
        ("only its text begins so", "some zebrafish"),
        ("Zebra old", ""),
        ("Zebrafish", ""),
        ("Zebra new", ""),
    ] {
        house.clock.advance_ms(1_000);
        file(
            &house,
            &house.ours.writer,
            json!({ "title": title, "severity": "low", "description": description }),
        );
    }
    let order = ["Zebra new", "Zebra old", "Zebrafish", "only its text", "only its text begins so"];
    assert_eq!(titles(&house, "zebra"), order);
    let body = search_as(&house, &house.ours.reader, "zebra");
    let scores: Vec<f64> =
        body["data"].as_array().unwrap().iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
    assert_eq!(scores, [1.0, 1.0, 0.8, 0.5, 0.3]);
    assert_eq!(body["data"][3]["snippet"], "a zebra");
    let two = house.get("/api/v2/search?q=zebra&limit=2&offset=1").key(&house.ours.reader).expect(200).json();
    assert_eq!(two["data"], json!(body["data"].as_array().unwrap()[1..3]));
    assert_eq!((&two["meta"]["count"], &two["meta"]["total"]), (&json!(2), &json!(5)));
    assert_eq!(titles(&house, "zebra old"), ["Zebra old"]);
    let more = house.get("/api/v2/search?q=zebra&search=text").key(&house.ours.reader).expect(200).json();
    assert_eq!(more["meta"]["total"], 2, "further words narrow");
    let none = house.get("/api/v2/search?q=***&search=text").key(&house.ours.reader).expect(200).json();
    assert_eq!(none["meta"]["total"], 0);
}

#[test]
fn an_id_finds_its_object_and_nobody_elses() {
    let house = quiet();
    let ours = file(&house, &house.ours.writer, json!({ "title": "one", "severity": "low" }));
    let theirs = file(&house, &house.theirs.writer, json!({ "title": "two", "severity": "low" }));
    let body = search_as(&house, &house.ours.reader, &format!(" {ours} "));
    assert_eq!((&body["meta"]["total"], &body["data"][0]["id"]), (&json!(1), &json!(ours)));
    assert_eq!(body["data"][0]["score"], 1.0);
    assert_eq!(search_as(&house, &house.ours.reader, &theirs)["meta"]["total"], 0);
    let risk = search_as(&house, &house.ours.reader, "R-CYB-01");
    assert_eq!(risk["data"][0]["id"], "R-CYB-01");
}

#[test]
fn others_are_neither_found_nor_felt() {
    let house = quiet();
    import(&house, "ours", one_of_each("shared"));
    let before = search_as(&house, &house.ours.reader, "shared");
    import(&house, "theirs", one_of_each("shared canary7c1e"));
    for number in 0..40 {
        let title = format!("shared shared canary7c1e {number}");
        file(&house, &house.theirs.writer, json!({ "title": title, "severity": "low" }));
    }
    assert_eq!(search_as(&house, &house.ours.reader, "shared"), before, "not even a score has moved");
    for q in ["canary7c1e", "canary", "c", "shared canary7c1e"] {
        let body = search_as(&house, &house.ours.reader, q).to_string();
        assert!(!body.contains("canary7c1e"), "{q}: {body}");
    }
    assert_eq!(search_as(&house, &house.ours.reader, "canary7c1e")["meta"]["total"], 0);
    assert_eq!(search_as(&house, &house.theirs.reader, "canary7c1e")["meta"]["total"], 45);
    // A question that spells out how others' words are kept finds nothing either.
    let store = &house.service().house.app.store;
    let theirs = store.tenant_id("theirs").unwrap().trim_start_matches("tnt_").to_lowercase();
    for q in [format!("{theirs}canary7c1e"), format!("x OR {theirs}canary7c1e"), theirs] {
        assert_eq!(search_as(&house, &house.ours.reader, &q)["meta"]["total"], 0, "{q}");
    }
}

#[test]
fn whatever_stands_in_q_is_text() {
    let house = quiet();
    file(&house, &house.ours.writer, json!({ "title": "100% \"quoted\" AND near(x)", "severity": "low" }));
    let long = "a ".repeat(100);
    let endless = "é".repeat(200);
    for q in [
        "\"",
        "'",
        "*",
        "%",
        "_",
        "NEAR(",
        "NEAR(a b, 2)",
        "a AND",
        "AND",
        "OR",
        "NOT x",
        "title:x",
        "title : x",
        "{title body}: x",
        "-x",
        "^x",
        "a+b",
        "(",
        ")",
        "((((",
        "\\",
        "\0",
        "a\0b",
        "\u{202e}x",
        "🦀",
        "x*y*",
        "\"a\" \"b",
        "'; drop table finding; --",
        "search_index match",
        "\u{feff}",
        "ﷺ",
        "\u{301}",
        &long,
        &endless,
    ] {
        let body = search_as(&house, &house.ours.reader, q);
        assert!(body["meta"]["total"].is_u64(), "{q}");
    }
    for q in ["100%", "\"quoted", "quoted\" AND", "near(x)", "NEAR", "100 quoted and near x"] {
        assert_eq!(titles(&house, q).len(), 1, "{q}");
    }
    assert_eq!(search_as(&house, &house.ours.reader, "%")["meta"]["total"], 0);
    for query in ["", "q=", "q", "q=%20%09+", "limit=5", "q=x&q=y", "q=%FF", "q=%zz"] {
        let answer = house.get(&format!("/api/v2/search?{query}")).key(&house.ours.reader).expect(422);
        assert!(answer.json()["fields"]["q"].is_string(), "{query}");
    }
    let over = encoded(&"a".repeat(201));
    house.get(&format!("/api/v2/search?q={over}")).key(&house.ours.reader).expect(422);
    for query in ["q=x&limit=0", "q=x&offset=-1", "q=x&level=high", "q=x&status=open", "q=x&fruit=1"] {
        house.get(&format!("/api/v2/search?{query}")).key(&house.ours.reader).expect(422);
    }
}

/// Of a word that everything has, the newest are ranked and the rest follows: nothing is lost or comes twice.
#[test]
fn more_hits_than_are_ranked_are_still_all_there() {
    let house = quiet();
    let title = |number: usize| if number == 3 { "Old zebra".to_owned() } else { format!("Number {number}") };
    let findings: Vec<Value> = (0..10_020)
        .map(|number| json!({ "title": title(number), "severity": "low", "description": "zebra" }))
        .collect();
    import(&house, "ours", json!({ "findings": findings }));
    let page = |query: &str| {
        let body =
            house.get(&format!("/api/v2/search?q=zebra&{query}")).key(&house.ours.reader).expect(200).json();
        assert_eq!(body["meta"]["total"], 10_020);
        let hits = body["data"].as_array().unwrap().iter();
        let shown =
            hits.map(|hit| (hit["title"].as_str().unwrap().to_owned(), hit["score"].as_f64().unwrap()));
        shown.collect::<Vec<_>>()
    };
    assert_eq!(page("limit=2"), [("Number 10019".to_owned(), 0.5), ("Number 10018".to_owned(), 0.5)]);
    let edge = page("limit=2&offset=9999");
    assert_eq!(edge, [("Number 20".to_owned(), 0.5), ("Number 19".to_owned(), 0.0)]);
    let last = page("limit=4&offset=10016");
    assert_eq!(
        last.iter().map(|(title, _)| title.as_str()).collect::<Vec<_>>(),
        ["Old zebra", "Number 2", "Number 1", "Number 0"]
    );
    assert_eq!(page("offset=10020"), []);
}

/// The index against a plain reading of the same texts: what is found, with which score, in which order. The
/// words make every case of the index: rare and common, far apart, one letter, beginnings of many words.
#[test]
fn the_index_finds_what_a_plain_reading_finds() {
    let house = quiet();
    let pick = |seed: usize, of: &[&str]| of[seed % of.len()].to_owned();
    let common = ["zz", "zzt", "zztop", "zztoper", "zyx"];
    let wording = |number: usize| {
        let mixed = number.wrapping_mul(2_654_435_761) >> 7;
        let many = format!("zzmany{}", mixed % 90);
        let rare = if number.is_multiple_of(97) { "zzrare" } else { "zzusual" };
        let title = format!(
            "{} {} n{number}",
            pick(mixed, &common),
            if mixed.is_multiple_of(3) { &many } else { "x" }
        );
        let body = format!(
            "{} {rare} {}",
            pick(mixed / 7, &common),
            if mixed.is_multiple_of(2) { &many } else { "y" }
        );
        (title, body)
    };
    let all: Vec<(String, String)> = (0..600).map(wording).collect();
    let findings =
        all.iter().map(|(title, body)| json!({ "title": title, "description": body, "severity": "low" }));
    import(&house, "ours", json!({ "findings": findings.collect::<Vec<_>>() }));
    let questions = [
        "zzt",
        "zztop",
        "zz",
        "zy",
        "zzmany",
        "zzmany7",
        "zzmany77",
        "zzrare zztop",
        "zzrare zzmany",
        "zzr zzu",
    ];
    for q in questions.into_iter().chain(["z zz", "zztop zzt zzusual", "zztoper", "zzrare zy x", "zznone zz"])
    {
        let ask = Ask::new(q);
        let mut expected: Vec<(u32, usize)> = all
            .iter()
            .enumerate()
            .filter_map(|(number, (title, body))| {
                Some((Wording::new(title, [body.as_str()].into_iter()).points(&ask)?, number))
            })
            .collect();
        expected.sort_unstable_by_key(|hit| std::cmp::Reverse(*hit));
        let expected: Vec<(String, f64)> =
            expected.into_iter().map(|(points, number)| (all[number].0.clone(), ask.score(points))).collect();
        let mut found = Vec::new();
        for offset in [0, 500] {
            let path = format!("/api/v2/search?limit=500&offset={offset}&q={}", encoded(q));
            let body = house.get(&path).key(&house.ours.reader).expect(200).json();
            assert_eq!(body["meta"]["total"], expected.len(), "{q}");
            let hits = body["data"].as_array().unwrap().iter();
            let shown =
                |hit: &Value| (hit["title"].as_str().unwrap().to_owned(), hit["score"].as_f64().unwrap());
            found.extend(hits.map(shown));
        }
        assert_eq!(found, expected, "{q}");
    }
}

/// Every text that is searched, by the way it can be changed.
#[test]
fn the_index_follows_each_change_of_each_text() {
    let house = quiet();
    import(&house, "ours", one_of_each("before"));
    let change = |part: &str, field: &str, value: &str| {
        let mut row = one_of_each("after")[part][0].clone();
        row[field] = json!(value);
        let mut file = one_of_each("after");
        let parts = ["programmes", part].into_iter().collect::<std::collections::BTreeSet<_>>();
        file.as_object_mut().unwrap().retain(|name, _| parts.contains(name.as_str()));
        file[part][0] = row;
        import(&house, "ours", file);
    };
    let texts: &[(&str, &[&str])] = &[
        ("programmes", &["name", "description", "owner"]),
        ("test_cases", &["title", "description", "result_summary", "assignee"]),
        ("findings", &["title", "description", "remediation", "owner"]),
        (
            "cra_reports",
            &[
                "title",
                "summary",
                "product_name",
                "product_version",
                "root_cause",
                "mitigation",
                "user_guidance",
            ],
        ),
        ("providers", &["name", "parent", "sector", "region"]),
    ];
    for (part, fields) in texts {
        for field in *fields {
            change(part, field, "quokka one");
            assert_eq!(own(&house, "quokka one").len(), 1, "{part} {field}");
            change(part, field, "wombat");
            assert_eq!(own(&house, "wombat").len(), 1, "{part} {field}");
            assert_eq!(own(&house, "quokka").len(), 0, "{part} {field} is still found by its old text");
            change(part, field, "else");
        }
    }
    change("cra_reports", "cve_id", "CVE-2026-4711");
    assert_eq!(own(&house, "cve-2026-4711").len(), 1);
    assert_eq!(own(&house, "before").len(), 0, "all five have been reworded");
    assert_eq!(own(&house, "after").len(), 5, "and none has come twice");
}

#[test]
fn the_index_follows_creation_change_move_and_deletion_through_the_api() {
    let house = quiet();
    let id = file(&house, &house.ours.writer, json!({ "title": "Quokka", "severity": "low" }));
    let patch = |body: Value, status: u16| {
        house
            .call("PATCH", &format!("/api/v1/findings/{id}"))
            .key(&house.ours.writer)
            .json(&body)
            .expect(status);
    };
    patch(json!({ "status": "in_progress" }), 200);
    assert_eq!(titles(&house, "quokka"), ["Quokka"]);
    patch(json!({ "title": "Wombat", "status": "closed" }), 422);
    assert_eq!(
        (titles(&house, "quokka").len(), titles(&house, "wombat").len()),
        (1, 0),
        "a refusal changes nothing"
    );
    patch(json!({ "title": "Wombat" }), 200);
    assert_eq!((titles(&house, "quokka").len(), titles(&house, "wombat").len()), (0, 1));
    let providers = "/api/v1/concentration-risk/providers";
    let made = house
        .call("POST", providers)
        .key(&house.ours.writer)
        .json(&json!({ "name": "Dingo Cloud" }))
        .expect(201);
    assert_eq!(own(&house, "dingo"), [("provider".to_owned(), "Dingo Cloud".to_owned())]);
    let address = made.header("location").unwrap().to_owned();
    house.call("DELETE", &address).key(&house.ours.writer).expect(204);
    assert_eq!(own(&house, "dingo"), []);
}

#[test]
fn an_import_that_fails_leaves_no_word_and_one_that_succeeds_is_found_beside_a_running_server() {
    let place = Workplace::new();
    let server = place.serve_with(&[("HOLDFAST_RATE_LIMITS", "off")]);
    let key = place.first_key();
    let total = |q: &str| {
        let body = server.get(&format!("/api/v2/search?q={q}")).key(&key).expect(200).json();
        body["meta"]["total"].as_u64().unwrap()
    };
    let file = place.folder.path().join("file.json");
    let write = |value: Value| std::fs::write(&file, value.to_string()).unwrap();
    let rows = json!([{ "title": "Quokka", "severity": "low" }, { "title": "Wombat", "severity": "vast" }]);
    write(json!({ "findings": rows }));
    place.failed(&["import", "--tenant", "default", "file.json"], 1);
    assert_eq!(total("quokka"), 0);
    write(json!({ "findings": [{ "title": "Quokka", "severity": "low" }] }));
    place.done(&["import", "--tenant", "default", "file.json"]);
    assert_eq!(total("quokka"), 1);
}

fn counts(connection: &Connection) -> (i64, i64) {
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get(0)).unwrap();
    (count("select count(*) from search_entry"), count("select count(*) from search_index"))
}

#[test]
fn a_deleted_tenant_leaves_nothing_in_the_index() {
    let house = quiet();
    import(&house, "ours", one_of_each("keep"));
    import(&house, "theirs", one_of_each("drop"));
    house.service().house.app.store.delete_tenant("theirs").unwrap();
    let connection = Connection::open(&house.config.db).unwrap();
    assert_eq!(counts(&connection), (5, 5));
    assert_eq!(own(&house, "keep").len(), 5);
}

#[test]
fn an_index_that_lost_something_is_noticed_and_filled_anew() {
    let place = Workplace::new();
    let server = place.serve_with(&[("HOLDFAST_RATE_LIMITS", "off")]);
    let key = place.first_key();
    std::fs::write(place.folder.path().join("file.json"), one_of_each("quokka").to_string()).unwrap();
    place.done(&["import", "--tenant", "default", "file.json"]);
    let search = || server.get("/api/v2/search?q=quokka").key(&key).expect(200).json();
    let before = search();
    assert_eq!(before["meta"]["total"], 5);
    let wounds = [
        "delete from search_entry where number in (select number from search_entry limit 2)",
        "insert into search_index (search_index) values ('delete-all')",
        "insert into search_entry (tenant_id, id, number) select id, 'fnd_unknown', 99 from tenant",
    ];
    for wound in wounds {
        let connection = Connection::open(place.db()).unwrap();
        // `terms` is ours; here it only has to be there.
        connection
            .create_scalar_function("terms", 2, rusqlite::functions::FunctionFlags::SQLITE_UTF8, |_| Ok("x"))
            .unwrap();
        connection.execute(wound, []).unwrap();
        drop(connection);
        assert!(place.failed(&["check"], 1).contains("holdfast reindex"), "{wound}");
        assert_eq!(place.done(&["reindex"]), "5 objects indexed", "{wound}");
        assert_eq!(place.failed(&["check"], 0), "", "{wound}");
        assert_eq!(search(), before, "{wound}");
    }
    assert!(server.stop(Duration::from_secs(10)).success());
}

/// A build that folds words in another way finds the index of an older one, and fills it by its own rules.
#[test]
fn an_index_of_other_rules_is_filled_anew_at_start() {
    let place = Workplace::new();
    assert!(place.serve().stop(Duration::from_secs(10)).success());
    let key = place.first_key();
    std::fs::write(place.folder.path().join("file.json"), one_of_each("quokka").to_string()).unwrap();
    place.done(&["import", "--tenant", "default", "file.json"]);
    let connection = Connection::open(place.db()).unwrap();
    connection
        .execute_batch(
            "insert into search_index (search_index) values ('delete-all'); update search_rules set number = 0;",
        )
        .unwrap();
    drop(connection);
    let server = place.serve();
    let body = server.get("/api/v2/search?q=quokka").key(&key).expect(200).json();
    assert_eq!(body["meta"]["total"], 5);
}
