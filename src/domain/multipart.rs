//! Forms with a file: `multipart/form-data` as browsers send it (RFC 7578), and nothing looser.
//!
//! The whole body is there already, under its cap; what does not fit exactly is no form.

/// Fields of one form, at the most.
const PARTS_MAX: usize = 16;
/// The lines above a field's content, at the most.
const HEAD_BYTES_MAX: usize = 2 * 1024;

/// One field.
#[derive(Debug, PartialEq)]
pub struct Part<'a> {
    /// Its name.
    pub name: &'a str,
    /// Was it a field for files?
    pub is_file: bool,
    /// What it holds; nothing if no file was chosen.
    pub bytes: &'a [u8],
}

/// The boundary that a content type names, if it is of this kind.
pub fn boundary(content_type: &str) -> Option<&str> {
    let mut parts = content_type.split(';').map(str::trim);
    let is_ours = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("multipart/form-data"));
    let named = parts.filter(|_| is_ours).find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.eq_ignore_ascii_case("boundary").then_some(value)
    })?;
    let bare = named.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(named);
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"'()+_,-./:=?".contains(&byte);
    ((1..=70).contains(&bare.len()) && bare.bytes().all(fits)).then_some(bare)
}

/// The fields of a body; none if it is not exactly such a form.
pub fn parts<'a>(body: &'a [u8], boundary: &str) -> Option<Vec<Part<'a>>> {
    let line = format!("--{boundary}");
    let end = format!("\r\n{line}");
    let mut rest = body.strip_prefix(line.as_bytes())?;
    let mut parts = Vec::new();
    loop {
        if let Some(behind) = rest.strip_prefix(b"--") {
            return matches!(behind, b"" | b"\r\n").then_some(parts);
        }
        rest = rest.strip_prefix(b"\r\n")?;
        let head_end = find(&rest[..rest.len().min(HEAD_BYTES_MAX)], b"\r\n\r\n")?;
        let (name, is_file) = named(std::str::from_utf8(&rest[..head_end]).ok()?)?;
        rest = &rest[head_end + 4..];
        let length = find(rest, end.as_bytes())?;
        parts.push(Part { name, is_file, bytes: &rest[..length] });
        rest = &rest[length + end.len()..];
        if parts.len() > PARTS_MAX {
            return None;
        }
    }
}

/// The name of a field, and whether it is one for files.
fn named(head: &str) -> Option<(&str, bool)> {
    let disposition = head.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-disposition").then_some(value.trim())
    })?;
    let mut rest = disposition.strip_prefix("form-data")?;
    let (mut name, mut is_file) = (None, false);
    while !rest.is_empty() {
        let (key, value) = rest.strip_prefix(';')?.trim_start().split_once("=\"")?;
        // Browsers write a quotation mark inside as %22, so the next one is the end.
        let (value, behind) = value.split_once('"')?;
        match key {
            "name" if name.is_none() => name = Some(value),
            "filename" => is_file = true,
            _ => return None,
        }
        rest = behind;
    }
    name.map(|name| (name, is_file))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "--xyz\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\nabc\r\n\
        --xyz\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a; b.csv\"\r\n\
        Content-Type: text/csv\r\n\r\nname\r\n--x\r\n\r\n--xyz--\r\n";

    #[test]
    fn fields_and_files_are_read_to_the_byte() {
        let parts = parts(GOOD.as_bytes(), "xyz").unwrap();
        assert_eq!(parts[0], Part { name: "token", is_file: false, bytes: b"abc" });
        assert_eq!(parts[1], Part { name: "file", is_file: true, bytes: b"name\r\n--x\r\n" });
        assert_eq!(super::parts(b"--xyz--", "xyz").unwrap(), []);
    }

    #[test]
    fn what_is_not_exactly_such_a_form_is_none() {
        for cut in 0..GOOD.len() - 2 {
            assert!(parts(&GOOD.as_bytes()[..cut], "xyz").is_none(), "{cut}");
        }
        let one = |disposition: &str| format!("--b\r\nContent-Disposition: {disposition}\r\n\r\nx\r\n--b--");
        assert!(parts(one("form-data; name=\"a\"").as_bytes(), "b").is_some());
        for bad in
            ["form-data", "attachment; name=\"a\"", "form-data; name=a", "form-data; name=\"a\"; name=\"b\""]
        {
            assert!(parts(one(bad).as_bytes(), "b").is_none(), "{bad}");
        }
        let many = one("form-data; name=\"a\"").replace("--b--", "").repeat(40) + "--b--";
        assert!(parts(many.as_bytes(), "b").is_none());
        let long = one(&format!("form-data; name=\"{}\"", "a".repeat(HEAD_BYTES_MAX)));
        assert!(parts(long.as_bytes(), "b").is_none());
    }

    #[test]
    fn a_boundary_is_short_and_plain() {
        assert_eq!(boundary("multipart/form-data; boundary=----WebKitX7"), Some("----WebKitX7"));
        assert_eq!(boundary("Multipart/Form-Data; charset=utf-8; Boundary=\"a b\""), None);
        assert_eq!(boundary("multipart/form-data; boundary=\"ab\""), Some("ab"));
        let long = format!("multipart/form-data; boundary={}", "a".repeat(71));
        for bad in
            ["multipart/mixed; boundary=a", "multipart/form-data", "multipart/form-data; boundary=", &long]
        {
            assert_eq!(boundary(bad), None, "{bad}");
        }
    }
}
