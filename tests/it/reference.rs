//! The reference data as a reader meets it.

use crate::house::House;
use holdfast::reference::Reference;
use holdfast::reference::dataset::{self, Dataset};
use holdfast::reference::source::Catalogue;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::HashMap;

fn list(house: &House, path: &str) -> Vec<Value> {
    let body = house.get(path).expect(200).json();
    let data = body["data"].as_array().unwrap().clone();
    assert_eq!(body["meta"]["count"], json!(data.len()), "{path}");
    assert!(body["meta"]["updated_on"].as_str().unwrap().starts_with("2026-"), "{path}");
    assert_eq!(body["meta"]["version"], json!(env!("CARGO_PKG_VERSION")), "{path}");
    data
}

#[test]
fn every_dataset_has_its_records() {
    let house = House::new();
    for (path, least) in [
        ("/api/risk-register", 64),
        ("/api/vendor-scorecard", 22),
        ("/api/incident-drills", 14),
        ("/api/gap-analysis", 200),
        ("/api/measures", 147),
        ("/api/evidence", 94),
        ("/api/radar", 64),
    ] {
        assert!(list(&house, path).len() >= least, "{path}");
    }
    let catalogue = Reference::load().unwrap().catalogue;
    assert_eq!(catalogue.milestones.data.len(), 103);
    assert_eq!(catalogue.trainings.data.len(), 16);
    assert_eq!(catalogue.questions.data.len(), 54);
    let count = |framework: &str| {
        catalogue.requirements.data.iter().filter(|each| each.framework.name() == framework).count()
    };
    assert_eq!((count("marisk"), count("iso-27001"), count("nis2")), (26, 23 + 93, 18));
    assert!(count("dora") >= 50 && count("cra") >= 22);
}

#[test]
fn files_that_do_not_fit_are_refused_with_every_fault() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/data/reference");
    let mut files = HashMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        files.insert(
            path.file_name().unwrap().to_str().unwrap().to_owned(),
            std::fs::read_to_string(&path).unwrap(),
        );
    }
    let read =
        |files: &HashMap<String, String>| Catalogue::read_checked(|name| files.get(name).map(String::as_str));
    read(&files).unwrap();
    let mut faults_with = |file: &str, from: &str, to: &str| {
        let good = files[file].clone();
        assert!(good.contains(from), "{file} has no {from}");
        files.insert(file.into(), good.replacen(from, to, 1));
        let faults = read(&files).expect_err(&format!("{file}: {from} -> {to} was accepted")).join("\n");
        files.insert(file.into(), good);
        faults
    };
    assert!(
        faults_with("evidence.json", "\"DORA-05-01\"", "\"DORA-99-01\"").contains("no measure `DORA-99-01`")
    );
    assert!(faults_with("measures.json", "\"DORA-05-02\"", "\"DORA-05-01\"").contains("used twice"));
    assert!(faults_with("gap-analysis.json", "\"DORA-05-01\"", "\"DORA-98-01\"").contains("DORA-98-01"));
    assert!(faults_with("incident-drills.json", "\"Art. ", "\"Art. 99").contains("no article"));
    assert!(
        faults_with("timeline.json", "\"date\": \"2022-12-14\"", "\"date\": \"2022-02-30\"")
            .contains("is no date")
    );
    assert!(
        faults_with("radar.json", "\"relevance\": \"high\"", "\"relevance\": \"vast\"")
            .contains("unknown variant")
    );
    assert!(
        faults_with("risk-register.json", "\"likelihood\": 4", "\"likelihood\": 6").contains("off the scale")
    );
    assert!(
        faults_with("risk-register.json", "\"category\": \"CYB\"", "\"category\": \"XXX\"")
            .contains("no category")
    );
    assert!(
        faults_with("vendor-scorecard.json", "\"weight_pct\": 10", "\"weight_pct\": 11")
            .contains("weigh 100")
    );
    assert!(faults_with("measures.json", "\"title\"", "\"headline\"").contains("headline"));
}

