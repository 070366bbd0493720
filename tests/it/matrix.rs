//! The matrix: every route of v1 with every kind of key and every kind of id, and every body with every
//! kind of fault. It walks the table, so a new route is in it or fails it.

use crate::client::Answer;
use crate::house::House;
use crate::process::wait_until;
use holdfast::chance::Chance;
use holdfast::domain::arrangement::NEW_ARRANGEMENT;
use holdfast::domain::cra_form::NEW_CRA_REPORT;
use holdfast::domain::finding::IMPORTED_FINDING;
use holdfast::domain::form::{Form, Kind, Values};
use holdfast::domain::import::read_json;
use holdfast::domain::key::Secret;
use holdfast::domain::permission::{Permission, Permissions};
use holdfast::domain::programme::IMPORTED_PROGRAMME;
use holdfast::domain::provider::NEW_PROVIDER;
use holdfast::domain::query::ParamKind;
use holdfast::domain::risk::Basis;
use holdfast::domain::test_case::IMPORTED_TEST_CASE;
use holdfast::domain::webhook::NEW_WEBHOOK;
use holdfast::http::route::{Gives, Route, Scope, Tier, Verb};
use holdfast::routes::ROUTES;
use holdfast::store::{NewKey, Tenant};
use rusqlite::types::Value as Cell;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// Occurs in every text of the tenant `theirs`, and nowhere else.
const CANARY: &str = "canary7c1e";
/// The time and randomness of an id that nobody has.
const UNUSED: &str = "01M7EFFGMWDVACXK3YEDBYE0NS";

/// Where the objects of each path live, and the prefix of their ids.
const PLACES: &[(&str, &str, &str)] = &[
    ("/api/v1/programmes/", "programme", "prg"),
    ("/api/v1/test-cases/", "test_case", "tc"),
    ("/api/v1/findings/", "finding", "fnd"),
    ("/api/v1/concentration-risk/providers/", "provider", "prv"),
    ("/api/v1/concentration-risk/arrangements/", "arrangement", "arr"),
    ("/api/v1/webhooks/", "webhook", "whk"),
    ("/api/v1/cra/reports/", "cra_report", "cra"),
    ("/api/v1/deliveries/", "delivery", "dlv"),
];

/// Two tenants with one object of each kind.
fn house() -> House {
    let house = House::with(|config| config.limits = None);
    seed(&house, "ours", "plain");
    seed(&house, "theirs", CANARY);
    settle(&house);
    house
}

/// Waits until the courier has tried what there is, and ends it, so that rows stand still and can be replayed.
fn settle(house: &House) {
    let connection = rusqlite::Connection::open(&house.config.db).unwrap();
    connection.busy_timeout(Duration::from_secs(5)).unwrap();
    let untried = "select count(*) from delivery where attempts = 0 or state = 'sending'";
    wait_until(Duration::from_secs(10), "every delivery is tried", || {
        connection.query_row(untried, [], |row| row.get::<_, i64>(0)).unwrap() == 0
    });
    connection.execute("update delivery set state = 'failed'", []).unwrap();
    // What is made from here on sorts behind it.
    house.clock.advance_ms(1);
}

/// A route's address with an id in it.
fn with_id(route: &Route, id: &str) -> String {
    let (beginning, rest) = route.path.split_once('{').unwrap();
    format!("{beginning}{id}{}", rest.split_once('}').unwrap().1)
}

fn v1() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(|route| route.tier == Tier::V1)
}

fn tenant<'a>(house: &'a House, name: &str) -> Tenant<'a> {
    let store = &house.service().house.app.store;
    store.tenant(&store.tenant_id(name).unwrap())
}

