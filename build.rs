//! Checks the reference data and prepares the public bodies and the pages' assets, so that
//! the binary serves them without parsing, and a dataset that does not fit stops the build.

#[macro_use]
#[path = "src/shape.rs"]
#[allow(dead_code, unused_macros, reason = "the binary uses the rest")]
mod shape;

#[macro_use]
#[path = "src/closed_set.rs"]
mod closed_set;

#[path = "src/reference/source/mod.rs"]
#[allow(dead_code, missing_docs, reason = "the binary uses the rest")]
mod source;

#[path = "build/bom.rs"]
mod bom;

use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{collections::HashMap, env, error::Error, fs};

#[expect(clippy::disallowed_methods, reason = "a build script is told by its environment")]
fn main() -> Result<(), Box<dyn Error>> {
    for watched in [
        "build.rs",
        "build",
        "Cargo.lock",
        "Cargo.toml",
        "assets",
        "data/reference",
        "src/closed_set.rs",
        "src/shape.rs",
        "src/reference/source",
    ] {
        println!("cargo::rerun-if-changed={watched}");
    }
    let files = read_files(Path::new("data/reference"))?;
    let catalogue = source::Catalogue::read_checked(|name| files.get(name).map(String::as_str))
        .map_err(|faults| format!("data/reference does not fit:\n{}", faults.join("\n")))?;
    let out = PathBuf::from(env::var("OUT_DIR")?).join("reference");
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    fs::create_dir_all(&out)?;
    let ids: Vec<&str> = catalogue.measures.data.iter().map(|measure| measure.id.as_str()).collect();
    fs::write(out.join("../measure_ids.rs"), format!("&{ids:?}"))?;
    let version = env::var("CARGO_PKG_VERSION")?;
    for body in source::body::all(&catalogue, &version) {
        write_body(&out, &body)?;
    }
    let (lock, manifest) = (fs::read_to_string("Cargo.lock")?, fs::read_to_string("Cargo.toml")?);
    let bill = bom::document(&lock, &manifest, &env::var("CARGO_CFG_TARGET_ENV")?)?;
    fs::write(out.join("../sbom.json"), bill)?;
    write_assets(&out.join(".."))
}

/// Each file of `assets/` with its compressed variants, and a table of them all.
fn write_assets(out: &Path) -> Result<(), Box<dyn Error>> {
    let folder = out.join("assets");
    fs::create_dir_all(&folder)?;
    let mut files: Vec<(String, String)> = read_files(Path::new("assets"))?.into_iter().collect();
    files.sort();
    let mut table = String::from("&[");
    for (name, text) in files {
        let plain = text.as_bytes();
        let digest = digest(plain);
        let (stem, ending) = name.rsplit_once('.').ok_or("an asset without an ending")?;
        let media_type = match ending {
            "css" => "text/css; charset=utf-8",
            "js" => "text/javascript; charset=utf-8",
            "svg" => "image/svg+xml",
            other => return Err(format!("assets/{name}: what is {other}?").into()),
        };
        fs::write(folder.join(&name), plain)?;
        fs::write(folder.join(format!("{name}.gz")), gzip(plain)?)?;
        fs::write(folder.join(format!("{name}.br")), brotli(plain)?)?;
        let bytes =
            |end: &str| format!("include_bytes!(concat!(env!(\"OUT_DIR\"), \"/assets/{name}{end}\"))");
        table.push_str(&format!(
            "Asset {{ name: {name:?}, address: \"{stem}-{digest}.{ending}\", media_type: {media_type:?}, \
             digest: {digest:?}, plain: {}, gzip: {}, brotli: {} }},",
            bytes(""),
            bytes(".gz"),
            bytes(".br"),
        ));
    }
    fs::write(out.join("assets.rs"), table + "]")?;
    Ok(())
}

fn gzip(plain: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(plain)?;
    Ok(gzip.finish()?)
}

fn brotli(plain: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut brotli = Vec::new();
    let settings = brotli::enc::BrotliEncoderParams { quality: 11, lgwin: 20, ..Default::default() };
    brotli::BrotliCompress(&mut &plain[..], &mut brotli, &settings)?;
    Ok(brotli)
}

fn digest(plain: &[u8]) -> String {
    Sha256::digest(plain).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn read_files(folder: &Path) -> Result<HashMap<String, String>, Box<dyn Error>> {
    let mut files = HashMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().ok_or("a file without a name")?.to_string_lossy().into_owned();
        files.insert(name, fs::read_to_string(&path)?);
    }
    Ok(files)
}

/// Five files a body: plain, gzip, brotli, its digest, and where its records stand.
fn write_body(out: &Path, body: &source::body::Body) -> Result<(), Box<dyn Error>> {
    let file = |ending: &str| out.join(format!("{}.{ending}", body.slug));
    let plain = body.json.as_bytes();
    fs::write(file("json"), plain)?;
    fs::write(file("json.gz"), gzip(plain)?)?;
    fs::write(file("json.br"), brotli(plain)?)?;
    fs::write(file("digest"), digest(plain))?;
    let records: Vec<String> = body.records.iter().map(|(start, end)| format!("{start} {end}")).collect();
    fs::write(file("records"), records.join("\n"))?;
    Ok(())
}
