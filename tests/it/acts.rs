//! What the workspace does and the API does not: the same state machines and forms, by other doors.

use crate::house::House;
use holdfast::domain::actor::Actor;
use holdfast::domain::arrangement::{ARRANGEMENT_PATCH, NEW_ARRANGEMENT};
use holdfast::domain::bulk::BULK_MOVE;
use holdfast::domain::cra_form::NEW_CRA_REPORT;
use holdfast::domain::finding::NEW_FINDING;
use holdfast::domain::form::{Form, Values};
use holdfast::domain::import::{part, read_json};
use holdfast::domain::import_csv;
use holdfast::domain::key::WORKSPACE_KEY;
use holdfast::domain::programme::{NEW_PROGRAMME, PROGRAMME_PATCH, Status};
use holdfast::domain::provider::{NEW_PROVIDER, PROVIDER_PATCH};
use holdfast::domain::query::{LIMIT, OFFSET, Param, Query, SEARCH, filter};
use holdfast::domain::test_case::{NEW_TEST_CASE, TEST_CASE_PATCH};
use holdfast::error::Error;
use holdfast::store::{FINDING_SORTS, Filed, Reach, Tenant};
use serde_json::{Value, json};

fn quiet() -> House {
    House::with(|config| config.limits = None)
}

fn tenant<'a>(house: &'a House, name: &str) -> Tenant<'a> {
    let store = &house.service().house.app.store;
    store.tenant(&store.tenant_id(name).unwrap()).by(Actor::user("usr_1", "Anna"))
}

fn values(form: &Form, body: Value) -> Values {
    form.check(body.as_object().unwrap()).unwrap()
}

fn file(tenant: &Tenant, title: &str) -> String {
    match tenant
        .file_finding(values(&NEW_FINDING, json!({ "title": title, "severity": "low" })), None)
        .unwrap()
    {
        Filed::New(finding) | Filed::Before(finding) => finding.id,
    }
}

fn text(error: Error) -> String {
    error.to_string()
}

#[test]
fn programmes_and_test_cases_are_made_moved_and_deleted_while_they_are_empty() {
    let house = quiet();
    let ours = tenant(&house, "ours");
    let new = json!({ "name": "Resilience", "framework": "dora", "starts_on": "2026-01-01" });
    let programme = ours.create_programme(values(&NEW_PROGRAMME, new)).unwrap();
    assert_eq!(programme.status, Status::Draft);
    let backwards =
        json!({ "name": "x", "framework": "dora", "starts_on": "2026-01-02", "ends_on": "2026-01-01" });
    assert!(text(ours.create_programme(values(&NEW_PROGRAMME, backwards)).unwrap_err()).contains("ends_on"));
    let change = |body: Value| ours.change_programme(&programme.id, values(&PROGRAMME_PATCH, body));
    assert!(
        text(change(json!({ "status": "completed" })).unwrap_err())
            .contains("possible are: active, archived")
    );
    assert_eq!(change(json!({ "status": "active", "owner": "Bert" })).unwrap().status, Status::Active);

    let new = json!({ "programme_id": programme.id, "title": "Restore", "type": "scenario_based" });
    let case = ours.create_test_case(values(&NEW_TEST_CASE, new.clone())).unwrap();
    let foreign = tenant(&house, "theirs").create_test_case(values(&NEW_TEST_CASE, new)).unwrap_err();
    assert!(text(foreign).contains("does not exist"));
    assert!(text(ours.delete_programme(&programme.id).unwrap_err()).contains("archive"));
    ours.change_test_case(&case.id, values(&TEST_CASE_PATCH, json!({ "status": "in_progress" }))).unwrap();
    assert!(text(ours.delete_test_case(&case.id).unwrap_err()).contains("cancel"));
    let new = json!({ "programme_id": programme.id, "title": "By mistake", "type": "tlpt" });
    let mistake = ours.create_test_case(values(&NEW_TEST_CASE, new)).unwrap();
    ours.add_note(&mistake.id, "oops").unwrap();
    assert!(tenant(&house, "theirs").delete_test_case(&mistake.id).is_err(), "nobody else's");
    ours.delete_test_case(&mistake.id).unwrap();
    assert!(ours.test_case(&mistake.id).is_err());
    assert_eq!(ours.notes(&mistake.id, Default::default()).unwrap().total, 0);

    let shown = house.get(&format!("/api/v1/programmes/{}", programme.id)).key(&house.ours.reader);
    let shown = shown.expect(200).json();
    assert_eq!((&shown["data"]["owner"], &shown["data"]["test_case_count"]), (&json!("Bert"), &json!(1)));
}

