//! Pages: HTML for people, with the headers that keep a browser safe.

use crate::client::Answer;
use crate::house::House;
use holdfast::http::route::Tier;
use holdfast::pages::PAGES;

const BROWSER: &str = "text/html,application/xhtml+xml,*/*;q=0.8";

fn assert_browser_headers(answer: &Answer) {
    assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = answer.header("content-security-policy").unwrap();
    for part in ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe"));
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("permissions-policy", "camera=(), microphone=(), geolocation=()"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name}");
    }
    assert_eq!(answer.header("access-control-allow-origin"), None);
}

/// Neither a policy nor a reader without scripts would let these through.
fn assert_plain_page(text: &str) {
    assert!(text.starts_with("<!doctype html>"), "{}", &text[..80.min(text.len())]);
    for inline in ["<style", " style=", "javascript:", " onclick", " onload", "<script>"] {
        assert!(!text.contains(inline), "{inline}");
    }
    for outside in ["src=\"http", "href=\"//", "src=\"//", "@import"] {
        assert!(!text.contains(outside), "{outside}");
    }
}

#[test]
fn every_page_is_plain_html_with_an_etag_and_its_parts_are_there() {
    let house = House::new();
    for page in PAGES.iter().filter(|row| row.tier == Tier::Page) {
        let answer = house.get(page.path).expect(200);
        assert_browser_headers(&answer);
        assert_eq!(answer.header("cache-control"), Some("no-cache"));
        let text = String::from_utf8(answer.body.clone()).unwrap();
        assert_plain_page(&text);
        let etag = answer.header("etag").unwrap();
        house.get(page.path).header("If-None-Match", etag).expect(304);
        let parts: Vec<&str> =
            text.split("\"/assets/").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        assert!(parts.len() >= 3, "{}: {parts:?}", page.path);
        for part in parts {
            house.get(&format!("/assets/{part}")).expect(200);
        }
        let link = |rest: &str| rest.split(['"', '#']).next().unwrap().to_owned();
        for target in text.split("href=\"/").skip(1).map(|rest| format!("/{}", link(rest))) {
            let answer = house.get(&target).send();
            assert!(
                answer.status == 200 || target == "/" && answer.status == 303,
                "{target}: {}",
                answer.status
            );
        }
    }
}

#[test]
fn an_asset_is_kept_for_ever_under_the_address_of_its_content() {
    let house = House::new();
    let start = house.get("/docs").expect(200);
    let text = String::from_utf8(start.body).unwrap();
    let name = text
        .split("\"/assets/")
        .map(|rest| rest.split('"').next().unwrap())
        .find(|name| name.ends_with(".css"));
    let address = format!("/assets/{}", name.unwrap());
    let plain = house.get(&address).expect(200);
    assert_eq!(plain.header("content-type"), Some("text/css; charset=utf-8"));
    assert_eq!(plain.header("cache-control"), Some("public, max-age=31536000, immutable"));
    assert_eq!(plain.header("x-content-type-options"), Some("nosniff"));
    for (encoding, name) in [("gzip", "gzip"), ("gzip, br", "br")] {
        let packed = house.get(&address).header("Accept-Encoding", encoding).expect(200);
        assert_eq!(packed.header("content-encoding"), Some(name));
        assert!(packed.body.len() * 3 < plain.body.len(), "{encoding}");
        let etag = packed.header("etag").unwrap();
        assert_ne!(Some(etag), plain.header("etag"));
        house.get(&address).header("Accept-Encoding", encoding).header("If-None-Match", etag).expect(304);
    }
    for gone in ["/assets/workspace.css", "/assets/workspace-0000000000000000.css", "/assets/..%2fCargo.toml"]
    {
        house.get(gone).expect(404);
    }
}

#[test]
fn an_error_outside_the_api_is_a_page_for_browsers_and_json_for_everybody_else() {
    let house = House::new();
    let page = house.get("/no/such/page").header("Accept", BROWSER).expect(404);
    assert_browser_headers(&page);
    assert_eq!(page.header("cache-control"), Some("no-store"));
    let text = String::from_utf8(page.body.clone()).unwrap();
    assert_plain_page(&text);
    assert!(text.contains("This page does not exist"));
    assert!(text.contains(page.header("x-request-id").unwrap()));
    let wrong = house.call("DELETE", "/").header("Accept", BROWSER).expect(405);
    assert_eq!(wrong.header("allow"), Some("GET, HEAD"));
    assert!(String::from_utf8(wrong.body).unwrap().contains("DELETE is not possible here"));
    for accept in ["*/*", "application/json", "text/htmlx"] {
        let answer = house.get("/no/such/page").header("Accept", accept).expect(404);
        assert!(answer.error().contains("nothing"), "{accept}");
    }
    for path in ["/api/nothing", "/api/v1/findings"] {
        assert_eq!(
            house.get(path).header("Accept", BROWSER).send().header("content-type"),
            Some("application/json")
        );
    }
}

#[test]
fn pages_are_no_part_of_the_api() {
    let house = House::new();
    let paths = house.get("/api/openapi.json").expect(200).json()["paths"].clone();
    for page in PAGES {
        assert!(paths.get(page.path).is_none(), "{}", page.path);
    }
    // A key changes nothing on a page.
    house.get("/docs").key("nonsense").expect(200);
    assert_eq!(house.get("/docs").expect(200).header("strict-transport-security"), None);
    let proxied = House::with(|config| config.base_url = Some("https://resilience.example".into()));
    let strict = proxied.get("/docs").expect(200);
    assert!(strict.header("strict-transport-security").unwrap().contains("max-age=31536000"));
}
