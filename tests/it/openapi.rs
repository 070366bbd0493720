//! The OpenAPI document: complete by the table, and no change unseen.

use crate::process::Workplace;
use holdfast::http::route::{Credentials, Gives, Handler};
use holdfast::routes::ROUTES;
use serde_json::Value;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/openapi.json");

fn printed() -> String {
    Workplace::new().done(&["openapi"]) + "\n"
}

/// `UPDATE_GOLDEN=1 cargo test openapi` writes the file anew; the change then shows in review.
#[test]
fn the_document_is_the_golden_one() {
    let printed = printed();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(GOLDEN, &printed).unwrap();
    }
    let golden = std::fs::read_to_string(GOLDEN).unwrap();
    assert!(printed == golden, "the document changed: look at it, then run with UPDATE_GOLDEN=1");
}

#[test]
fn every_route_is_described_with_all_its_row_says() {
    let document: Value = serde_json::from_str(&printed()).unwrap();
    assert_eq!(document["openapi"], "3.1.0");
    let mut described = 0;
    for route in ROUTES {
        let operation = &document["paths"][route.path][route.verb.name().to_lowercase()];
        assert_eq!(operation["summary"], route.says, "{}", route.name());
        assert_eq!(operation["x-data-scope"], route.handler.scope().name());
        assert_eq!(operation["x-permission"].as_str(), route.needs.map(|permission| permission.name()));
        let open = route.tier.credentials() == Credentials::None;
        assert_eq!(operation["security"].as_array().unwrap().is_empty(), open, "{}", route.name());
        assert!(operation["responses"][route.gives.status().to_string()].is_object(), "{}", route.name());
        for param in route.asks {
            let listed =
                operation["parameters"].as_array().unwrap().iter().any(|each| each["name"] == param.name);
            assert!(listed, "{} {}", route.name(), param.name);
        }
        assert_eq!(operation["requestBody"].is_object(), route.takes.is_some(), "{}", route.name());
        described += 1;
    }
    let operations: usize =
        document["paths"].as_object().unwrap().values().map(|path| path.as_object().unwrap().len()).sum();
    assert_eq!(operations, described);
}

/// A route that says nothing of its answer would leave the document with an empty promise.
#[test]
fn every_route_with_code_says_what_its_answer_looks_like() {
    for route in ROUTES.iter().filter(|route| route.handler.is_available()) {
        let told = match route.gives {
            Gives::Csv | Gives::Figures | Gives::Nothing => true,
            Gives::Item | Gives::List | Gives::All | Gives::Created | Gives::CreatedOrShown => {
                route.shows.is_some() || matches!(route.handler, Handler::Whole(_))
            }
        };
        assert!(told, "{}: give its row .shows(&SHAPE)", route.name());
    }
}

#[test]
fn nothing_of_the_document_points_nowhere_and_no_schema_is_left_over() {
    let text = printed();
    let document: Value = serde_json::from_str(&text).unwrap();
    let pointers: Vec<&str> =
        text.split("\"$ref\": \"#").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(pointers.len() > 300, "{}", pointers.len());
    for pointer in &pointers {
        assert!(document.pointer(pointer).is_some_and(|target| !target.is_null()), "{pointer}");
    }
    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        assert!(
            pointers.iter().any(|pointer| pointer.ends_with(&format!("/{name}"))),
            "{name} is used nowhere"
        );
    }
}

#[test]
fn base_address_and_contact_come_from_the_settings() {
    let place = Workplace::new();
    let output = place
        .command(&["openapi"])
        .env("HOLDFAST_BASE_URL", "https://resilience.bank.example/")
        .env("HOLDFAST_CONTACT", "access@bank.example")
        .output()
        .unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["servers"][0]["url"], "https://resilience.bank.example");
    assert_eq!(document["info"]["contact"]["email"], "access@bank.example");
    let server = place.serve_with(&[("HOLDFAST_CONTACT", "access@bank.example")]);
    assert!(server.get("/api/v1/findings").expect(401).error().contains("access@bank.example"));
}