/// A body with the mark in every text field that the form has, and whatever else is given.
fn body(form: &Form, mark: &str, more: Value) -> Value {
    let texts = form.fields.iter().filter(|field| matches!(field.kind, Kind::Text { .. }));
    let mut body: Value = texts.map(|field| (field.name.to_owned(), json!(mark))).collect();
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

fn checked(form: &Form, mark: &str, more: Value) -> Values {
    form.check(body(form, mark, more).as_object().unwrap()).unwrap()
}

/// Fills a tenant without any of its keys, so that its rows stand still afterwards.
fn seed(house: &House, name: &str, mark: &str) {
    let file = json!({
        "programmes": [body(&IMPORTED_PROGRAMME, mark, json!({ "ref": "p", "framework": "dora" }))],
        "test_cases": [body(&IMPORTED_TEST_CASE, mark, json!({ "ref": "t", "programme_id": "p", "type": "tlpt" }))],
        "findings": [
            body(&IMPORTED_FINDING, mark, json!({
                "ref": "f", "programme_id": "p", "test_case_id": "t", "severity": "low", "detected_on": "2025-01-01",
            })),
            body(&IMPORTED_FINDING, mark, json!({
                "ref": "g", "programme_id": "p", "test_case_id": "t", "severity": "low", "status": "risk_accepted",
                "acceptance_expires_on": "2027-01-01", "external_id": format!("{mark}-2"),
            })),
        ],
    });
    let tenant = tenant(house, name);
    tenant.import(read_json(file.to_string().as_bytes()).unwrap(), true).unwrap();
    for table in ["arrangement", "arrangement", "webhook"] {
        make(&tenant, table, mark);
    }
    let submission = json!({
        "stage": "early_warning", "submitted_at": "2026-11-15T08:00:00Z", "reference": mark, "authority": mark,
    });
    let report = json!({ "kind": "severe_incident", "submissions": [submission] });
    tenant.create_cra_report(checked(&NEW_CRA_REPORT, mark, report)).unwrap();
    tenant.analyse(Basis::Count).unwrap();
    let key = NewKey {
        name: mark.into(),
        permissions: Permissions::default(),
        expires_at_ms: None,
        created_by: Some(mark.into()),
    };
    let store = &house.service().house.app.store;
    store.create_key(&store.tenant_id(name).unwrap(), key).unwrap();
}

/// Makes an object that can also be deleted; gives its id.
fn make(tenant: &Tenant, table: &str, mark: &str) -> String {
    let provider = || tenant.create_provider(checked(&NEW_PROVIDER, mark, json!({}))).unwrap().id;
    match table {
        "provider" => provider(),
        "arrangement" => {
            let more = json!({
                "provider_id": provider(), "criticality": "critical", "substitutability": "impossible",
                "exit_plan": false,
            });
            tenant.create_arrangement(checked(&NEW_ARRANGEMENT, mark, more)).unwrap().id
        }
        "webhook" => {
            // Its delivery, for what is replayed; the address leads nowhere in a test.
            let url = format!("https://hooks.slack.com/services/T0/B0/{mark}");
            let more = json!({ "channel": "slack", "url": url, "events": ["finding.created"] });
            let id = tenant.create_webhook(checked(&NEW_WEBHOOK, mark, more)).unwrap().id;
            tenant.test_webhook(&id).unwrap();
            id
        }
        other => panic!("do not know how to make a {other} that is to be deleted"),
    }
}

/// The id of a tenant's first object.
fn first(house: &House, name: &str, table: &str) -> String {
    let tenant_id = house.service().house.app.store.tenant_id(name).unwrap();
    let connection = rusqlite::Connection::open(&house.config.db).unwrap();
    let sql = format!("select id from {table} where tenant_id = ?1 order by id limit 1");
    connection.query_row(&sql, [tenant_id], |row| row.get(0)).unwrap()
}

/// Every row of a tenant in every table that has any. What the use of a key leaves behind is left out for
/// `ours`, whose keys the tests use.
fn dump(house: &House, name: &str) -> Vec<String> {
    let tenant_id = house.service().house.app.store.tenant_id(name).unwrap();
    let connection = rusqlite::Connection::open(&house.config.db).unwrap();
    let sql = "select t.name, group_concat(c.name, ', ') from sqlite_schema t, pragma_table_info(t.name) c
      where t.type = 'table' and (?1 or (t.name <> 'rate_window' and c.name <> 'last_used_at'))
      group by t.name having max(c.name = 'tenant_id') order by t.name";
    let mut tables = connection.prepare(sql).unwrap();
    let tables = tables.query_map([name != "ours"], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let tables: Vec<(String, String)> = tables.map(Result::unwrap).collect();
    assert!(tables.len() > 12, "{tables:?}");
    let mut rows = Vec::new();
    for (table, columns) in tables {
        let sql = format!("select {columns} from {table} where tenant_id = ?1 order by 1, 2");
        let mut query = connection.prepare(&sql).unwrap();
        let width = query.column_count();
        let shown = query.query_map([&tenant_id], |row| {
            let cells: Result<Vec<Cell>, _> = (0..width).map(|column| row.get(column)).collect();
            Ok(format!("{table} {:?}", cells?))
        });
        rows.extend(shown.unwrap().map(Result::unwrap));
    }
    rows
}

/// A path's table and the prefix of its ids; a path with an id that is not known here fails the walk.
fn place(route: &Route) -> Option<(&'static str, &'static str, &'static str)> {
    let (beginning, _) = route.path.split_once('{')?;
    let known = PLACES.iter().find(|(path, _, _)| *path == beginning);
    Some(*known.unwrap_or_else(|| panic!("no sample for {}", route.path)))
}

fn is_measure(route: &Route) -> bool {
    route.path == "/api/v1/dora/measures/{id}"
}

/// The address of something that is there.
fn own(house: &House, route: &Route) -> String {
    if is_measure(route) {
        return "/api/v1/dora/measures/DORA-05-02".into();
    }
    match place(route) {
        None => route.path.into(),
        Some((_, table, _)) if route.verb == Verb::Delete => {
            with_id(route, &make(&tenant(house, "ours"), table, "plain"))
        }
        Some((_, table, _)) => with_id(route, &first(house, "ours", table)),
    }
}

/// Addresses of what is not there for us: the first with an unused id, then foreign, of another kind, malformed.
fn others(house: &House, route: &Route) -> Vec<String> {
    let mut ids = Vec::new();
    if is_measure(route) {
        ids.extend(["DORA-99-99".to_owned(), first(house, "theirs", "finding")]);
    } else if let Some((_, table, prefix)) = place(route) {
        let kin = if table == "finding" { "programme" } else { "finding" };
        ids.extend([format!("{prefix}_{UNUSED}"), first(house, "theirs", table), first(house, "ours", kin)]);
        ids.push(first(house, "ours", table).to_lowercase());
        ids.push(format!("{}%00", first(house, "ours", table)));
    } else {
        return ids;
    }
    ids.extend(["%00", "%ff", "nonsense", "..%2f", "%27%20or%201=1--", "%25"].map(str::to_owned));
    ids.push("x".repeat(300));
    ids.iter().map(|id| with_id(route, id)).collect()
}

/// A valid body for a form; a form without one fails the walk.
fn sample(house: &House, form: &Form) -> Value {
    match form.name {
        "NewKey" | "NewProvider" => json!({ "name": "walker" }),
        "NewArrangement" => json!({
            "provider_id": first(house, "ours", "provider"), "service": "s", "criticality": "standard",
        }),
        "Analyze" => json!({ "basis": "count" }),
        "ThresholdPatch" => json!({ "provider_concentration_pct": 30 }),
        "NewWebhook" => json!({
            "name": "w", "channel": "slack", "url": "https://hooks.slack.com/services/x", "events": ["finding.created"],
        }),
        "Nothing" => json!({}),
        "WebhookPatch" => json!({ "active": false }),
        "NewFinding" => json!({ "title": "a finding", "severity": "low" }),
        "FindingPatch" | "TestCasePatch" | "CraReportPatch" => json!({ "title": "changed" }),
        other => panic!("no sample for the form {other}"),
    }
}

fn send(house: &House, method: &str, target: &str, key: Option<&str>, body: Option<&Value>) -> Answer {
    let mut call = house.call(method, target);
    if let Some(key) = key {
        call = call.key(key);
    }
    if let Some(body) = body {
        call = call.json(body);
    }
    call.send()
}

fn header_names(answer: &Answer) -> BTreeSet<&str> {
    answer.headers.iter().map(|(name, _)| name.as_str()).collect()
}

/// Nobody can tell one answer from the other.
fn assert_alike(one: &Answer, other: &Answer, what: &str) {
    assert_eq!(one.status, other.status, "{what}");
    let text = |answer: &Answer| String::from_utf8_lossy(&answer.body).into_owned();
    assert_eq!(text(one), text(other), "{what}");
    assert_eq!(header_names(one), header_names(other), "{what}");
}

/// The live keys and what they may do.
fn live_keys(house: &House) -> [(&str, Permissions); 4] {
    let none = Permissions::default();
    let ours = &house.ours;
    [
        (&ours.reader, none),
        (&ours.writer, none.with(Permission::Write)),
        (&ours.manager, none.with(Permission::ManageKeys)),
        (&ours.all, Permissions::all()),
    ]
}

fn methods(route: &Route) -> &'static [&'static str] {
    match route.verb {
        Verb::Get => &["GET", "HEAD"],
        Verb::Post => &["POST"],
        Verb::Put => &["PUT"],
        Verb::Patch => &["PATCH"],
        Verb::Delete => &["DELETE"],
    }
}

/// A row's answer to an address that is there, or is not, for a key that may do so much.
fn expected(route: &Route, permissions: Permissions, there: bool) -> u16 {
    match route.needs {
        Some(needed) if !permissions.has(needed) => 403,
        _ if !route.handler.is_available() => 501,
        _ if !there => 404,
        _ => route.gives.status(),
    }
}

#[test]
fn every_route_with_every_key_and_every_id() {
    let house = house();
    let before = dump(&house, "theirs");
    assert!(before.iter().filter(|row| row.contains(CANARY)).count() > 10, "{before:?}");
    let unknown = Secret::make(&Chance::seeded(9)).unwrap();
    let dead =
        [None, Some(unknown.reveal()), Some(house.ours.expired.as_str()), Some(house.ours.revoked.as_str())];
    let refused = house.get("/api/v1/programmes").expect(401);
    for route in v1() {
        let body = route.takes.map(|form| sample(&house, form));
        let missing = others(&house, route);
        for method in methods(route) {
            for target in missing.iter().chain([&own(&house, route)]) {
                for key in dead {
                    let answer = send(&house, method, target, key, body.as_ref());
                    let what = format!("{method} {target} with {key:?}");
                    assert_eq!(answer.status, 401, "{what}");
                    assert!(*method == "HEAD" || answer.body == refused.body, "{what}");
                    assert_eq!(header_names(&answer), header_names(&refused), "{what}");
                }
            }
            for (key, permissions) in live_keys(&house) {
                let answers = missing.iter().map(|target| {
                    let answer = send(&house, method, target, Some(key), body.as_ref());
                    (target, answer)
                });
                let answers: Vec<_> = answers.collect();
                for (target, answer) in &answers {
                    let what = format!("{method} {target} with {:?}", permissions.names());
                    assert_eq!(answer.status, expected(route, permissions, false), "{what}");
                    assert_alike(answer, &answers[0].1, &what);
                }
                let target = own(&house, route);
                let answer = send(&house, method, &target, Some(key), body.as_ref());
                let what = format!("{method} {target} with {:?}: {answer:?}", permissions.names());
                assert_eq!(answer.status, expected(route, permissions, true), "{what}");
            }
        }
    }
    assert_eq!(dump(&house, "theirs"), before, "nobody has touched a row of theirs");
}

/// The ways to all fields of a form that hold an id of an object.
fn id_fields(form: &Form, beginning: &str) -> Vec<String> {
    let mut ways = Vec::new();
    for field in form.fields {
        let way = format!("{beginning}{}", field.name);
        match field.kind {
            Kind::Texts { .. } => ways.push(way),
            Kind::Text { .. } if field.name.ends_with("_id") => ways.push(way),
            Kind::Record(of) | Kind::Records { of, .. } | Kind::Keyed { of, .. } => {
                ways.extend(id_fields(of, &format!("{way}.")));
            }
            Kind::Text { .. }
            | Kind::Uri { .. }
            | Kind::Integer { .. }
            | Kind::Switch
            | Kind::Choice(_)
            | Kind::Choices(_)
            | Kind::Codes(_)
            | Kind::Number { .. }
            | Kind::Day
            | Kind::Time
            | Kind::Shaped { .. }
            | Kind::Capitals { .. } => {}
        }
    }
    ways
}

/// A valid body but for the id in one field, and the table in which that id should be.
fn naming(house: &House, form: &Form, way: &str, id: impl Fn(&str) -> String) -> Value {
    let table = |field: &str| field.strip_suffix("_id").unwrap().to_owned();
    match way {
        "what_if.remove" => json!({ "what_if": { "remove": [id("arrangement")] } }),
        "what_if.add.provider_id" => {
            let add = json!({ "provider_id": id("provider"), "service": "s", "criticality": "standard" });
            json!({ "what_if": { "add": [add] } })
        }
        _ => {
            assert!(!way.contains('.'), "no body for {way} of {}", form.name);
            let mut body = sample(house, form);
            body[way] = json!(id(&table(way)));
            body
        }
    }
}

#[test]
fn an_id_in_a_body_or_a_filter_tells_nothing_of_others() {
    let house = house();
    let unused = |table: &str| {
        let (_, _, prefix) = PLACES.iter().find(|(_, known, _)| *known == table).unwrap();
        format!("{prefix}_{UNUSED}")
    };
    let foreign = |table: &str| first(&house, "theirs", table);
    let (ours, theirs) = (dump(&house, "ours"), dump(&house, "theirs"));
    let all = house.ours.all.as_str();
    let mut walked = Vec::new();
    for route in v1().filter(|route| route.takes.is_some() || !route.asks.is_empty()) {
        let target = own(&house, route);
        for way in route.takes.map(|form| id_fields(form, "")).unwrap_or_default() {
            let form = route.takes.unwrap();
            let call = |id: &dyn Fn(&str) -> String| {
                let body = naming(&house, form, &way, id);
                let once = house.call(route.verb.name(), &target).key(all).json(&body);
                once.header("Idempotency-Key", "one").send()
            };
            let (one, other) = (call(&foreign), call(&unused));
            assert_eq!(one.status, 422, "{} {way}: {one:?}", route.name());
            assert_alike(&one, &other, &format!("{} {way}", route.name()));
            assert_eq!(dump(&house, "ours"), ours, "{} {way}", route.name());
            walked.push(way);
        }
        for param in route.asks.iter().filter(|param| param.name.ends_with("_id")) {
            let table = param.name.strip_suffix("_id").unwrap();
            let call = |id: String| house.get(&format!("{target}?{}={id}", param.name)).key(all);
            let none = call(foreign(table)).expect(200);
            assert_alike(&none, &call(unused(table)).expect(200), &format!("{target} {}", param.name));
            assert_eq!(none.json()["meta"]["total"], json!(0));
            let some = call(first(&house, "ours", table)).expect(200);
            assert_ne!(some.json()["meta"]["total"], json!(0), "{target} {}", param.name);
            walked.push(format!("?{}", param.name));
        }
    }
    assert!(walked.len() >= 12, "{walked:?}");
    assert_eq!(dump(&house, "theirs"), theirs);
    // The same bodies with ids of our own are good: it is the id that was refused.
    for route in v1().filter(|route| route.takes.is_some()) {
        for way in id_fields(route.takes.unwrap(), "") {
            let good = naming(&house, route.takes.unwrap(), &way, |table| first(&house, "ours", table));
            let answer = send(&house, route.verb.name(), &own(&house, route), Some(all), Some(&good));
            assert!(matches!(answer.status, 200 | 201), "{} {way}: {answer:?}", route.name());
        }
    }
}

/// Addresses under which a GET route could give something away.
fn crawl(house: &House, route: &Route) -> Vec<String> {
    let mut targets = match route.tier {
        Tier::V1 => vec![own(house, route)],
        Tier::V2 | Tier::Public | Tier::Service | Tier::Page | Tier::Workspace | Tier::Asset => {
            vec![route.path.to_owned()]
        }
    };
    if route.path.contains('{') {
        targets.extend(others(house, route));
    }
    for param in route.asks {
        match param.kind {
            ParamKind::Choice(words) => {
                targets.extend(words.iter().map(|word| format!("{}?{}={word}", route.path, param.name)));
            }
            ParamKind::Text { .. } if param.name.ends_with("_id") => {
                let table = param.name.strip_suffix("_id").unwrap();
                let id = first(house, "theirs", table);
                targets.push(format!("{}?{}={id}", route.path, param.name));
            }
            ParamKind::Text { .. } | ParamKind::Needed { .. } => {
                targets.push(format!("{}?{}={CANARY}", route.path, param.name));
            }
            ParamKind::Limit | ParamKind::Offset | ParamKind::Integer { .. } => {
                targets.push(format!("{}?{}=1", route.path, param.name));
            }
            ParamKind::Day => targets.push(format!("{}?{}=2026-11-15", route.path, param.name)),
        }
    }
    targets.push(format!("{}?search={CANARY}&q={CANARY}", targets[0]));
    targets.push(format!("{}?fruit=1", targets[0]));
    targets
}

fn sings(answer: &Answer) -> bool {
    let heads: String = answer.headers.iter().map(|(_, value)| value.as_str()).collect();
    (heads + &String::from_utf8_lossy(&answer.body)).to_lowercase().contains(CANARY)
}

#[test]
fn no_answer_holds_a_word_of_another_tenant() {
    let house = house();
    let gets = || {
        ROUTES
            .iter()
            .filter(|route| route.verb == Verb::Get && (route.tier == Tier::V1 || route.tier == Tier::V2))
    };
    // They see the canary wherever they have data, and what was kept for them is kept for nobody else.
    for route in gets().filter(|route| route.handler.is_available()) {
        let target = match route.tier == Tier::V1 && !is_measure(route) {
            true => place(route).map(|(_, table, _)| with_id(route, &first(&house, "theirs", table))),
            false => None,
        };
        let answers = crawl(&house, route)
            .into_iter()
            .chain(target)
            .map(|target| house.get(&target).key(&house.theirs.all).send());
        let sung = answers.filter(sings).count();
        let theirs = route.handler.scope() == Scope::Tenant
            && !["/thresholds", "/deliveries", "/compliance-scores"]
                .iter()
                .any(|silent| route.path.ends_with(silent));
        assert_eq!(sung > 0, theirs, "{}", route.name());
    }
    for route in gets() {
        for target in crawl(&house, route) {
            let answer = house.get(&target).key(&house.ours.all).send();
            assert!(!sings(&answer), "{target}: {answer:?}");
            if route.gives == Gives::List && answer.status == 200 && !target.ends_with("=1") {
                // Nothing is counted that is not shown either.
                let meta = &answer.json()["meta"];
                let whole = meta["total"].as_u64() <= meta["limit"].as_u64();
                assert!(!whole || meta["total"] == meta["count"], "{target}: {meta}");
                assert!(!target.ends_with(CANARY) || meta["total"] == json!(0), "{target}: {meta}");
            }
        }
    }
}

/// Bodies that fit no form at all, with what they are.
fn bad_bodies(route: &Route, good: &Value) -> Vec<(&'static str, Vec<u8>)> {
    let field = route.takes.unwrap().fields.first().map_or("x", |field| field.name);
    let deep = format!("{{\"{field}\":{}{}}}", "[".repeat(1000), "]".repeat(1000));
    let mut unknown = good.clone();
    unknown["unheard_of"] = json!(1);
    let mut bodies = vec![
        ("no JSON", b"title=x".to_vec()),
        ("cut short", good.to_string().trim_end_matches('}').into()),
        ("an array", format!("[{good}]").into()),
        ("a text", b"\"x\"".to_vec()),
        ("null", b"null".to_vec()),
        ("two objects", format!("{good}{good}").into()),
        ("white space", b"  ".to_vec()),
        ("twice", format!("{{\"{field}\":\"a\",\"{field}\":\"a\"}}").into()),
        ("deep", deep.into()),
        ("deeper", "{\"x\":".repeat(1000).into()),
        ("half a surrogate", format!("{{\"{field}\":\"\\ud800\"}}").into()),
        ("out of range", format!("{{\"{field}\":1e999}}").into()),
        ("bad UTF-8", [b"{\"", field.as_bytes(), b"\":\"\xff\xfe\"}"].concat()),
        ("bad UTF-8 in a name", b"{\"\xc0\xaf\":1}".to_vec()),
        ("unknown", unknown.to_string().into()),
    ];
    if !route.optional_body {
        bodies.push(("empty", Vec::new()));
    }
    bodies
}

/// Fit no field of any kind.
const WRONG: &[&str] = &[
    r#"{"x":1}"#,
    r#"[{"x":1}]"#,
    "[[]]",
    "1e308",
    "-1e308",
    "99999999999999999999",
    "-99999999999999999999",
    "9223372036854775808",
    r#""\u0000""#,
];

/// The fields that an answer blames; a fault inside an object counts for the field that holds it.
fn blamed(answer: &Answer) -> BTreeSet<String> {
    let json = answer.json();
    let ways = json["fields"].as_object().unwrap_or_else(|| panic!("no field is named: {json}"));
    ways.keys().map(|way| way.split(['.', '[']).next().unwrap().to_owned()).collect()
}

fn set<'a>(names: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    names.into_iter().map(str::to_owned).collect()
}

