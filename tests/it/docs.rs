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

#[test]
fn the_unit_runs_what_there_is_and_names_settings_that_exist() {
    let unit = include_str!("../../packaging/holdfast.service");
    assert!(README.contains("packaging/holdfast.service"));
    assert!(unit.contains("ExecStart=/usr/local/bin/holdfast serve"));
    for line in unit.lines().filter_map(|line| line.strip_prefix("Environment=")) {
        let name = line.split('=').next().unwrap();
        assert!(SETTINGS.iter().any(|setting| setting.name == name), "{name}");
    }
    for guard in
        ["NoNewPrivileges=yes", "ProtectSystem=strict", "CapabilityBoundingSet=\n", "SystemCallFilter="]
    {
        assert!(unit.contains(guard), "{guard}");
    }
}
