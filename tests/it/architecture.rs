//! The house keeps its shape: levels, doors, and whose rows a statement may touch.

use std::path::{Path, PathBuf};

/// A module may use those of lower levels, and its own.
const LEVELS: &[(&str, u8)] = &[
    ("domain", 0),
    ("error", 0),
    ("clock", 0),
    ("chance", 0),
    ("disk", 0),
    ("closed_set", 0),
    ("shape", 0),
    ("turns", 0),
    ("payload", 1),
    ("meter", 1),
    ("pdf", 1),
    ("reference", 2),
    ("store", 2),
    ("limiter", 3),
    ("scanner", 3),
    ("egress", 3),
    ("ledger", 3),
    ("config", 4),
    ("app", 5),
    ("http", 6),
    ("health", 6),
    ("api", 7),
    ("web", 7),
    ("jobs", 7),
    ("courier", 7),
    ("routes", 8),
    ("pages", 8),
    ("service", 9),
    ("cli", 10),
    ("main", 11),
    ("lib", 11),
];

/// Where a foreign crate may be named.
const DOORS: &[(&str, &[&str])] = &[
    ("hyper", &["src/http/"]),
    ("hyper_util", &["src/http/server.rs"]),
    ("http_body_util", &["src/http/server.rs", "src/http/finish.rs"]),
    ("tokio", &["src/http/server.rs", "src/http/stream.rs", "src/service.rs", "src/cli/serve.rs"]),
    ("tokio_rustls", &["src/http/server.rs", "src/http/tls.rs"]),
    ("matchit", &["src/http/router.rs"]),
    ("rusqlite", &["src/store/"]),
    ("r2d2", &["src/store/pool.rs"]),
    ("r2d2_sqlite", &["src/store/pool.rs"]),
    ("icu_normalizer", &["src/domain/fold.rs"]),
    ("include_dir", &["src/reference/mod.rs"]),
    ("csv", &["src/domain/import_csv.rs", "src/domain/spreadsheet.rs"]),
    ("ureq", &["src/cli/serve.rs", "src/egress/"]),
    ("lettre", &["src/egress/mail.rs"]),
    ("env_logger", &["src/cli/log.rs"]),
    ("clap", &["src/cli/"]),
    ("clap_complete", &["src/cli/mod.rs"]),
    ("argon2", &["src/store/secret.rs"]),
    ("sha2", &["src/store/secret.rs", "src/payload.rs"]),
    ("subtle", &["src/store/secret.rs"]),
    ("getrandom", &["src/chance.rs"]),
    ("crc32fast", &["src/domain/key.rs"]),
    ("flate2", &["src/payload.rs"]),
    ("brotli", &["src/payload.rs"]),
    ("rustix", &["src/service.rs", "src/cli/mod.rs", "src/disk.rs"]),
    ("jiff", &["src/clock.rs", "src/domain/day.rs", "src/reference/source/check.rs"]),
    ("askama", &["src/web/"]),
    ("krilla", &["src/pdf/render.rs"]),
    ("rustybuzz", &["src/pdf/text.rs"]),
    ("url", &["src/domain/destination.rs", "src/egress/relay.rs"]),
    ("semver", &["src/domain/osv.rs"]),
    ("cvss", &["src/domain/cvss_score.rs"]),
    ("mimalloc", &["src/main.rs"]),
];

/// The longest file, its tests not counted.
const FILE_LINES_MAX: usize = 400;

fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("src")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                files.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(files.len() > 30);
    files
}