#[test]
fn links_lead_somewhere_in_both_directions() {
    let house = House::new();
    let measures = list(&house, "/api/measures");
    let evidence = list(&house, "/api/evidence");
    for measure in &measures {
        for id in measure["evidence_ids"].as_array().unwrap() {
            let shown = evidence.iter().find(|each| each["id"] == *id).unwrap();
            assert!(shown["measure_ids"].as_array().unwrap().contains(&measure["id"]), "{id}");
        }
        for framework in ["marisk", "iso_27001", "nis2"] {
            assert!(measure["mappings"][framework].is_array(), "{}", measure["id"]);
        }
    }
    for gap in list(&house, "/api/gap-analysis") {
        for id in gap["measure_ids"].as_array().unwrap() {
            assert!(measures.iter().any(|measure| measure["id"] == *id), "{} names {id}", gap["id"]);
        }
        assert_ne!(gap["framework"], "cra", "the public gap analysis has four frameworks");
    }
}

#[test]
fn risks_and_vendors_are_scored_as_the_contract_says() {
    let house = House::new();
    let body = house.get("/api/risk-register").expect(200).json();
    for risk in body["data"].as_array().unwrap() {
        let score = risk["likelihood"].as_u64().unwrap() * risk["impact"].as_u64().unwrap();
        assert_eq!(risk["score"], json!(score));
        let level = if score >= 16 {
            "critical"
        } else if score >= 10 {
            "high"
        } else if score >= 5 {
            "medium"
        } else {
            "low"
        };
        assert_eq!(risk["level"], json!(level), "{}", risk["id"]);
    }
    assert_eq!(body["categories"].as_array().unwrap().len(), 12);
    let cells: u64 = body["matrix"]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| row["cells"].as_array().unwrap())
        .map(|cell| cell["risks"].as_u64().unwrap())
        .sum();
    assert_eq!(cells, 64, "every risk stands in one cell");
    let body = house.get("/api/vendor-scorecard").expect(200).json();
    assert_eq!(body["dimensions"].as_array().unwrap().len(), 5);
    for vendor in body["data"].as_array().unwrap() {
        let score = |name: &str| vendor["scores"][name].as_f64().unwrap();
        let mean = 0.25 * score("security")
            + 0.25 * score("resilience")
            + 0.20 * score("compliance")
            + 0.10 * score("financial")
            + 0.20 * score("exit");
        let overall = vendor["overall_score"].as_f64().unwrap();
        assert!((overall - mean).abs() <= 0.5 + 1e-9, "{}: {overall} for {mean}", vendor["id"]);
    }
}

#[test]
fn what_is_not_confirmed_says_so() {
    let catalogue = Reference::load().unwrap().catalogue;
    let unconfirmed = catalogue.milestones.data.iter().filter(|each| !each.confirmed).collect::<Vec<_>>();
    assert!(!unconfirmed.is_empty());
    for milestone in unconfirmed {
        assert!(milestone.description.starts_with("Unconfirmed:"), "{}", milestone.id);
    }
    for signal in catalogue.signals.data.iter().filter(|each| !each.confirmed) {
        assert!(signal.summary.starts_with("Unconfirmed:"), "{}", signal.id);
    }
}

#[test]
fn no_note_to_ourselves_is_left_in_the_data() {
    let house = House::new();
    for path in [
        "/api/risk-register",
        "/api/vendor-scorecard",
        "/api/incident-drills",
        "/api/gap-analysis",
        "/api/measures",
        "/api/evidence",
        "/api/radar",
    ] {
        let text = String::from_utf8(house.get(path).expect(200).body).unwrap();
        for mark in ["[S]", "[K]", "TODO", "seed ", "  ", "**", "lorem"] {
            assert!(!text.contains(mark), "{path} holds {mark:?}");
        }
    }
}

