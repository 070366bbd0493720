//! What holds for every list of API v2: a page is the slice of the filtered whole.

use crate::house::House;
use crate::reference::searched;
use holdfast::domain::import::read_json;
use holdfast::domain::query::ParamKind;
use holdfast::http::route::{Gives, Route, Tier, Verb};
use holdfast::routes::ROUTES;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};

/// Words to look for: in many records, in few, in none; with marks and capitals; beginnings and middles.
const WORDS: &[&str] = &[
    "risk",
    "PLAN",
    "ict test",
    "ü",
    "grosse",
    "Größe",
    "backup",
    "R-CYB",
    "zzz",
    "s",
    "die",
    "2026",
    "data centre",
    "v",
];

fn lists() -> Vec<&'static Route> {
    ROUTES.iter().filter(|route| route.tier == Tier::V2 && route.gives == Gives::List).collect()
}

/// A house with something of everything, so that no list is empty.
fn house() -> House {
    let house = House::with(|config| config.limits = None);
    let store = &house.service().house.app.store;
    let severities = ["critical", "high", "medium", "low", "informational"];
    let findings: Vec<Value> = (0..130)
        .map(|number| {
            json!({
                "title": format!("Größe {number} risk"), "severity": severities[number % 5],
                "description": if number % 3 == 0 { "Backup plan" } else { "Test data" },
                "due_on": format!("2026-11-{:02}", 1 + number % 30), "owner": "Zoë",
            })
        })
        .collect();
    for tenant in ["ours", "theirs"] {
        let file = json!({
            "programmes": [{ "ref": "p", "name": "Plan für ICT", "framework": "dora", "description": "test risk" }],
            "test_cases": [{ "programme_id": "p", "title": "Backup test", "type": "tlpt", "due_on": "2026-11-01" }],
            "findings": findings,
            "providers": [{ "name": "Data Centre AG", "sector": "backup" }],
            "cra_reports": [{
                "kind": "severe_incident", "title": "Risk of data loss", "product_name": "Größe",
                "became_aware_at": "2026-11-15T07:00:00Z",
            }],
        });
        let import = read_json(file.to_string().as_bytes()).unwrap();
        store.tenant(&store.tenant_id(tenant).unwrap()).import(import, false).unwrap();
    }
    // Each route is asked once, so that the overview of them stands still.
    for route in ROUTES.iter().filter(|route| route.verb == Verb::Get) {
        house.get(&route.path.replace("{id}", "x").replace("{webhook}", "x")).key(&house.ours.reader).send();
    }
    house
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn get(house: &House, path: &str, asked: &[(String, String)]) -> Value {
    let pairs: Vec<String> = asked.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    house.get(&format!("{path}?{}", pairs.join("&"))).key(&house.ours.reader).expect(200).json()
}

/// All items of a list, page by page.
fn whole(house: &House, path: &str, asked: &[(String, String)]) -> Vec<Value> {
    let mut all = Vec::new();
    loop {
        let mut page = asked.to_vec();
        page.extend([("limit".into(), "97".into()), ("offset".into(), all.len().to_string())]);
        let body = get(house, path, &page);
        let data = body["data"].as_array().unwrap();
        if data.is_empty() {
            assert_eq!(body["meta"]["total"], json!(all.len()), "{path}");
            return all;
        }
        all.extend(data.iter().cloned());
    }
}

/// Folding once more, by hand, as far as the words of this test need it.
fn folded(text: &str) -> String {
    let mut folded = text.to_lowercase();
    for (from, to) in [("ß", "ss"), ("ö", "o"), ("ü", "u"), ("ä", "a"), ("ë", "e"), ("é", "e"), ("è", "e")]
    {
        folded = folded.replace(from, to);
    }
    folded
}

/// The text in which `search` looks.
fn text(item: &Value, path: &str) -> String {
    let joined = |names: &[&str]| {
        names.iter().map(|name| item[name].as_str().unwrap_or_default()).collect::<Vec<_>>().join(" ")
    };
    match path.trim_start_matches("/api/v2/") {
        "compliance-timeline" => {
            joined(&["title", "description", "authority", "source", "framework", "category", "id"])
        }
        "alerts" => joined(&["id", "title", "message"]),
        "performance/overview" => joined(&["route"]),
        "compliance-scores" => joined(&["framework", "name"]),
        slug => searched(item, slug),
    }
}

/// The filters once more, read off the JSON.
fn fits(item: &Value, asked: &[(String, String)], path: &str) -> bool {
    asked.iter().all(|(name, value)| match (name.as_str(), path.trim_start_matches("/api/v2/")) {
        ("limit" | "offset", _) | ("status", "alerts") => true,
        ("level", "vendor-scorecard") => item["criticality"] == *value,
        ("level", "incident-drills" | "compliance-training") => item["difficulty"] == *value,
        ("level", "gap-analysis") => item["priority"] == *value,
        ("level", "alerts") => item["severity"] == *value,
        ("min_score", _) => item["overall_score"].as_u64().unwrap() >= value.parse().unwrap(),
        ("search", _) => {
            let text = folded(&text(item, path));
            folded(value).split_whitespace().all(|word| text.contains(word))
        }
        (field, _) => item[field] == *value,
    })
}

/// What tells an item from its neighbours; the figures of a route change with every request.
fn names(items: &[Value], path: &str) -> Vec<Value> {
    let name = |item: &Value| if path.ends_with("/overview") { item["route"].clone() } else { item.clone() };
    items.iter().map(name).collect()
}

/// A list, and for each of its parameters a value or none.
fn questions() -> impl Strategy<Value = (usize, Vec<(String, String)>)> {
    let picks = proptest::collection::vec((any::<bool>(), any::<u16>()), 8);
    (0..lists().len(), picks).prop_map(|(which, picks)| {
        let mut asked = Vec::new();
        for (param, (given, pick)) in lists()[which].asks.iter().zip(picks) {
            let pick = usize::from(pick);
            let value = match param.kind {
                ParamKind::Limit => (1 + pick % 520).to_string(),
                ParamKind::Offset => (pick % 150).to_string(),
                ParamKind::Choice(of) => of[pick % of.len()].to_owned(),
                ParamKind::Integer { .. } => (60 + pick % 40).to_string(),
                ParamKind::Day => format!("2026-11-{:02}", 1 + pick % 30),
                // The words of the milestones' own set; others are a 422.
                ParamKind::Text { .. } if param.name == "category" => "deadline".into(),
                ParamKind::Text { .. } | ParamKind::Needed { .. } => WORDS[pick % WORDS.len()].to_owned(),
            };
            if given || matches!(param.kind, ParamKind::Needed { .. }) {
                asked.push((param.name.to_owned(), value));
            }
        }
        (which, asked)
    })
}

fn slice(items: &[Value], asked: &[(String, String)]) -> (Vec<Value>, usize, usize) {
    let number = |name: &str, default: usize| {
        asked.iter().find(|(known, _)| known == name).map_or(default, |(_, value)| value.parse().unwrap())
    };
    let (limit, offset) = (number("limit", 50).min(500), number("offset", 0));
    (items.iter().skip(offset).take(limit).cloned().collect(), limit, offset)
}

#[test]
fn for_any_filter_and_page_data_is_the_slice_of_the_filtered_whole() {
    let house = house();
    let mut wholes: HashMap<&str, Vec<Value>> = HashMap::new();
    for route in lists().into_iter().filter(|route| !route.path.ends_with("/search")) {
        wholes.insert(route.path, whole(&house, route.path, &[]));
        assert!(!wholes[route.path].is_empty(), "{}", route.path);
    }
    let documents = documents(&house);
    let mut runner =
        TestRunner::new(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() });
    let outcome = runner.run(&questions(), |(which, asked)| {
        let path = lists()[which].path;
        let matching: Vec<Value> = match wholes.get(path) {
            Some(all) => all.iter().filter(|item| fits(item, &asked, path)).cloned().collect(),
            None => {
                let words: Vec<(String, String)> =
                    asked.iter().filter(|(name, _)| !matches!(name.as_str(), "limit" | "offset")).cloned().collect();
                let found = whole(&house, path, &words);
                let ids: BTreeSet<String> = found.iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect();
                prop_assert_eq!(ids.len(), found.len(), "nothing comes twice");
                prop_assert_eq!(ids, found_by_hand(&documents, &words), "{:?}", words);
                found
            }
        };
        let (expected, limit, offset) = slice(&matching, &asked);
        let body = get(&house, path, &asked);
        let data = body["data"].as_array().unwrap();
        prop_assert_eq!(names(data, path), names(&expected, path), "{} {:?}", path, asked);
        let meta = json!({
            "count": expected.len(), "total": matching.len(), "limit": limit, "offset": offset, "version": "2.0",
        });
        prop_assert_eq!(&body["meta"], &meta, "{} {:?}", path, asked);
        Ok(())
    });
    outcome.unwrap();
}

