//! Documents that are not tested go stale.

use holdfast::config::SETTINGS;
use holdfast::pages::PAGES;
use holdfast::routes::ROUTES;

const README: &str = include_str!("../../README.md");
const CHANGELOG: &str = include_str!("../../CHANGELOG.md");
const ARCHITECTURE: &str = include_str!("../../ARCHITECTURE.md");

#[test]
fn the_readme_names_every_setting_with_its_default() {
    for setting in SETTINGS {
        let row = README.lines().find(|line| line.contains(&format!("`{}`", setting.name)));
        let row = row.unwrap_or_else(|| panic!("{} is not in the README", setting.name));
        assert!(setting.default.is_empty() || row.contains(setting.default), "{row}");
    }
}

#[test]
fn the_readme_names_every_route() {
    for route in ROUTES.iter().chain(PAGES) {
        assert!(README.contains(&format!("`{}`", route.path)), "{} is not in the README", route.path);
    }
}

#[test]
fn the_readme_names_the_one_test_command() {
    assert!(README.contains("tests/run") && README.contains("cargo run --release"));
}

#[test]
fn the_changelog_has_this_version() {
    assert!(CHANGELOG.contains(&format!("## {}", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn the_architecture_names_every_module() {
    for module in include_str!("../../src/lib.rs").lines().filter_map(|line| line.strip_prefix("pub mod ")) {
        let name = module.trim_end_matches(';');
        assert!(
            ARCHITECTURE.contains(&format!("`{name}`")) || ARCHITECTURE.contains(&format!("{name}/")),
            "{name}"
        );
    }
}
