//! Vulnerability scans: the bill of materials, the scan of ourselves, and reports of other scanners.

use crate::house::House;
use crate::process::{Server, Workplace, wait_until};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const LATEST: &str = "/api/v1/vulnerability-scan/latest";

fn bill(place: &Workplace) -> Value {
    serde_json::from_str(&place.done(&["sbom"])).unwrap()
}

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/scan").join(name);
    path.to_str().unwrap().to_owned()
}

/// What a server answers once there is a scan of a source.
fn scan_of(server: &Server, key: &str, source: &str) -> Value {
    let get = || server.get(&format!("{LATEST}?source={source}")).key(key).send();
    wait_until(Duration::from_secs(20), "a scan", || get().status == 200);
    get().json()["data"].clone()
}

fn latest(server: &Server, key: &str) -> Value {
    server.get(LATEST).key(key).expect(200).json()["data"].clone()
}

#[test]
fn the_bill_of_materials_is_sound_cyclonedx() {
    let place = Workplace::new();
    let text = place.done(&["sbom"]);
    assert!(!place.db().exists(), "printing it needs no database");
    assert_eq!(text, place.done(&["sbom"]));
    let bill: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((bill["bomFormat"].as_str(), bill["specVersion"].as_str()), (Some("CycloneDX"), Some("1.6")));
    let serial = bill["serialNumber"].as_str().unwrap().strip_prefix("urn:uuid:").unwrap();
    let lengths: Vec<usize> = serial.split('-').map(str::len).collect();
    assert_eq!(lengths, [8, 4, 4, 4, 12]);
    assert!(
        serial.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    );
    let own = &bill["metadata"]["component"];
    assert_eq!(own["version"], env!("CARGO_PKG_VERSION"));

    let mut known = BTreeSet::from([own["bom-ref"].as_str().unwrap()]);
    for component in bill["components"].as_array().unwrap() {
        assert_eq!(
            (component["type"].as_str(), component["scope"].as_str()),
            (Some("library"), Some("required"))
        );
        let (name, version) = (component["name"].as_str().unwrap(), component["version"].as_str().unwrap());
        let purl = component["purl"].as_str().unwrap();
        let kind = if name == "sqlite" { "generic" } else { "cargo" };
        assert_eq!(purl, format!("pkg:{kind}/{name}@{}", version.replace('+', "%2B")));
        for hash in component["hashes"].as_array().into_iter().flatten() {
            assert_eq!(hash["content"].as_str().unwrap().len(), 64, "{name}");
        }
        assert!(known.insert(component["bom-ref"].as_str().unwrap()), "{name} stands twice");
    }
    // Every node of the graph is a component, every component is in it, and all hang on the executable.
    let mut reached = BTreeSet::new();
    let mut waiting = vec![own["bom-ref"].as_str().unwrap()];
    let nodes = bill["dependencies"].as_array().unwrap();
    assert_eq!(nodes.len(), known.len());
    while let Some(name) = waiting.pop() {
        if !reached.insert(name) {
            continue;
        }
        let node =
            nodes.iter().find(|node| node["ref"] == name).unwrap_or_else(|| panic!("{name} is no node"));
        waiting.extend(node["dependsOn"].as_array().unwrap().iter().map(|each| each.as_str().unwrap()));
    }
    assert_eq!(reached, known);
}

#[test]
fn the_bill_of_materials_lacks_nothing_that_is_linked_and_has_nothing_of_the_tests() {
    let bill = bill(&Workplace::new());
    let listed: BTreeSet<String> = bill["components"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| format!("{} v{}", each["name"].as_str().unwrap(), each["version"].as_str().unwrap()))
        .collect();
    let tree = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()))
        .args(["tree", "--locked", "--offline", "--prefix", "none", "-e", "normal,no-proc-macro"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout).unwrap();
    let linked: BTreeSet<String> = tree
        .lines()
        .map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "))
        .filter(|line| !line.starts_with("holdfast ") && !line.is_empty())
        .collect();
    assert!(linked.len() > 100);
    let missing: Vec<&String> = linked.difference(&listed).collect();
    assert!(missing.is_empty(), "NOT_LINKED in build/bom.rs leaves out what is linked: {missing:?}");
    for test_only in ["proptest", "tempfile", "rcgen", "windows-sys", "cc", "syn"] {
        assert!(!listed.iter().any(|each| each.starts_with(&format!("{test_only} "))), "{test_only}");
    }
    assert!(listed.contains(&format!("sqlite v{}", rusqlite::version())), "SQLITE_VERSION in build/bom.rs");
}

