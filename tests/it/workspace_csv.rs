//! Lists as spreadsheets: whole, filtered as the page is, without formulas, and readable by the import.

use crate::house::House;
use crate::person::{Person, text_of};
use crate::process::Workplace;
use holdfast::domain::user::Role;

/// The rows of a spreadsheet, the heads first.
fn rows(person: &Person, path: &str) -> Vec<Vec<String>> {
    let file = person.get(path).expect(200);
    assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8"), "{path}");
    assert_eq!(file.header("cache-control"), Some("no-store"), "{path}");
    let name = path.trim_start_matches('/').split('/').next().unwrap();
    let told = file.header("content-disposition").unwrap();
    assert_eq!(told, format!("attachment; filename=\"{name}-2026-11-15.csv\""));
    let text = text_of(&file);
    assert!(text.ends_with("\r\n"));
    // Cells of these tests hold neither quotes nor line breaks.
    text.trim_end().split("\r\n").map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn column<'a>(rows: &'a [Vec<String>], name: &str) -> Vec<&'a str> {
    let at =
        rows[0].iter().position(|head| head == name).unwrap_or_else(|| panic!("{name} in {:?}", rows[0]));
    rows[1..].iter().map(|row| row[at].as_str()).collect()
}

#[test]
fn every_list_is_exported_whole_filtered_and_in_its_order() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Owner);
    let theirs = house.service().house.app.store.tenant_id("theirs").unwrap();
    let foreign = serde_json::json!({ "name": "Foreign canary" });
    let foreign = holdfast::domain::provider::NEW_PROVIDER.check(foreign.as_object().unwrap()).unwrap();
    house.service().house.app.store.tenant(&theirs).create_provider(foreign).unwrap();
    let mut programme = String::new();
    for number in 0..55 {
        let name = format!("Programme {number:02}");
        let framework = if number < 52 { "dora" } else { "nis2" };
        programme = anna.does("/programmes", &[("name", &name), ("framework", framework)]).0;
        anna.post("/providers", &[("name", &format!("Provider {number:02}")), ("country", "DE")]).expect(303);
    }
    for name in ["=cmd|calc", "Unicorn Cloud"] {
        anna.post("/providers", &[("name", name)]).expect(303);
    }
    let programme = programme.rsplit('/').next().unwrap();
    for (title, kind) in [("Test B", "tlpt"), ("Test A", "scenario_based")] {
        let fields = [
            ("title", title),
            ("programme_id", programme),
            ("type", kind),
            ("measure_ids", "DORA-24-01, DORA-25-02"),
        ];
        anna.post("/test-cases", &fields).expect(303);
    }
    let report = [
        ("kind", "severe_incident"),
        ("title", "Outage"),
        ("product_name", "App"),
        ("became_aware_at", "2026-11-15T07:00"),
    ];
    anna.post("/cra-reports", &report).expect(303);

    let programmes = rows(&anna, "/programmes/export.csv?framework=dora&sort=-name&offset=50");
    let names = column(&programmes, "name");
    assert_eq!((names.len(), names[0], names[51]), (52, "Programme 51", "Programme 00"));
    assert_eq!(column(&programmes, "progress_pct")[0], "0");
    let cases = rows(&anna, "/test-cases/export.csv?sort=title");
    assert_eq!(column(&cases, "title"), ["Test A", "Test B"]);
    assert_eq!(column(&cases, "measure_ids")[0], "DORA-24-01; DORA-25-02");
    assert_eq!(column(&rows(&anna, "/test-cases/export.csv?type=tlpt"), "title"), ["Test B"]);
    let reports = rows(&anna, "/cra-reports/export.csv?status=draft");
    assert_eq!(column(&reports, "became_aware_at"), ["2026-11-15T07:00:00Z"]);
    assert_eq!(column(&reports, "early_warning_due_at"), ["2026-11-16T07:00:00Z"]);
    assert_eq!(rows(&anna, "/cra-reports/export.csv?status=closed").len(), 1, "heads alone");
    let providers = rows(&anna, "/providers/export.csv?sort=name");
    assert_eq!(providers.len(), 58);
    assert_eq!(column(&providers, "name")[0], "'=cmd|calc", "no cell is a formula");
    let found = rows(&anna, "/providers/export.csv?search=unicorn");
    assert_eq!(column(&found, "name"), ["Unicorn Cloud"]);
    let log = rows(&anna, "/audit/export.csv");
    let events = column(&log, "event");
    assert!(events.contains(&"signed_in") && events.contains(&"data_exported"), "{events:?}");
    let log = rows(&anna, "/audit/export.csv?event=signed_in");
    assert!(column(&log, "event").iter().all(|event| *event == "signed_in"), "filtered as the page is");

    for (page, link) in [
        ("/programmes?framework=dora&offset=50", "/programmes/export.csv?framework=dora\""),
        ("/test-cases?search=a", "/test-cases/export.csv?search=a\""),
        ("/cra-reports", "/cra-reports/export.csv\""),
        ("/providers", "/providers/export.csv\""),
        ("/arrangements?criticality=critical", "/arrangements/export.csv?criticality=critical\""),
        ("/audit?event=signed_in", "/audit/export.csv?event=signed_in\""),
    ] {
        assert!(anna.read(page).contains(&format!("href=\"{link}")), "{page}");
    }
    let vera = Person::new(&house, "Vera", Role::Viewer);
    assert!(vera.read("/providers").contains("/providers/export.csv"));
    vera.get("/audit/export.csv").expect(403);
    anna.get("/programmes/export.csv?framework=nonsense").expect(422);
}