#[test]
fn a_bad_body_is_422_names_every_fault_and_changes_nothing() {
    let house = house();
    for (route, form) in v1().filter_map(|route| Some((route, route.takes?))) {
        let target = own(&house, route);
        let before = dump(&house, "ours");
        let post = |body: Vec<u8>, what: &str| {
            let answer = house.call(route.verb.name(), &target).key(&house.ours.all).body(body).send();
            assert_eq!(answer.status, 422, "{} {what}: {answer:?}", route.name());
            assert!(!answer.error().is_empty());
            answer
        };
        let good = sample(&house, form);
        for (what, body) in bad_bodies(route, &good) {
            post(body, what);
        }
        for wrong in WRONG {
            for field in form.fields {
                // Beside what is good, so that only this field is at fault.
                let mut body = good.clone();
                body[field.name] = json!("WRONG");
                let answer = post(body.to_string().replacen("\"WRONG\"", wrong, 1).into(), wrong);
                assert_eq!(blamed(&answer), set([field.name]), "{}: {wrong}", route.name());
            }
            let known = form.fields.iter().map(|field| field.name);
            let every = known.chain(["unheard_of"]);
            let pairs: Vec<String> = every.clone().map(|name| format!("\"{name}\":{wrong}")).collect();
            let answer = post(format!("{{{}}}", pairs.join(",")).into(), wrong);
            assert_eq!(blamed(&answer), set(every), "{}: {wrong}", route.name());
        }
        for field in form.fields.iter().filter(|field| !field.nullable) {
            let mut body = good.clone();
            body[field.name] = Value::Null;
            assert_eq!(blamed(&post(body.to_string().into(), "null")), set([field.name]));
        }
        assert_eq!(dump(&house, "ours"), before, "{}", route.name());
    }
}