/// Every object that search may find: its id, and its words.
fn documents(house: &House) -> Vec<(String, Vec<String>)> {
    let mut documents = Vec::new();
    let mut add = |item: &Value, text: String| {
        let folded = folded(&text);
        let words = folded.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        documents.push((item["id"].as_str().unwrap().to_owned(), words.map(str::to_owned).collect()));
    };
    for slug in [
        "risk-register",
        "vendor-scorecard",
        "incident-drills",
        "gap-analysis",
        "compliance-training",
        "vendor-risk-assessment",
        "dashboard-widgets",
    ] {
        for item in whole(house, &format!("/api/v2/{slug}"), &[]) {
            add(&item, searched(&item, slug));
        }
    }
    for slug in ["measures", "evidence", "radar"] {
        for item in house.get(&format!("/api/{slug}")).expect(200).json()["data"].as_array().unwrap() {
            add(item, searched(item, slug));
        }
    }
    let own: &[(&str, &[&str])] = &[
        ("/api/v2/compliance-timeline", &["id", "title", "description", "authority", "source"]),
        ("/api/v1/programmes", &["name", "description", "owner"]),
        ("/api/v1/test-cases", &["title", "description", "result_summary", "assignee"]),
        ("/api/v1/findings", &["title", "description", "remediation", "owner"]),
        ("/api/v1/concentration-risk/providers", &["name", "parent", "sector", "country", "region", "lei"]),
        (
            "/api/v1/cra/reports",
            &["title", "summary", "product_name", "product_version", "cve_id", "root_cause"],
        ),
    ];
    for (path, fields) in own {
        for item in whole(house, path, &[]) {
            let texts = fields.iter().map(|field| item[field].as_str().unwrap_or_default());
            add(&item, texts.collect::<Vec<_>>().join(" "));
        }
    }
    documents
}

