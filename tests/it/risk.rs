//! Concentration risk through the front door: register, analysis, breaches, thresholds, what-if.

use crate::client::Answer;
use crate::house::House;
use serde_json::{Value, json};

const BASE: &str = "/api/v1/concentration-risk";

fn unlimited() -> House {
    House::with(|config| config.limits = None)
}

fn post(house: &House, key: &str, place: &str, body: &Value) -> Answer {
    house.call("POST", &format!("{BASE}/{place}")).key(key).json(body).send()
}

fn get(house: &House, key: &str, place: &str) -> Value {
    house.get(&format!("{BASE}/{place}")).key(key).expect(200).json()
}

/// Enters an object and gives its id.
fn enter(house: &House, key: &str, place: &str, body: Value) -> String {
    let answer = post(house, key, place, &body);
    assert_eq!(answer.status, 201, "{}", String::from_utf8_lossy(&answer.body));
    answer.json()["data"]["id"].as_str().unwrap().to_owned()
}

fn analysed(house: &House, body: &Value) -> Value {
    let answer = post(house, &house.ours.writer, "analyze", body);
    assert_eq!(answer.status, 201, "{}", String::from_utf8_lossy(&answer.body));
    answer.json()["data"].clone()
}

/// Two providers of one group with 6 of 10 by count, and two others with 3 and 1; gives the ids of the arrangements.
fn fill(house: &House, key: &str) -> Vec<String> {
    let provider = |body: Value| enter(house, key, "providers", body);
    let nimbus =
        provider(json!({ "name": "Nimbus", "parent": "Cumulus", "sector": "cloud", "country": "IE" }));
    let cumulus = provider(json!({ "name": "Cumulus", "sector": "cloud", "lei": "529900T8BM49AURSDO55" }));
    let quill = provider(json!({ "name": "Quill", "sector": "data" }));
    let relay = provider(json!({ "name": "Relay" }));
    let plan = [(&nimbus, 4), (&cumulus, 2), (&quill, 3), (&relay, 1)];
    let mut ids = Vec::new();
    for (provider, count) in plan {
        for number in 0..count {
            ids.push(enter(
                house,
                key,
                "arrangements",
                json!({
                    "provider_id": provider, "service": format!("service {number}"), "criticality": "standard",
                    "region": "eu-central", "technology": if number == 0 { Value::Null } else { json!("linux") },
                    "exit_plan": number % 2, "annual_cost_eur": 1000,
                }),
            ));
        }
    }
    ids
}

#[test]
fn the_register_is_kept_by_a_script() {
    let house = unlimited();
    let key = &house.ours.all;
    let answer = post(&house, key, "providers", &json!({ "name": "Nimbus GmbH", "sector": "cloud" }));
    let provider = answer.json()["data"].clone();
    let id = provider["id"].as_str().unwrap();
    assert!(id.starts_with("prv_") && id.len() == 30);
    assert_eq!(answer.header("location"), Some(format!("{BASE}/providers/{id}").as_str()));
    assert_eq!(provider["created_at"], "2026-11-15T08:00:00Z");
    assert_eq!(provider["lei"], Value::Null);
    let body = json!({
        "provider_id": id, "service": "Ledger hosting", "criticality": "critical", "country": "DE",
        "annual_cost_eur": 12.5, "substitutability": "difficult", "exit_plan": "1", "function": null,
    });
    let answer = post(&house, key, "arrangements", &body);
    assert_eq!(answer.status, 201);
    let arrangement = answer.json()["data"].clone();
    let place = format!("arrangements/{}", arrangement["id"].as_str().unwrap());
    assert_eq!(answer.header("location"), Some(format!("{BASE}/{place}").as_str()));
    assert_eq!((&arrangement["exit_plan"], &arrangement["annual_cost_eur"]), (&json!(true), &json!(12.5)));
    assert_eq!(get(&house, key, &place)["data"], arrangement);
    assert_eq!(get(&house, key, &format!("providers/{id}"))["data"], provider);

    // What a record shows may come back in a write.
    assert_eq!(post(&house, key, "arrangements", &arrangement).status, 201);
    for (list, total) in [
        ("arrangements", 2),
        ("arrangements?search=nimbus+LEDGER", 2),
        ("arrangements?search=quill", 0),
        ("arrangements?criticality=standard", 0),
        ("arrangements?limit=1&offset=1", 2),
        ("providers?search=gmbh", 1),
    ] {
        assert_eq!(get(&house, key, list)["meta"]["total"], total, "{list}");
    }
    assert_eq!(get(&house, key, &format!("arrangements?provider_id={id}"))["meta"]["count"], 2);

    let delete = |place: &str| house.call("DELETE", &format!("{BASE}/{place}")).key(key).send();
    let refused = delete(&format!("providers/{id}"));
    assert_eq!(refused.status, 422);
    assert!(refused.error().contains("2 arrangements"), "{}", refused.error());
    for item in get(&house, key, "arrangements")["data"].as_array().unwrap() {
        assert_eq!(delete(&format!("arrangements/{}", item["id"].as_str().unwrap())).status, 204);
    }
    assert_eq!(delete(&format!("providers/{id}")).status, 204);
    assert_eq!(delete(&format!("providers/{id}")).status, 404);
    assert_eq!(get(&house, key, "providers")["meta"]["total"], 0);
}