#[test]
fn without_advisories_the_scan_of_a_new_server_says_that_it_had_none() {
    let place = Workplace::new();
    let server = place.serve();
    let key = place.first_key();
    let scan = scan_of(&server, &key, "self");
    assert!(scan["id"].as_str().unwrap().starts_with("scan_"));
    assert_eq!(scan["source"], "self");
    assert_eq!(scan["target"], format!("holdfast {}", env!("CARGO_PKG_VERSION")));
    assert_eq!(scan["components"], bill(&place)["components"].as_array().unwrap().len());
    assert_eq!(scan["advisories_as_of"], Value::Null);
    assert!(scan["note"].as_str().unwrap().contains("no advisories"), "{}", scan["note"]);
    assert_eq!((&scan["findings"], &scan["summary"]["total"]), (&json!([]), &json!(0)));
    assert_eq!(latest(&server, &key), scan);
    server.get(&format!("{LATEST}?source=nobody")).key(&key).expect(422);
    server.get(&format!("{LATEST}?source=trivy")).key(&key).expect(404);
}

/// A folder of advisories on one of our real dependencies: it and its version.
fn advisories(place: &Workplace) -> (PathBuf, String, String) {
    let bill = bill(place);
    let component =
        bill["components"].as_array().unwrap().iter().find(|each| each["name"] == "rustls").unwrap();
    let version = component["version"].as_str().unwrap().to_owned();
    let record = |id: &str, aliases: Value, events: Value| {
        json!({
            "schema_version": "1.7.0", "id": id, "modified": "2026-10-01T00:00:00Z", "aliases": aliases,
            "summary": format!("{id} in rustls"),
            "severity": [{ "type": "CVSS_V3", "score": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H" }],
            "affected": [{
                "package": { "ecosystem": "crates.io", "name": "rustls", "purl": "pkg:cargo/rustls" },
                "ranges": [{ "type": "SEMVER", "events": events }],
            }],
            "references": [{ "type": "ADVISORY", "url": "https://example.org/a" }],
        })
    };
    let folder = place.folder.path().join("advisories");
    std::fs::create_dir_all(folder.join("crates.io")).unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.join(name), text).unwrap();
    let hit = json!([{ "introduced": "0.0.0-0" }, { "fixed": "999.0.0" }]);
    write(
        "crates.io/hit.json",
        record("RUSTSEC-2026-9001", json!(["CVE-2026-9001"]), hit.clone()).to_string(),
    );
    // Fixed in exactly the version that is linked.
    let fixed = json!([{ "introduced": "0" }, { "fixed": version }]);
    write("crates.io/fixed.json", record("RUSTSEC-2026-9002", json!([]), fixed).to_string());
    let mut withdrawn = record("RUSTSEC-2026-9003", json!([]), hit.clone());
    withdrawn["withdrawn"] = json!("2026-10-02T00:00:00Z");
    let last = json!([{ "introduced": "0" }, { "last_affected": version }]);
    write("array.json", json!([withdrawn, record("RUSTSEC-2026-9004", json!([]), last)]).to_string());
    // Another database on the first one.
    let mut twin = record("GHSA-9001", json!(["CVE-2026-9001"]), hit);
    twin["severity"] = json!([]);
    twin["modified"] = json!("2026-10-03T12:30:00Z");
    write("twin.json", twin.to_string());
    (folder, "rustls".into(), version)
}

#[test]
fn a_folder_of_advisories_finds_what_is_affected_and_not_what_is_fixed() {
    let place = Workplace::new();
    let (folder, name, version) = advisories(&place);
    let server = place.serve_with(&[("HOLDFAST_ADVISORIES", folder.to_str().unwrap())]);
    let scan = scan_of(&server, &place.first_key(), "self");
    assert_eq!((&scan["note"], &scan["advisories_as_of"]), (&Value::Null, &json!("2026-10-03T12:30:00Z")));
    let summary = json!({ "critical": 0, "high": 2, "medium": 0, "low": 0, "informational": 0, "unknown": 0, "total": 2 });
    assert_eq!(scan["summary"], summary);
    let expected = json!([
        {
            "id": "GHSA-9001", "aliases": ["CVE-2026-9001", "RUSTSEC-2026-9001"], "package": name, "version": version,
            "fixed_in": "999.0.0", "severity": "high", "cvss_score": 7.5, "title": "GHSA-9001 in rustls",
            "url": "https://example.org/a", "location": null,
        },
        {
            "id": "RUSTSEC-2026-9004", "aliases": [], "package": name, "version": version,
            "fixed_in": null, "severity": "high", "cvss_score": 7.5, "title": "RUSTSEC-2026-9004 in rustls",
            "url": "https://example.org/a", "location": null,
        },
    ]);
    assert_eq!(scan["findings"], expected);
}

#[test]
fn bad_files_in_the_folder_are_named_in_the_log_and_counted_in_the_note() {
    let place = Workplace::new();
    let (folder, ..) = advisories(&place);
    std::fs::write(folder.join("broken.json"), "{\"id\": ").unwrap();
    std::fs::write(folder.join("shape.json"), "{\"id\": 5}").unwrap();
    std::fs::write(folder.join("binary.json"), [0xff; 64]).unwrap();
    std::fs::write(folder.join("deep.json"), "[".repeat(100_000)).unwrap();
    let mut server = place.serve_with(&[("HOLDFAST_ADVISORIES", folder.to_str().unwrap())]);
    let scan = scan_of(&server, &place.first_key(), "self");
    assert!(scan["note"].as_str().unwrap().starts_with("4 advisory files or records could not be used"));
    assert_eq!(scan["summary"]["total"], 2, "the good ones count");
    server.signal("-TERM");
    let mut log = String::new();
    std::io::Read::read_to_string(&mut server.child.stderr.take().unwrap(), &mut log).unwrap();
    for name in ["broken.json", "shape.json", "binary.json", "deep.json"] {
        assert!(log.contains(name), "{name}: {log}");
    }
}

#[test]
fn a_start_scans_again_and_stores_what_has_changed() {
    let place = Workplace::new();
    let server = place.serve();
    let key = place.first_key();
    let first = scan_of(&server, &key, "self");
    assert!(server.stop(Duration::from_secs(15)).success());
    let (folder, ..) = advisories(&place);
    let server = place.serve_with(&[("HOLDFAST_ADVISORIES", folder.to_str().unwrap())]);
    wait_until(Duration::from_secs(20), "a new scan", || latest(&server, &key)["id"] != first["id"]);
    assert_eq!(latest(&server, &key)["summary"]["total"], 2);
}

#[test]
fn our_own_scan_is_made_anew_each_day() {
    let house = House::with(|config| config.limits = None);
    let scan = || house.get(LATEST).key(&house.ours.reader).expect(200).json()["data"].clone();
    let first = scan();
    assert_eq!(first["scanned_at"], "2026-11-15T08:00:00Z");
    // The same again within half a day is not stored; the clockwork's turn a day later is.
    house.service().house.app.scan_self().unwrap();
    assert_eq!(scan(), first);
    house.clock.advance_ms(86_400_000);
    wait_until(Duration::from_secs(20), "the daily scan", || scan()["id"] != first["id"]);
    assert_eq!(scan()["scanned_at"], "2026-11-16T08:00:00Z");
    assert_eq!(
        house.get(LATEST).key(&house.theirs.reader).expect(200).json()["data"],
        scan(),
        "platform-wide"
    );
}

#[test]
fn the_history_of_scans_is_bounded_and_the_newest_stays() {
    let place = Workplace::new();
    place.done(&["tenant", "create", "A"]);
    for _ in 0..33 {
        place.done(&["scan", "import", &fixture("trivy.json")]);
    }
    place.done(&["scan", "import", &fixture("grype.json")]);
    let connection = rusqlite::Connection::open(place.db()).unwrap();
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("select count(*) from scan where source = 'trivy'"), 30);
    assert_eq!(count("select count(distinct scanned_at) from scan"), 31);
    let source = "select source = 'grype' from scan order by scanned_at desc limit 1";
    assert_eq!(count(source), 1);
}