/// The documents that have a word beginning with each that is asked for.
fn found_by_hand(documents: &[(String, Vec<String>)], asked: &[(String, String)]) -> BTreeSet<String> {
    let asked: Vec<String> = asked.iter().map(|(_, value)| folded(value)).collect();
    let asked: Vec<&str> = asked
        .iter()
        .flat_map(|text| text.split(|letter: char| !letter.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .collect();
    let has = |words: &[String]| asked.iter().all(|asked| words.iter().any(|word| word.starts_with(asked)));
    documents.iter().filter(|(_, words)| has(words)).map(|(id, _)| id.clone()).collect()
}

/// Every list takes the generic parameters that its items have a meaning for, and says which they are.
#[test]
fn generic_parameters_are_taken_or_refused_with_what_the_list_takes() {
    let house = house();
    for route in lists() {
        let q = if route.path.ends_with("/search") { "&q=risk" } else { "" };
        for fine in ["limit=1", "limit=501", "offset=3", "search=risk", "limit=99999999999999999999"] {
            house.get(&format!("{}?{fine}{q}", route.path)).key(&house.ours.reader).expect(200);
        }
        for wrong in
            ["limit=0", "limit=-1", "limit=x", "limit=", "offset=-1", "offset=1.5", "limit=1&limit=1"]
        {
            let answer = house.get(&format!("{}?{wrong}{q}", route.path)).key(&house.ours.reader).expect(422);
            let name = wrong.split('=').next().unwrap();
            assert!(answer.json()["fields"][name].is_string(), "{} {wrong}", route.path);
        }
        for name in ["level", "status"] {
            let answer = house
                .get(&format!("{}?{name}=no-such-word{q}", route.path))
                .key(&house.ours.reader)
                .expect(422);
            let reason = answer.json()["fields"][name].as_str().unwrap().to_owned();
            let taken = route.asks.iter().any(|param| param.name == name);
            assert!(
                reason.contains(if taken { "must be one of" } else { "it takes: " }),
                "{} {reason}",
                route.path
            );
        }
    }
    let takes = |path: &str, name: &str| {
        lists().iter().find(|route| route.path == path).unwrap().asks.iter().any(|param| param.name == name)
    };
    for (path, level, status) in [
        ("/api/v2/risk-register", true, true),
        ("/api/v2/vendor-scorecard", true, false),
        ("/api/v2/incident-drills", true, false),
        ("/api/v2/gap-analysis", true, true),
        ("/api/v2/compliance-timeline", false, true),
        ("/api/v2/compliance-training", true, false),
        ("/api/v2/vendor-risk-assessment", false, false),
        ("/api/v2/dashboard-widgets", false, false),
        ("/api/v2/alerts", true, true),
        ("/api/v2/performance/overview", false, false),
        ("/api/v2/compliance-scores", false, true),
        ("/api/v2/search", false, false),
    ] {
        assert_eq!((takes(path, "level"), takes(path, "status")), (level, status), "{path}");
    }
}

#[test]
fn the_overview_counts_what_was_asked_and_how_long_it_took() {
    let house = House::with(|config| config.limits = None);
    for _ in 0..5 {
        house.get("/api/ping").expect(200);
    }
    house.get("/api/v1/findings/unused").key(&house.ours.reader).expect(404);
    let body = get(&house, "/api/v2/performance/overview", &[]);
    let data = body["data"].as_array().unwrap();
    let of = |route: &str| data.iter().find(|row| row["route"] == route).unwrap();
    let fields: Vec<&String> = of("GET /api/ping").as_object().unwrap().keys().collect();
    assert_eq!(fields, ["route", "requests", "error_rate_pct", "p50_ms", "p95_ms", "p99_ms"]);
    assert_eq!(of("GET /api/ping")["requests"], 5);
    assert_eq!(of("GET /api/v1/findings/{id}")["error_rate_pct"], 0.0, "an error is the server's fault");
    assert!(!data.iter().any(|row| row["route"] == "GET /api/measures"), "nobody asked it");
    for row in data {
        let [p50, p95, p99] = ["p50_ms", "p95_ms", "p99_ms"].map(|name| row[name].as_f64().unwrap());
        assert!(p50 <= p95 && p95 <= p99, "{row}");
    }
}