#[test]
fn every_fault_of_an_entry_is_named_and_nothing_is_entered() {
    let house = unlimited();
    let key = &house.ours.all;
    let faults = |place: &str, body: Value| -> Vec<String> {
        let answer = post(&house, key, place, &body);
        assert_eq!(answer.status, 422, "{body}");
        answer.json()["fields"].as_object().unwrap().keys().cloned().collect()
    };
    let provider =
        json!({ "name": " ", "lei": "529900t8bm49aursdo55", "country": "DEU", "sector": 3, "size": 1 });
    assert_eq!(faults("providers", provider), ["name", "lei", "sector", "country", "size"]);
    let arrangement = json!({
        "criticality": "high", "annual_cost_eur": -1, "substitutability": "hard", "exit_plan": "yes",
        "country": "de", "region": "x".repeat(256),
    });
    let expected = [
        "provider_id",
        "service",
        "criticality",
        "country",
        "region",
        "annual_cost_eur",
        "substitutability",
        "exit_plan",
    ];
    assert_eq!(faults("arrangements", arrangement), expected);
    for cost in [json!(1e13), json!("5"), json!(true)] {
        let body = json!({ "provider_id": "prv_x", "service": "s", "criticality": "standard", "annual_cost_eur": cost });
        assert_eq!(faults("arrangements", body), ["annual_cost_eur"]);
    }
    let unused = json!({ "provider_id": "prv_x", "service": "s", "criticality": "standard" });
    assert_eq!(faults("arrangements", unused), ["provider_id"]);
    for list in ["providers", "arrangements"] {
        assert_eq!(get(&house, key, list)["meta"]["total"], 0);
    }
}

#[test]
fn an_analysis_is_stored_and_is_the_latest() {
    let house = unlimited();
    let key = &house.ours.all;
    house.get(&format!("{BASE}/latest")).key(key).expect(404);
    let empty = house.call("POST", &format!("{BASE}/analyze")).key(key).expect(422);
    assert!(
        empty.error().contains("concentration-risk/providers") && empty.error().contains("holdfast import")
    );
    fill(&house, key);
    let answer = house.call("POST", &format!("{BASE}/analyze")).key(key).expect(201);
    assert_eq!(answer.header("location"), Some("/api/v1/concentration-risk/latest"));
    let first = answer.json()["data"].clone();
    assert!(first["id"].as_str().unwrap().starts_with("anl_"));
    assert_eq!((&first["basis"], &first["arrangement_count"]), (&json!("criticality"), &json!(10)));
    assert_eq!(
        (&first["analysed_at"], &first["provider_count"]),
        (&json!("2026-11-15T08:00:00Z"), &json!(4))
    );
    assert_eq!(first["next_review_on"], "2027-11-15");
    assert_eq!(
        first["dimensions"]["provider"],
        json!({
            "threshold_pct": 30, "hhi": 4600, "top_share_pct": 60.0, "breached": true, "unknown_pct": 0.0,
            "shares": [
                { "name": "Cumulus", "share_pct": 60.0, "arrangements": 6, "critical_arrangements": 0 },
                { "name": "Quill", "share_pct": 30.0, "arrangements": 3, "critical_arrangements": 0 },
                { "name": "Relay", "share_pct": 10.0, "arrangements": 1, "critical_arrangements": 0 },
            ],
        })
    );
    assert_eq!(get(&house, key, "latest")["data"], first);
    for round in 0..10 {
        let basis = ["spend", "count", "criticality"][round % 3];
        let next = analysed(&house, &json!({ "basis": basis }));
        assert_eq!(get(&house, key, "latest")["data"], next, "the last one made, within one millisecond");
    }
    assert_eq!(post(&house, key, "analyze", &json!({ "basis": "turnover" })).status, 422);
    house.call("POST", &format!("{BASE}/analyze")).key(&house.ours.reader).expect(403);
}

