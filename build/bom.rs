//! The bill of materials: a CycloneDX document of what is linked into the executable, made from
//! `Cargo.lock` and `Cargo.toml` alone, so that the same sources give the same bytes.
//!
//! The lock file tells neither platforms nor build tools apart. A crate may stand here too
//! many, never too few: a test holds the list against what cargo links.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// SQLite's source comes inside `libsqlite3-sys`; a test holds this against the library.
pub const SQLITE_VERSION: &str = "3.53.2";

/// Where the walk stops: crates of other systems, of the build, and of macros, which leave nothing of
/// their own in the executable. `*` stands for any ending or beginning.
const NOT_LINKED: &[&str] = &[
    "windows*",
    "*-wincon",
    "wasi*",
    "wasm-*",
    "js-sys",
    "web-sys",
    "sqlite-wasm-rs",
    "redox_syscall",
    "r-efi",
    "defmt",
    "portable-atomic*",
    "cc",
    "pkg-config",
    "vcpkg",
    "autocfg",
    "version_check",
    "*derive",
    "*-macros",
    "*_macros",
    "*-static",
    "displaydoc",
    "rustversion",
    // Optional parts that nobody here switches on.
    "regex",
    "zlib-rs",
];

/// A package of the lock file.
struct Package {
    name: String,
    version: String,
    checksum: Option<String>,
    dependencies: Vec<String>,
}

/// Writes the document. `target_env` is the C library's kind (`gnu`, `musl`): some dependencies belong to one.
pub fn document(lock: &str, manifest: &str, target_env: &str) -> Result<String, String> {
    let packages = packages(lock);
    let own =
        packages.iter().find(|package| package.name == "holdfast").ok_or("Cargo.lock lacks holdfast")?;
    let direct = direct(manifest, target_env)?;
    let mut graph: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    let mut components = BTreeMap::new();
    let mut waiting = vec![own];
    while let Some(package) = waiting.pop() {
        if graph.contains_key(&key(package)) {
            continue;
        }
        let mut uses = BTreeSet::new();
        for entry in &package.dependencies {
            let name = entry.split(' ').next().unwrap_or_default();
            if not_linked(name) || package.name == own.name && !direct.contains(name) {
                continue;
            }
            let used = resolve(&packages, entry)?;
            uses.insert(purl(used));
            waiting.push(used);
        }
        if package.name == "libsqlite3-sys" {
            uses.insert(sqlite_purl());
        }
        if package.name != own.name {
            components.insert(purl(package), component(package));
        }
        graph.insert(key(package), uses.into_iter().collect());
    }
    components.insert(sqlite_purl(), sqlite());
    let mut dependencies: Vec<Value> = graph
        .iter()
        .map(|((name, version), uses)| json!({ "ref": cargo_purl(name, version), "dependsOn": uses }))
        .collect();
    dependencies.push(json!({ "ref": sqlite_purl(), "dependsOn": [] }));
    let components: Vec<Value> = components.into_values().collect();
    Ok(format!("{:#}\n", envelope(own, &components, &dependencies)))
}

/// No time stamp: the same sources give the same document, and its number is that of its content.
fn envelope(own: &Package, components: &[Value], dependencies: &[Value]) -> Value {
    let content = json!([own.version, components, dependencies]).to_string();
    json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": serial_number(&Sha256::digest(content.as_bytes())),
        "version": 1,
        "metadata": {
            "lifecycles": [{ "phase": "build" }],
            "component": {
                "type": "application",
                "bom-ref": purl(own),
                "name": own.name,
                "version": own.version,
                "purl": purl(own),
                "licenses": [{ "license": { "id": "Apache-2.0" } }],
            },
        },
        "components": components,
        "dependencies": dependencies,
    })
}

/// A UUID of version 8: our own bits.
fn serial_number(digest: &[u8]) -> String {
    let hex: Vec<char> =
        digest.iter().flat_map(|byte| format!("{byte:02x}").chars().collect::<Vec<_>>()).collect();
    let part = |from: usize, to: usize| hex[from..to].iter().collect::<String>();
    format!("urn:uuid:{}-{}-8{}-a{}-{}", part(0, 8), part(8, 12), part(12, 15), part(15, 18), part(18, 30))
}

fn component(package: &Package) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": purl(package),
        "name": package.name,
        "version": package.version,
        "scope": "required",
    });
    if let Some(checksum) = &package.checksum {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    component["purl"] = json!(purl(package));
    component
}

fn sqlite() -> Value {
    json!({
        "type": "library",
        "bom-ref": sqlite_purl(),
        "name": "sqlite",
        "version": SQLITE_VERSION,
        "scope": "required",
        "cpe": format!("cpe:2.3:a:sqlite:sqlite:{SQLITE_VERSION}:*:*:*:*:*:*:*"),
        "purl": sqlite_purl(),
    })
}

fn key(package: &Package) -> (String, String) {
    (package.name.clone(), package.version.clone())
}

fn purl(package: &Package) -> String {
    cargo_purl(&package.name, &package.version)
}

/// `+` begins build metadata in a version, and has to be escaped in an address.
fn cargo_purl(name: &str, version: &str) -> String {
    format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))
}

fn sqlite_purl() -> String {
    format!("pkg:generic/sqlite@{SQLITE_VERSION}")
}

fn not_linked(name: &str) -> bool {
    NOT_LINKED.iter().any(|pattern| match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(ending), _) => name.ends_with(ending),
        (None, Some(beginning)) => name.starts_with(beginning),
        (None, None) => name == *pattern,
    })
}

/// The lock file's packages. Its form is fixed: one `key = value` a line, lists over several.
fn packages(lock: &str) -> Vec<Package> {
    lock.split("\n[[package]]\n").skip(1).map(package).collect()
}

fn package(block: &str) -> Package {
    let value = |key: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(&format!("{key} = \"")))?;
        line.strip_suffix('"').map(str::to_owned)
    };
    let list = block.split_once("\ndependencies = [").map_or("", |(_, rest)| rest);
    let list = list.split(']').next().unwrap_or_default();
    Package {
        name: value("name").unwrap_or_default(),
        version: value("version").unwrap_or_default(),
        checksum: value("checksum"),
        dependencies: list.split('"').skip(1).step_by(2).map(str::to_owned).collect(),
    }
}

/// An entry is `name`, or `name version` where there are several, or with the source behind it.
fn resolve<'a>(packages: &'a [Package], entry: &str) -> Result<&'a Package, String> {
    let mut words = entry.split(' ');
    let (name, version) = (words.next().unwrap_or_default(), words.next());
    packages
        .iter()
        .find(|package| package.name == name && version.is_none_or(|version| package.version == version))
        .ok_or_else(|| format!("Cargo.lock has no package for `{entry}`"))
}

/// What the manifest names as dependencies of the executable itself on this target.
fn direct(manifest: &str, target_env: &str) -> Result<BTreeSet<String>, String> {
    let for_target = format!("[target.'cfg(target_env = \"{target_env}\")'.dependencies]");
    let mut direct = BTreeSet::new();
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            let head = line.split_once("] ").map_or(line, |(head, _)| &line[..=head.len()]);
            inside = head == "[dependencies]" || head == for_target;
            if head.starts_with("[dependencies.") {
                return Err(format!("{head}: the bill of materials reads dependencies of one line only"));
            }
        } else if inside && !line.starts_with('#') && line.contains('=') {
            if line.contains("package =") {
                return Err(format!("`{line}`: the bill of materials knows no renamed dependencies"));
            }
            direct.insert(line.split([' ', '=']).next().unwrap_or_default().to_owned());
        }
    }
    Ok(direct)
}