#[test]
fn reports_of_four_formats_become_the_newest_scan_of_a_running_server() {
    let place = Workplace::new();
    let server = place.serve();
    let key = place.first_key();
    scan_of(&server, &key, "self");
    for (file, source, printed) in [
        ("osv-scanner.json", "osv-scanner", "osv-scanner: 3 findings, 1 critical, 1 high"),
        ("trivy.json", "trivy", "trivy: 2 findings, 1 critical, 0 high"),
        ("grype.json", "grype", "grype: 2 findings, 1 critical, 0 high"),
        ("sarif.json", "sarif", "sarif: 2 findings, 0 critical, 1 high"),
    ] {
        assert_eq!(place.done(&["scan", "import", &fixture(file)]), printed);
        let scan = latest(&server, &key);
        assert_eq!(scan["source"], source);
        assert_eq!(scan, scan_of(&server, &key, source));
        let total = scan["findings"].as_array().unwrap().len();
        assert_eq!(scan["summary"]["total"], total);
    }
    assert_eq!(scan_of(&server, &key, "self")["source"], "self", "the others are still there");
}

/// The scan that a fixture becomes.
fn imported(file: &str) -> Value {
    let place = Workplace::new();
    place.done(&["tenant", "create", "A"]);
    let key = place.done(&["key", "create", "--tenant", "A", "--name", "k"]);
    place.done(&["scan", "import", &fixture(file)]);
    let source = file.strip_suffix(".json").unwrap();
    scan_of(&place.serve(), &key, source)
}