/// The code of a file without its tests and comments.
fn code(text: &str) -> String {
    let code = text.split("#[cfg(test)]").next().unwrap();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn level(module: &str) -> u8 {
    LEVELS.iter().find(|(name, _)| *name == module).unwrap_or_else(|| panic!("{module} has no level")).1
}

#[test]
fn modules_use_only_lower_levels() {
    for (file, text) in sources() {
        let module = file.trim_start_matches("src/").split(['/', '.']).next().unwrap().to_owned();
        for used in code(&text).split("crate::").skip(1) {
            let used = used.split(|char: char| !char.is_alphanumeric() && char != '_').next().unwrap();
            let down =
                level(used) < level(&module) || used == module || level(&module) == 0 && level(used) == 0;
            assert!(down, "{file} uses {used}, which is not below it");
        }
    }
}

#[test]
fn foreign_crates_enter_by_their_doors() {
    for (file, text) in sources() {
        let code = code(&text);
        for (name, doors) in DOORS {
            let named = code.match_indices(&format!("{name}::")).any(|(position, _)| {
                let before = code[..position].chars().next_back();
                !before.is_some_and(|char| char.is_alphanumeric() || char == '_' || char == ':')
            });
            let allowed =
                doors.iter().any(|door| file == *door || door.ends_with('/') && file.starts_with(door));
            assert!(!named || allowed, "{file} names {name}");
        }
    }
}

#[test]
fn every_dependency_has_a_door_or_is_for_everybody() {
    let manifest = include_str!("../../Cargo.toml");
    let dependencies = manifest.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    for line in dependencies.lines().filter(|line| line.contains('=')) {
        let name = line.split([' ', '=']).next().unwrap().replace('-', "_");
        let everybody = ["bytes", "serde", "serde_json", "log"].contains(&name.as_str());
        assert!(everybody || DOORS.iter().any(|(door, _)| *door == name), "{name}");
    }
}

#[test]
fn no_file_is_longer_than_a_reader_likes() {
    for (file, text) in sources() {
        let lines = text.split("#[cfg(test)]").next().unwrap().lines().count();
        assert!(lines <= FILE_LINES_MAX, "{file} has {lines} lines");
    }
}

#[test]
fn every_module_says_what_it_is_for() {
    for (file, text) in sources() {
        assert!(text.starts_with("//! "), "{file} has no head");
    }
}

#[test]
fn nobody_unwraps_outside_tests() {
    for (file, text) in sources() {
        let code = code(&text);
        assert!(!code.contains(".unwrap()") && !code.contains("todo!") && !code.contains("dbg!"), "{file}");
    }
}

/// Statements that name a tenant's table without a tenant, each with its reason.
const ACROSS_TENANTS: &[&str] = &[
    "from api_key where hash = ?1",         // the key tells the tenant
    "delete from session where created_at", // the clock clears away whoever's are over
    "delete from invitation where expires_at",
    "insert into audit (number, at, event,", // `event` is a column there; the log belongs to no tenant
    "from rate_window",                      // read back at start; dropped by a restore
    "delete from idempotency where created_at", // retention
    "update delivery set state = 'pending'", // leases whose worker is gone
    "update delivery set next_at = ?1",      // at start, whoever's a wrong clock put off
    "update delivery set state = 'cancelled', lease_until", // restore
    "max(number), 0) from search_entry",     // a bound for the walk over a word's rows
    "delete from session",                   // restore
    "id, name from api_key where revoked_at", // restore tells which keys live again
];

/// Every table whose first column is `tenant_id`.
fn tenant_tables() -> Vec<&'static str> {
    let schema = include_str!("../../schema.sql");
    let tables = schema.split("\ncreate table ").skip(1).filter_map(|table| table.split_once(" (\n"));
    tables
        .filter(|(_, columns)| columns.trim_start().starts_with("tenant_id"))
        .map(|(name, _)| name)
        .collect()
}

/// Does a statement name a table, as a word of its own?
fn names(statement: &str, table: &str) -> bool {
    statement.split(|char: char| !char.is_alphanumeric() && char != '_').any(|word| word == table)
}

#[test]
fn every_statement_on_a_tenants_table_names_the_tenant() {
    let tables = tenant_tables();
    assert!(tables.len() > 12, "{tables:?}");
    let mut seen = 0;
    for (file, text) in sources().into_iter().filter(|(file, _)| file.starts_with("src/store/")) {
        for (number, literal) in code(&text).split('"').enumerate().filter(|(number, _)| number % 2 == 1) {
            let _ = number;
            let verb = ["select ", "insert ", "update ", "delete "]
                .iter()
                .any(|verb| literal.trim_start().starts_with(verb));
            // A list of columns gets its condition where it is used, by `Filter` or by a find beside it.
            let is_columns = literal.trim_start().starts_with("select ") && !literal.contains("where");
            if !verb || is_columns || !tables.iter().any(|table| names(literal, table)) {
                continue;
            }
            seen += 1;
            let excused = ACROSS_TENANTS.iter().any(|known| literal.contains(known));
            assert!(literal.contains("tenant_id") || excused, "{file}: {literal}");
        }
    }
    assert!(seen >= 10, "only {seen} statements were found: has the way they are written changed?");
}