#[test]
fn an_exported_register_is_imported_again() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Editor);
    let provider = [
        ("name", "=Nordlicht Cloud"),
        ("lei", "5299000J2N45DDNE4Y28"),
        ("parent", "Nordlicht"),
        ("sector", "cloud"),
        ("country", "DE"),
        ("region", "EU"),
    ];
    let (path, _) = anna.does("/providers", &provider);
    let arrangement = [
        ("provider_id", path.rsplit('/').next().unwrap()),
        ("service", "Managed database"),
        ("criticality", "critical"),
        ("function", "Payments"),
        ("annual_cost_eur", "48000"),
        ("substitutability", "difficult"),
        ("exit_plan", "1"),
    ];
    anna.does("/arrangements", &arrangement);
    let place = Workplace::new();
    let db = house.config.db.display().to_string();
    for (list, count) in [("providers", 2), ("arrangements", 2)] {
        let address = format!("/{list}/export.csv");
        let before = rows(&anna, &address);
        assert_eq!(before.len(), 2);
        let file = place.folder.path().join(format!("{list}.csv"));
        std::fs::write(&file, anna.get(&address).expect(200).body).unwrap();
        place.done(&["import", "--db", &db, "--tenant", "ours", "--kind", list, file.to_str().unwrap()]);
        let after = rows(&anna, &address);
        assert_eq!(after.len(), 1 + count);
        assert!(after[1..].iter().all(|row| row[1..] == before[1][1..]), "every field came back: {after:?}");
    }
    let heads = &rows(&anna, "/arrangements/export.csv")[0];
    assert_eq!(heads[..4], ["id", "provider_id", "service", "criticality"]);
}

#[test]
fn a_few_files_are_made_at_once_some_wait_and_the_next_is_told_to_come_again() {
    let house = House::new();
    let anna = Person::new(&house, "Anna", Role::Viewer);
    let exports = &house.service().house.app.exports;
    let cores = std::thread::available_parallelism().unwrap().get();
    let held: Vec<_> = (0..cores.min(2)).map(|_| exports.take().unwrap()).collect();
    let (say, hear) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        for number in 0..9 {
            let (say, anna) = (say.clone(), &anna);
            let path = if number % 2 == 0 { "/findings/export.pdf" } else { "/programmes/export.csv" };
            scope.spawn(move || say.send(anna.get(path).send()).unwrap());
        }
        let refused = hear.recv().unwrap();
        assert_eq!((refused.status, refused.header("retry-after")), (429, Some("10")));
        assert!(text_of(&refused).contains("Other large files are being made right now."));
        // What is no list needs no turn.
        anna.get("/programmes").expect(200);
        drop(held);
        assert!((0..8).all(|_| hear.recv().unwrap().status == 200));
    });
}