#[test]
fn spend_without_costs_is_refused_and_says_so() {
    let house = unlimited();
    let key = &house.ours.all;
    let provider = enter(&house, key, "providers", json!({ "name": "A" }));
    let body = json!({ "provider_id": provider, "service": "s", "criticality": "critical" });
    enter(&house, key, "arrangements", body.clone());
    let refused = post(&house, key, "analyze", &json!({ "basis": "spend" }));
    assert_eq!(refused.status, 422);
    assert!(refused.error().contains("annual_cost_eur"), "{}", refused.error());
    let mut paid = body;
    paid["annual_cost_eur"] = json!(3);
    enter(&house, key, "arrangements", paid);
    let analysis = analysed(&house, &json!({ "basis": "spend" }));
    assert_eq!(analysis["dimensions"]["provider"]["unknown_pct"], 50.0);
    assert_eq!(analysis["dimensions"]["sector"]["shares"][0]["name"], "unknown");
    assert_eq!(analysis["single_points_of_failure"].as_array().unwrap().len(), 2);
}

#[test]
fn breaches_follow_the_thresholds_of_now() {
    let house = unlimited();
    let key = &house.ours.all;
    let breaches = |query: &str| get(&house, key, &format!("breaches{query}"));
    let before = breaches("");
    assert_eq!((&before["data"], &before["meta"]["enabled"]), (&json!([]), &json!(true)));
    fill(&house, key);
    let analysis = analysed(&house, &json!({}));
    let found = breaches("");
    let shown: Vec<(&str, &str, f64)> = found["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|breach| {
            let text = |name: &str| breach[name].as_str().unwrap();
            (text("dimension"), text("name"), breach["excess_pct"].as_f64().unwrap())
        })
        .collect();
    let expected = [
        ("regional", "eu-central", 50.0),
        ("provider", "Cumulus", 30.0),
        ("sector", "cloud", 20.0),
        ("technology", "linux", 20.0),
    ];
    assert_eq!(shown, expected, "Quill has 30.0 of 30, technology unknown 40.0 of 40: no breaches");
    assert_eq!(analysis["breach_count"], 4);
    assert_eq!(
        found["data"][1],
        json!({
            "dimension": "provider", "name": "Cumulus", "share_pct": 60.0, "threshold_pct": 30, "excess_pct": 30.0,
            "severity": "high", "analysis_id": analysis["id"],
        })
    );
    assert_eq!(breaches("?search=cumu")["meta"]["total"], 1);
    let second = breaches("?limit=1&offset=1");
    assert_eq!(second["data"], json!([found["data"][1]]));
    assert_eq!((&second["meta"]["total"], &second["meta"]["count"]), (&json!(4), &json!(1)));

    let patch = |body: Value| {
        house.call("PATCH", &format!("{BASE}/thresholds")).key(key).json(&body).expect(200);
    };
    patch(json!({ "provider_concentration_pct": 29, "regional_concentration_pct": 100 }));
    let names: Vec<Value> =
        breaches("")["data"].as_array().unwrap().iter().map(|breach| breach["name"].clone()).collect();
    assert_eq!(names, ["Cumulus", "cloud", "linux", "Quill"]);
    assert_eq!(get(&house, key, "latest")["data"], analysis, "the analysis stays as it was answered");
    patch(json!({ "enabled": 0 }));
    let disabled = breaches("");
    assert_eq!((&disabled["data"], &disabled["meta"]["enabled"]), (&json!([]), &json!(false)));
}