#[test]
fn what_has_no_id_of_its_own_is_not_shared_either() {
    let house = house();
    let path = "/api/v1/concentration-risk/thresholds";
    let thresholds = |key: &str| house.get(path).key(key).expect(200).json()["data"].clone();
    let before = thresholds(&house.ours.all);
    let patch = json!({ "provider_concentration_pct": 77, "enabled": false });
    house.call("PATCH", path).key(&house.theirs.writer).json(&patch).expect(200);
    house
        .call("PATCH", path)
        .key(&house.ours.writer)
        .json(&json!({ "review_frequency_days": 90 }))
        .expect(200);
    let after = thresholds(&house.ours.all);
    assert_eq!(after["provider_concentration_pct"], before["provider_concentration_pct"]);
    assert_eq!(after["enabled"], before["enabled"]);
    assert_eq!(thresholds(&house.theirs.all)["review_frequency_days"], before["review_frequency_days"]);
    // Two tenants may well choose the same idempotency key, with the same request or another.
    for (title, other) in [("same", "same"), ("this", "that")] {
        let file = |key: &str, title: &str| {
            let body = json!({ "title": title, "severity": "low" });
            let call = house.call("POST", "/api/v1/findings").key(key).json(&body);
            let answer = call.header("Idempotency-Key", other).expect(201);
            answer.json()["data"]["id"].as_str().unwrap().to_owned()
        };
        let (theirs, ours) = (file(&house.theirs.writer, other), file(&house.ours.writer, title));
        assert_ne!(theirs, ours);
        assert_eq!(file(&house.ours.writer, title), ours, "and for us it is once");
        house.get(&format!("/api/v1/findings/{ours}")).key(&house.ours.reader).expect(200);
        house.get(&format!("/api/v1/findings/{ours}")).key(&house.theirs.reader).expect(404);
    }
}