#[test]
fn compliance_status_adds_up() {
    let house = House::with(|config| config.limits = None);
    let get = |path: &str| house.get(path).key(&house.ours.reader).expect(200).json();
    let all = get("/api/v1/compliance-status")["data"].clone();
    assert!(all["basis"].as_str().unwrap().len() > 20);
    let names: Vec<&str> = all["frameworks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| each["framework"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["dora", "marisk", "iso-27001", "cra"]);
    let (mut points, mut total) = (0.0, 0.0);
    for summary in all["frameworks"].as_array().unwrap() {
        let number = |name: &str| summary[name].as_f64().unwrap();
        assert_eq!(
            number("requirements"),
            number("implemented") + number("partial") + number("planned") + number("missing")
        );
        points += number("implemented") + number("partial") / 2.0;
        total += number("requirements");
        let detail = get(summary["href"].as_str().unwrap())["data"].clone();
        assert_eq!(detail["score_pct"], summary["score_pct"]);
        let open = number("requirements") - number("implemented");
        assert_eq!(detail["gaps"].as_array().unwrap().len() as f64, open);
        let areas: f64 = detail["areas"]
            .as_array()
            .unwrap()
            .iter()
            .map(|area| area["requirements"].as_f64().unwrap())
            .sum();
        assert_eq!(areas, number("requirements"));
        assert!(detail["gaps"].as_array().unwrap().iter().all(|gap| gap["article"].is_string()));
    }
    let expected = (points / total * 1000.0).round() / 10.0;
    assert!((all["score_pct"].as_f64().unwrap() - expected).abs() < 0.051);
}

#[test]
fn measures_are_listed_shown_and_exported() {
    let house = House::with(|config| config.limits = None);
    let get = |path: &str| house.get(path).key(&house.ours.reader);
    let page = get("/api/v1/dora/measures").expect(200).json();
    assert_eq!(
        page["meta"],
        json!({ "version": "2026-11-01", "count": 50, "total": 168, "limit": 50, "offset": 0 })
    );
    let one = get("/api/v1/dora/measures/DORA-05-02").expect(200).json();
    assert_eq!(one["data"]["id"], "DORA-05-02");
    for missing in ["DORA-99-99", "dora-05-02", "%20", "%FF", "x%2Fy"] {
        assert_eq!(get(&format!("/api/v1/dora/measures/{missing}")).expect(404).error(), "measure not found");
    }
    let whole = get("/api/v1/exports/measures/json").expect(200).json();
    assert_eq!(whole["data"].as_array().unwrap().len(), 168);
    let csv = get("/api/v1/exports/measures/csv").expect(200);
    assert_eq!(csv.header("content-disposition"), Some("attachment; filename=\"measures-2026-11-14.csv\""));
    let text = String::from_utf8(csv.body).unwrap();
    assert!(text.starts_with("id,article,pillar,") && text.ends_with("\r\n"));
    let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 168);
    for (row, record) in rows.iter().zip(whole["data"].as_array().unwrap()) {
        assert_eq!(&row[0], record["id"].as_str().unwrap());
        assert_eq!(&row[5], record["description"].as_str().unwrap());
    }
}