fn column<'a>(scan: &'a Value, name: &str) -> Vec<&'a Value> {
    scan["findings"].as_array().unwrap().iter().map(|each| &each[name]).collect()
}

#[test]
fn osv_scanners_groups_are_joined() {
    let scan = imported("osv-scanner.json");
    assert_eq!(scan["target"], "/srv/payments/Cargo.lock and 1 more");
    assert_eq!((&scan["components"], &scan["advisories_as_of"]), (&Value::Null, &Value::Null));
    assert!(scan["note"].as_str().unwrap().contains("does not tell the age"));
    assert_eq!(column(&scan, "id"), ["GHSA-2x9f-8q3m-7c4w", "MAL-2026-77", "RUSTSEC-2025-0099"]);
    assert_eq!(column(&scan, "severity"), ["critical", "high", "informational"]);
    assert_eq!(column(&scan, "cvss_score"), [&json!(9.1), &json!(8.4), &Value::Null]);
    assert_eq!(column(&scan, "fixed_in"), [&json!("1.4.5"), &Value::Null, &Value::Null]);
    let first = &scan["findings"][0];
    assert_eq!(first["aliases"], json!(["CVE-2026-31337", "RUSTSEC-2026-0142"]));
    assert_eq!(first["url"], "https://example.org/advisories/GHSA-2x9f-8q3m-7c4w");
    assert_eq!(scan["findings"][1]["title"], "The package was taken over and sends its environment away.");
}

#[test]
fn trivys_words_and_links_are_read_with_care() {
    let scan = imported("trivy.json");
    assert_eq!((&scan["target"], &scan["components"]), (&json!("registry.example/payments:4.2"), &json!(3)));
    assert_eq!(scan["reported_at"], "2026-11-10T21:15:04Z");
    assert!(scan["note"].as_str().unwrap().contains("2 misconfigurations and secrets"));
    assert_eq!(column(&scan, "id"), ["CVE-2023-45853", "CVE-2026-20001"]);
    assert_eq!(column(&scan, "severity"), ["critical", "low"]);
    assert_eq!(column(&scan, "cvss_score"), [9.8, 5.3]);
    assert_eq!(column(&scan, "title")[0], "MiniZip has an integer overflow.");
    assert_eq!(column(&scan, "url"), [&Value::Null, &json!("https://example.org/nvd/cve-2026-20001")]);
    assert_eq!(column(&scan, "aliases")[1], &json!(["DSA-9999-1"]));
}