#[test]
fn providers_arrangements_and_drafts_are_changed_and_deleted() {
    let house = quiet();
    let ours = tenant(&house, "ours");
    let provider =
        ours.create_provider(values(&NEW_PROVIDER, json!({ "name": "P", "sector": "cloud" }))).unwrap();
    let changed =
        ours.change_provider(&provider.id, values(&PROVIDER_PATCH, json!({ "sector": null }))).unwrap();
    assert_eq!((changed.name.as_str(), changed.sector), ("P", None), "what is absent stays");
    let new = json!({ "provider_id": provider.id, "service": "S", "criticality": "critical" });
    let arrangement = ours.create_arrangement(values(&NEW_ARRANGEMENT, new)).unwrap();
    let patch = |body: Value| ours.change_arrangement(&arrangement.id, values(&ARRANGEMENT_PATCH, body));
    assert_eq!(patch(json!({ "service": "T" })).unwrap().service, "T");
    assert!(text(patch(json!({ "provider_id": "prv_unknown" })).unwrap_err()).contains("does not exist"));
    assert!(tenant(&house, "theirs").change_provider(&provider.id, Values::default()).is_err());
    let new = json!({ "kind": "severe_incident", "title": "t", "product_name": "p" });
    let report = ours.create_cra_report(values(&NEW_CRA_REPORT, new.clone())).unwrap();
    ours.delete_cra_report(&report.id).unwrap();
    assert!(ours.cra_report(&report.id).is_err());
    let mut sent = new;
    sent["status"] = json!("early_warning_sent");
    let report = ours.create_cra_report(values(&NEW_CRA_REPORT, sent)).unwrap();
    assert!(text(ours.delete_cra_report(&report.id).unwrap_err()).contains("withdraw"));
}

#[test]
fn many_findings_move_as_the_plan_says_and_the_rest_stays() {
    let house = quiet();
    let ours = tenant(&house, "ours");
    let mut ids: Vec<String> = (0..3).map(|number| file(&ours, &format!("finding {number}"))).collect();
    let theirs = file(&tenant(&house, "theirs"), "not ours");
    let resolve = |id: &String, status: &str| {
        let body = json!({ "status": status });
        house
            .call("PATCH", &format!("/api/v1/findings/{id}"))
            .key(&house.ours.writer)
            .json(&body)
            .expect(200);
    };
    resolve(&ids[2], "in_progress");
    ids.extend([theirs.clone(), ids[0].clone()]);
    let start = values(&BULK_MOVE, json!({ "status": "in_progress" }));
    let plan = ours.plan_move(&ids, &start).unwrap();
    assert_eq!((plan.movable(), plan.findings.len(), &plan.unknown), (2, 3, &vec![theirs.clone()]));
    assert_eq!(plan.findings[2].hindrance.as_deref(), Some("is in_progress already"));
    assert_eq!(
        house.get("/api/v1/findings?status=open").key(&house.ours.reader).expect(200).json()["meta"]["total"],
        2
    );
    assert_eq!(ours.move_findings(&ids, start.clone()).unwrap(), plan, "what was said is what was done");
    assert_eq!(
        house.get("/api/v1/findings?status=open").key(&house.ours.reader).expect(200).json()["meta"]["total"],
        0
    );
    assert_eq!(tenant(&house, "theirs").finding(&theirs).unwrap().status.name(), "open");
    let told = ours.history(&ids[0], Default::default()).unwrap().items;
    assert_eq!(told[0].actor_name.as_deref(), Some("Anna"));
    let accept = json!({ "status": "risk_accepted", "acceptance_reason": "small", "acceptance_expires_on": "2027-01-01" });
    assert_eq!(ours.move_findings(&ids[..3], values(&BULK_MOVE, accept)).unwrap().movable(), 3);
    assert!(ours.plan_move(&[], &start).is_err());
    assert!(ours.move_findings(&vec!["fnd_x".to_owned(); 501], start).is_err());
}

#[test]
fn keys_are_made_for_a_time_and_revoked_with_all_that_came_of_them() {
    let house = quiet();
    let ours = tenant(&house, "ours");
    let form =
        values(&WORKSPACE_KEY, json!({ "name": "k", "permissions": ["manage_keys"], "expires": "30" }));
    let now_ms = house.clock.now_ms();
    let (parent, secret) = ours.make_workspace_key(&form).unwrap();
    let (other, other_secret) = ours.make_workspace_key(&form).unwrap();
    assert_eq!(parent.permissions.names(), ["manage_keys"]);
    let plain = ours.make_workspace_key(&values(&WORKSPACE_KEY, json!({ "name": "k" }))).unwrap().0;
    assert_eq!((plain.permissions.names().len(), plain.expires_at_ms), (0, Some(now_ms + 365 * 86_400_000)));
    let forever = json!({ "name": "k", "expires": "never" });
    assert_eq!(ours.make_workspace_key(&values(&WORKSPACE_KEY, forever)).unwrap().0.expires_at_ms, None);
    assert_eq!(parent.expires_at_ms, Some(now_ms + 30 * 86_400_000));
    let child = |secret: &str| {
        let body = json!({ "name": "child" });
        let made = house.call("POST", "/api/v1/keys").key(secret).json(&body).expect(201).json();
        made["data"]["key"].as_str().unwrap().to_owned()
    };
    let (first, second) = (child(secret.reveal()), child(other_secret.reveal()));
    assert!(
        tenant(&house, "theirs").revoke_key(&parent.id, Reach::WithDescendants).is_err(),
        "nobody else's"
    );
    assert_eq!(ours.revoke_key(&parent.id, Reach::WithDescendants).unwrap(), 2);
    let status = |key: &str| house.get("/api/v1/programmes").key(key).send().status;
    assert_eq!((status(secret.reveal()), status(&first)), (401, 401));
    assert_eq!(ours.revoke_key(&other.id, Reach::Alone).unwrap(), 1);
    assert_eq!((status(other_secret.reveal()), status(&second)), (401, 200));
    assert_eq!(ours.revoke_key(&other.id, Reach::Alone).unwrap(), 0, "once is enough");
    let listed = ours.keys().unwrap();
    assert!(listed.iter().any(|key| key.id == parent.id && key.revoked_at_ms.is_some()));
}