/// Questions that a v2 list may be asked.
fn questions() -> impl Strategy<Value = (usize, Vec<(String, String)>)> {
    (0..dataset::ALL.len(), any::<u64>(), 0..600u64, 0..80u64, any::<u8>()).prop_map(
        |(which, seed, limit, offset, mask)| {
            let dataset: &Dataset = dataset::ALL[which];
            let mut asked = Vec::new();
            if mask & 1 == 1 {
                asked.push(("limit".to_owned(), (limit + 1).to_string()));
            }
            if mask & 2 == 2 {
                asked.push(("offset".to_owned(), offset.to_string()));
            }
            for (number, param) in dataset.params.iter().enumerate() {
                use holdfast::domain::query::ParamKind;
                let chosen = (seed >> (number * 4)) as usize % 16;
                let value = match param.kind {
                    ParamKind::Choice(of) if chosen < of.len() => of[chosen].to_owned(),
                    ParamKind::Integer { .. } if chosen < 8 => (60 + chosen * 4).to_string(),
                    ParamKind::Text { .. } if chosen < 4 => {
                        ["ict", "Risk", "plan test", "ü"][chosen].to_owned()
                    }
                    ParamKind::Choice(_)
                    | ParamKind::Integer { .. }
                    | ParamKind::Text { .. }
                    | ParamKind::Needed { .. }
                    | ParamKind::Limit
                    | ParamKind::Offset
                    | ParamKind::Day => continue,
                };
                asked.push((param.name.to_owned(), value));
            }
            (which, asked)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// For any filter and page, data is the slice of the filtered whole, and total its length.
    #[test]
    fn a_page_is_the_slice_of_the_filtered_whole((which, asked) in questions()) {
        let reference = Reference::load().unwrap();
        let table = reference.table(dataset::ALL[which]).unwrap();
        let raw: Vec<String> = asked.iter().map(|(name, value)| format!("{name}={}", value.replace(' ', "+").replace('ü', "%C3%BC"))).collect();
        let query = holdfast::domain::query::Query::check(&raw.join("&"), table.dataset.params).unwrap();
        let selection = table.select(&query);
        let mut page = b"[".to_vec();
        selection.write_records(&mut page);
        page.push(b']');
        let page: Vec<Value> = serde_json::from_slice(&page).unwrap();
        let whole: Value = serde_json::from_slice(&table.payload.identity).unwrap();
        let matching: Vec<&Value> =
            whole["data"].as_array().unwrap().iter().filter(|record| fits(record, &asked, table.dataset.slug)).collect();
        let number = |name: &str, default: usize| {
            asked.iter().find(|(known, _)| known == name).map_or(default, |(_, value)| value.parse().unwrap())
        };
        let (limit, offset) = (number("limit", 50).min(500), number("offset", 0));
        let expected: Vec<&Value> = matching.iter().skip(offset).take(limit).copied().collect();
        prop_assert_eq!(selection.total, matching.len());
        prop_assert_eq!(page.iter().collect::<Vec<_>>(), expected);
    }
}

/// The filters once more, read off the JSON.
fn fits(record: &Value, asked: &[(String, String)], slug: &str) -> bool {
    asked.iter().all(|(name, value)| match (name.as_str(), slug) {
        ("limit" | "offset", _) => true,
        ("level", "vendor-scorecard") => record["criticality"] == *value,
        ("level", "incident-drills" | "compliance-training") => record["difficulty"] == *value,
        ("level", "gap-analysis") => record["priority"] == *value,
        ("min_score", _) => record["overall_score"].as_u64().unwrap() >= value.parse().unwrap(),
        ("search", _) => {
            // Search looks into fewer fields than the record has, so only the words it must find are checked here.
            let text = searched(record, slug).to_lowercase().replace('ü', "u");
            value.to_lowercase().replace('ü', "u").split_whitespace().all(|word| text.contains(word))
        }
        (field, _) => record[field] == *value,
    })
}

pub fn searched(record: &Value, slug: &str) -> String {
    let fields: &[&str] = match slug {
        "risk-register" => &["id", "title", "description", "cause", "consequence", "owner_role"],
        "vendor-scorecard" => &["id", "name", "archetype", "service", "remark"],
        "incident-drills" => &["id", "title", "background", "format", "tasks"],
        "gap-analysis" => &["id", "title", "requirement", "article", "area", "gap"],
        "measures" => &["id", "title", "description", "target", "article"],
        "evidence" | "dashboard-widgets" => &["id", "title", "description"],
        "radar" => &["id", "title", "summary", "action", "authority"],
        "compliance-training" => &["id", "title", "summary", "audience", "content"],
        "vendor-risk-assessment" => &["id", "question", "guidance", "expected_proof", "domain"],
        other => panic!("{other}"),
    };
    let mut text = String::new();
    for field in fields {
        match &record[field] {
            Value::String(value) => text.push_str(value),
            Value::Array(values) => {
                for value in values {
                    text.push_str(value["text"].as_str().or(value.as_str()).unwrap_or_default());
                    text.push(' ');
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
        }
        text.push(' ');
    }
    text
}
