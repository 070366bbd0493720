//! Small pieces of markup that a template cannot write by itself. Every text is escaped here.

use serde_json::Value;

/// Text for HTML, also inside attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// A sentence whose `words` between grave accents are code.
pub fn sentence(text: &str) -> String {
    let mut out = String::new();
    for (position, part) in text.split('`').enumerate() {
        let escaped = escape(part);
        match position % 2 {
            1 => out.push_str(&format!("<code>{escaped}</code>")),
            _ => out.push_str(&escaped),
        }
    }
    out
}

/// JSON over several lines, its names and values marked for colour.
pub fn json(value: &Value) -> String {
    let mut out = String::new();
    write_json(&mut out, value, 0);
    out
}

fn write_json(out: &mut String, value: &Value, depth: usize) {
    let pad = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    };
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            out.push('{');
            for (position, (name, value)) in fields.iter().enumerate() {
                pad(out, depth + 1);
                out.push_str(&format!("<span class=\"tok-k\">&quot;{}&quot;</span>: ", escape(name)));
                write_json(out, value, depth + 1);
                out.push_str(if position + 1 < fields.len() { "," } else { "" });
            }
            pad(out, depth);
            out.push('}');
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            out.push('[');
            for (position, item) in items.iter().enumerate() {
                pad(out, depth + 1);
                write_json(out, item, depth + 1);
                out.push_str(if position + 1 < items.len() { "," } else { "" });
            }
            pad(out, depth);
            out.push(']');
        }
        Value::Array(items) => {
            out.push('[');
            for (position, item) in items.iter().enumerate() {
                out.push_str(if position > 0 { ", " } else { "" });
                write_json(out, item, depth);
            }
            out.push(']');
        }
        Value::String(text) => {
            let quoted = escape(&Value::from(text.as_str()).to_string());
            out.push_str(&format!("<span class=\"tok-s\">{quoted}</span>"));
        }
        Value::Object(_) => out.push_str("{}"),
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            out.push_str(&format!("<span class=\"tok-n\">{value}</span>"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_gets_through_unescaped() {
        let hostile = "<img src=x onerror='a'>&\"`<b>`";
        for markup in
            [escape(hostile), sentence(hostile), super::json(&json!({ hostile: [hostile, { hostile: 1 }] }))]
        {
            assert!(
                !markup.contains("<img") && !markup.contains("<b>") && !markup.contains('\''),
                "{markup}"
            );
        }
        assert_eq!(sentence("only `a` and `b`"), "only <code>a</code> and <code>b</code>");
        let text = super::json(&json!({ "a": 1, "b": ["x", "y"], "c": [{}] }));
        let plain = text.replace("<span class=\"tok-k\">", "").replace("<span class=\"tok-s\">", "");
        let plain =
            plain.replace("<span class=\"tok-n\">", "").replace("</span>", "").replace("&quot;", "\"");
        assert_eq!(
            serde_json::from_str::<Value>(&plain).unwrap(),
            json!({ "a": 1, "b": ["x", "y"], "c": [{}] })
        );
    }
}