#[test]
fn an_import_is_tried_before_it_is_done() {
    let house = quiet();
    let ours = tenant(&house, "ours");
    let read = |text: &str| import_csv::read(part("providers").unwrap(), text.as_bytes());
    let faults = read("name,country\nGood,DE\nBad,de\n,FR\n").unwrap_err();
    let places: Vec<&str> = faults.fields.iter().map(|(place, _)| place.as_str()).collect();
    assert_eq!(places, ["line 3, column country", "line 4, column name"]);
    let good = || read("\u{feff}name,country,external_id\r\nOne,DE,a\r\nTwo,FR,b\r\n").unwrap();
    let tried = ours.preview_import(good()).unwrap();
    assert_eq!((tried.added, tried.updated), (2, 0));
    assert_eq!(ours.providers(&Query::default()).unwrap().total, 0, "nothing is stored");
    assert_eq!(ours.import(good(), true).unwrap(), tried);
    assert_eq!(ours.preview_import(good()).unwrap().updated, 2);
    let unknown = "provider_id,service,criticality\nprv_nobody,Cloud,critical\n";
    let import = import_csv::read(part("arrangements").unwrap(), unknown.as_bytes()).unwrap();
    assert!(
        text(ours.preview_import(import).unwrap_err()).contains("line 2, column provider_id: does not exist")
    );
}

#[test]
fn findings_are_sorted_whichever_way_and_pages_do_not_overlap() {
    static PARAMS: &[Param] = &[LIMIT, OFFSET, SEARCH, filter("sort", FINDING_SORTS, "")];
    let house = quiet();
    let ours = tenant(&house, "ours");
    let severities = ["low", "critical", "medium", "informational", "high"];
    let rows: Vec<Value> = (0..25)
        .map(|number| json!({ "title": format!("finding {:02}", (number * 7) % 25), "severity": severities[number % 5] }))
        .collect();
    ours.import(read_json(json!({ "findings": rows }).to_string().as_bytes()).unwrap(), false).unwrap();
    let list = |raw: &str| ours.listed_findings(&Query::check(raw, PARAMS).unwrap()).unwrap();
    for sort in FINDING_SORTS {
        let whole: Vec<String> =
            list(&format!("sort={sort}")).items.into_iter().map(|finding| finding.id).collect();
        let mut paged = Vec::new();
        for offset in (0..25).step_by(4) {
            let page = list(&format!("sort={sort}&limit=4&offset={offset}"));
            assert_eq!(page.total, 25);
            paged.extend(page.items.into_iter().map(|finding| finding.id));
        }
        assert_eq!(paged, whole, "{sort}");
    }
    let titles = |raw: &str| list(raw).items.into_iter().map(|finding| finding.title).collect::<Vec<_>>();
    assert!(titles("sort=title").is_sorted());
    assert!(titles("sort=-title").iter().rev().is_sorted());
    let bad = |raw: &str| list(raw).items.into_iter().map(|finding| finding.severity).collect::<Vec<_>>();
    assert!(bad("sort=severity").is_sorted(), "the worst first");
    assert!(
        list("sort=due").items[20].due_on.is_none() && list("sort=-due").items[20].due_on.is_none(),
        "without a date: last"
    );
    assert!(Query::check("sort=nonsense", PARAMS).is_err());
}

#[test]
fn every_order_of_every_list_is_one_that_the_database_knows() {
    use holdfast::store::{
        ARRANGEMENT_SORTS, CRA_SORTS, PROGRAMME_SORTS, PROVIDER_SORTS, TEST_CASE_SORTS, WEBHOOK_SORTS,
    };
    let house = quiet();
    let ours = tenant(&house, "ours");
    macro_rules! tried {
        ($($sorts:ident: $list:ident),+) => {$(
            for sort in $sorts {
                static PARAMS: &[Param] = &[OFFSET, filter("sort", $sorts, "")];
                for offset in ["0", "1"] {
                    let query = Query::check(&format!("sort={sort}&offset={offset}"), PARAMS).unwrap();
                    assert!(ours.$list(&query).is_ok(), "{sort}");
                }
            }
        )+};
    }
    tried!(
        ARRANGEMENT_SORTS: arrangements, CRA_SORTS: cra_reports, PROGRAMME_SORTS: programmes,
        PROVIDER_SORTS: providers, TEST_CASE_SORTS: test_cases, WEBHOOK_SORTS: webhooks, FINDING_SORTS: listed_findings
    );
}