#[test]
fn thresholds_change_in_part_and_only_within_bounds() {
    let house = unlimited();
    let key = &house.ours.all;
    let defaults = json!({
        "provider_concentration_pct": 30, "sector_concentration_pct": 40, "regional_concentration_pct": 50,
        "technology_concentration_pct": 40, "review_frequency_days": 365, "enabled": true, "updated_at": null,
    });
    let now = || get(&house, key, "thresholds")["data"].clone();
    let patch = |body: &str| house.call("PATCH", &format!("{BASE}/thresholds")).key(key).body(body).send();
    assert_eq!(now(), defaults);
    assert_eq!(patch("{}").json()["data"], defaults);
    for field in ["provider", "sector", "regional", "technology"] {
        for bad in ["0", "101", "1.5", "50.0", "\"50\"", "null", "1e99", "-1", "true", "[50]"] {
            let body = format!("{{\"{field}_concentration_pct\": {bad}, \"enabled\": false}}");
            let answer = patch(&body);
            assert_eq!(answer.status, 422, "{body}");
            assert!(answer.json()["fields"][format!("{field}_concentration_pct")].is_string());
        }
    }
    for bad in ["29", "731", "null", "\"365\"", "99999999999999999999"] {
        assert_eq!(patch(&format!("{{\"review_frequency_days\": {bad}}}")).status, 422, "{bad}");
    }
    for bad in ["2", "\"true\"", "null", "1.0", "[]", "\"\""] {
        assert_eq!(patch(&format!("{{\"enabled\": {bad}}}")).status, 422, "{bad}");
    }
    let faults = patch(r#"{"provider_concentration_pct": 0, "review_frequency_days": 1, "limit": 3}"#).json();
    assert_eq!(faults["fields"].as_object().unwrap().len(), 3);
    assert_eq!(now(), defaults, "nothing was changed by a fault");

    house.clock.advance_ms(1_000);
    for (spelling, on) in
        [("false", false), ("true", true), ("0", false), ("1", true), ("\"0\"", false), ("\"1\"", true)]
    {
        let changed = patch(&format!("{{\"enabled\": {spelling}}}"));
        assert_eq!((changed.status, &changed.json()["data"]["enabled"]), (200, &json!(on)), "{spelling}");
        assert_eq!(now()["enabled"], on);
    }
    for (value, days) in [(1, 30), (100, 730)] {
        let changed = patch(
            &json!({ "technology_concentration_pct": value, "review_frequency_days": days }).to_string(),
        );
        let mut expected = defaults.clone();
        expected["technology_concentration_pct"] = json!(value);
        expected["review_frequency_days"] = json!(days);
        expected["updated_at"] = json!("2026-11-15T08:00:01Z");
        assert_eq!(changed.json()["data"], expected);
        assert_eq!(now(), expected);
        assert_eq!(patch(&expected.to_string()).status, 200, "what is shown can be written back");
    }
}

#[test]
fn what_if_answers_and_stores_nothing() {
    let house = unlimited();
    let key = &house.ours.all;
    let ids = fill(&house, key);
    let ask = |what_if: Value| {
        let body = json!({ "basis": "count", "what_if": what_if });
        house.call("POST", &format!("{BASE}/analyze")).key(key).json(&body).expect(200)
    };
    let answer = ask(json!({
        "remove": [ids[0], ids[1], ids[2], ids[3]],
        "add": [
            { "provider": "Relay", "service": "s", "criticality": "critical", "function": "payments" },
            { "provider": "Newcomer", "service": "s", "criticality": "standard" },
            { "provider": "Newcomer", "service": "t", "criticality": "standard" },
            { "provider_id": get(&house, key, "providers?search=quill")["data"][0]["id"], "service": "s",
              "criticality": "important" },
        ],
    }));
    assert_eq!(answer.header("location"), None);
    let analysis = answer.json()["data"].clone();
    assert_eq!((&analysis["id"], &analysis["arrangement_count"]), (&Value::Null, &json!(10)));
    let shares: Vec<(&str, f64)> = analysis["dimensions"]["provider"]["shares"]
        .as_array()
        .unwrap()
        .iter()
        .map(|share| (share["name"].as_str().unwrap(), share["share_pct"].as_f64().unwrap()))
        .collect();
    assert_eq!(shares, [("Quill", 40.0), ("Cumulus", 20.0), ("Newcomer", 20.0), ("Relay", 20.0)]);
    assert_eq!(analysis["single_points_of_failure"][0]["arrangement_ids"], json!(["what_if.add[0]"]));
    assert_eq!(ask(json!({})).json()["data"]["id"], Value::Null);
    house.get(&format!("{BASE}/latest")).key(key).expect(404);
    assert_eq!(get(&house, key, "breaches")["data"], json!([]));
    assert_eq!(get(&house, key, "arrangements")["meta"]["total"], 10);
    assert_eq!(get(&house, key, "providers")["meta"]["total"], 4);
    let stored = post(&house, key, "analyze", &json!({ "what_if": null }));
    assert_eq!(stored.status, 201, "null is as if it were not there");
}

#[test]
fn what_if_names_every_fault_by_its_way() {
    let house = unlimited();
    fill(&house, &house.ours.all);
    let theirs = fill(&house, &house.theirs.all);
    let their_provider = get(&house, &house.theirs.all, "providers")["data"][0]["id"].clone();
    let faults = |what_if: Value| -> Value {
        let answer = post(&house, &house.ours.all, "analyze", &json!({ "what_if": what_if }));
        assert_eq!(answer.status, 422, "{what_if}");
        answer.json()["fields"].clone()
    };
    let named = faults(json!({
        "remove": "x", "keep": [],
        "add": [{ "criticality": "high" }, 3, { "service": "s", "criticality": "standard", "cost": 1 }],
    }));
    let names: Vec<&String> = named.as_object().unwrap().keys().collect();
    let expected = [
        "what_if.add[0].service",
        "what_if.add[0].criticality",
        "what_if.add[1]",
        "what_if.add[2].cost",
        "what_if.remove",
        "what_if.keep",
    ];
    assert_eq!(names, expected);
    let add =
        |provider_id: Value| json!({ "provider_id": provider_id, "service": "s", "criticality": "standard" });
    let unused = format!("arr_{}", "0".repeat(26));
    let mut both = add(their_provider.clone());
    both["provider"] = json!("Quill");
    let named = faults(json!({
        "remove": [theirs[0], unused],
        "add": [add(their_provider), add(json!("prv_unused")), add(Value::Null), both],
    }));
    assert_eq!(named.as_object().unwrap().len(), 6);
    assert_eq!(named["what_if.remove[0]"], named["what_if.remove[1]"], "foreign is as unused");
    assert_eq!(named["what_if.add[0].provider_id"], named["what_if.add[1].provider_id"]);
    assert!(named["what_if.add[2].provider_id"].as_str().unwrap().contains("required"));
    assert!(named["what_if.add[3].provider"].is_string());
}

#[test]
fn tenants_see_nothing_of_each_other() {
    let house = unlimited();
    let (ours, theirs) = (&house.ours.all, &house.theirs.all);
    let foreign = fill(&house, theirs);
    post(&house, theirs, "analyze", &json!({}));
    house.call("PATCH", &format!("{BASE}/thresholds")).key(theirs).json(&json!({ "enabled": 0 })).expect(200);
    let before = get(&house, theirs, "arrangements");
    for list in ["providers", "arrangements", "breaches"] {
        assert_eq!(get(&house, ours, list)["meta"]["total"], 0, "{list}");
    }
    assert_eq!(get(&house, ours, "thresholds")["data"]["enabled"], true);
    house.get(&format!("{BASE}/latest")).key(ours).expect(404);
    assert_eq!(post(&house, ours, "analyze", &json!({})).status, 422, "our register is empty");
    let provider = before["data"][0]["provider_id"].as_str().unwrap();
    let unused = "0".repeat(26);
    for (place, id) in [("providers", provider), ("arrangements", foreign[0].as_str())] {
        let prefix = id.split_once('_').unwrap().0;
        for method in ["GET", "DELETE"] {
            let call =
                |id: &str| house.call(method, &format!("{BASE}/{place}/{id}")).key(ours).expect(404).body;
            assert_eq!(call(id), call(&format!("{prefix}_{unused}")), "{method} {place}");
            assert_eq!(call(id), call("%FF"), "{method} {place}");
        }
    }
    let link = |id: &str| {
        let body = json!({ "provider_id": id, "service": "s", "criticality": "standard" });
        let answer = post(&house, ours, "arrangements", &body);
        assert_eq!(answer.status, 422);
        answer.body
    };
    assert_eq!(link(provider), link(&format!("prv_{unused}")));
    assert_eq!(get(&house, theirs, "arrangements"), before);
}

#[test]
fn a_restart_keeps_register_thresholds_and_analysis() {
    let mut house = unlimited();
    let key = house.ours.all.clone();
    fill(&house, &key);
    let analysis = analysed(&house, &json!({}));
    house.call("PATCH", &format!("{BASE}/thresholds")).key(&key).json(&json!({ "enabled": "0" })).expect(200);
    house.restart();
    assert_eq!(get(&house, &key, "latest")["data"], analysis);
    assert_eq!(get(&house, &key, "thresholds")["data"]["enabled"], false);
    assert_eq!(get(&house, &key, "arrangements?limit=3")["meta"]["total"], 10);
}