#[test]
fn grypes_database_has_an_age() {
    let scan = imported("grype.json");
    assert_eq!((&scan["target"], &scan["note"]), (&json!("payments:4.2"), &Value::Null));
    assert_eq!(scan["advisories_as_of"], "2026-11-11T04:05:06Z");
    assert_eq!(column(&scan, "id"), ["GHSA-7w2q-aaaa-bbbb", "CVE-2026-5000"]);
    assert_eq!(column(&scan, "severity"), ["critical", "informational"]);
    assert_eq!(column(&scan, "cvss_score"), [10.0, 5.5]);
    assert_eq!(column(&scan, "fixed_in"), [&json!("2.17.1, 2.12.4"), &Value::Null]);
    assert_eq!(column(&scan, "aliases"), [&json!(["CVE-2026-44228"]), &json!([])]);
    assert_eq!(column(&scan, "title")[1], "A crafted archive fills the disk.");
}

#[test]
fn sarif_of_several_tools_is_one_scan() {
    let scan = imported("sarif.json");
    assert_eq!(
        (&scan["target"], &scan["reported_at"]),
        (&json!("https://git.example/payments"), &json!("2026-11-12T10:00:00Z"))
    );
    assert!(scan["note"].as_str().unwrap().starts_with("by Trivy, Linter;"));
    assert_eq!(column(&scan, "id"), ["sql-injection", "CVE-2026-20001"]);
    assert_eq!(column(&scan, "location"), ["src/search.c:88", "payments:1"]);
    assert_eq!(column(&scan, "package"), [&Value::Null, &json!("libssl3")]);
    assert_eq!(column(&scan, "version")[1], "3.0.15-1~deb12u1");
    assert_eq!(column(&scan, "fixed_in")[1], "3.0.15-1~deb12u3");
    assert_eq!(column(&scan, "severity"), ["high", "medium"]);
}

#[test]
fn a_bad_report_changes_nothing_and_says_why() {
    let place = Workplace::new();
    place.done(&["tenant", "create", "A"]);
    let write = |text: &str| std::fs::write(place.folder.path().join("report.json"), text).unwrap();
    for (text, reason) in [
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        ("{}", "no report that is known here"),
        ("{\"bomFormat\":\"CycloneDX\",\"components\":[]}", "no report that is known here"),
        ("{\"version\":\"2.0.0\",\"runs\":[]}", "only 2.1.0"),
        ("{\"SchemaVersion\":1}", "schema version"),
    ] {
        write(text);
        let line = place.failed(&["scan", "import", "report.json"], 1);
        assert!(line.contains(reason) && line.trim().lines().count() == 1, "{text}: {line}");
    }
    write("{\"matches\":[{\"vulnerability\":{},\"artifact\":{}}],\"descriptor\":{}}");
    let lines = place.failed(&["scan", "import", "report.json"], 1);
    for line in
        ["matches[0].vulnerability.id: is missing", "matches[0].artifact.name: is missing", "2 faults"]
    {
        assert!(lines.contains(line), "{lines}");
    }
    assert!(place.failed(&["scan", "import", "gone.json"], 1).contains("cannot be read"));
    place.failed(&["scan", "import"], 2);
    place.failed(&["scan"], 2);
    let connection = rusqlite::Connection::open(place.db()).unwrap();
    assert_eq!(connection.query_row("select count(*) from scan", [], |row| row.get::<_, i64>(0)).unwrap(), 0);
}

#[test]
fn a_report_needs_a_database_that_is_there() {
    let place = Workplace::new();
    let line = place.failed(&["scan", "import", &fixture("trivy.json")], 1);
    assert!(line.contains("does not exist") && !place.db().exists(), "{line}");
}
