//! Mail: a subject, a plain part and an HTML part. The letter itself is put together by a library.

use super::{Message, cut, one_line};

const SUBJECT_CHARS_MAX: usize = 180;

/// The parts of a letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// One line.
    pub subject: String,
    /// Plain text.
    pub text: String,
    /// HTML without anything from outside.
    pub html: String,
}

/// The letter of a message.
pub fn letter(message: &Message) -> Letter {
    Letter {
        subject: cut(&format!("[Holdfast] {}", message.one_line()), SUBJECT_CHARS_MAX),
        text: plain(message),
        html: html(message),
    }
}

fn plain(message: &Message) -> String {
    let mut out = format!("{}\n{}\n\n", message.headline, one_line(&message.title));
    for (label, value) in &message.facts {
        out.push_str(&format!("{:<10}{}\n", format!("{label}:"), one_line(value)));
    }
    out.push_str(&format!("\n{}\n\n-- \n{}\n", message.link, one_line(&message.footer)));
    out
}

fn html(message: &Message) -> String {
    let rows: String = message
        .facts
        .iter()
        .map(|(label, value)| {
            format!(
                "<tr><th align=\"left\" style=\"padding:2px 16px 2px 0\">{label}</th><td>{}</td></tr>",
                escape(&one_line(value))
            )
        })
        .collect();
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{headline}</title></head>\
         <body style=\"font-family:sans-serif;line-height:1.4\">\
         <p style=\"border-left:4px solid {colour};padding-left:12px;margin:0 0 12px\">\
         <strong>{headline}</strong><br>{title}</p><table>{rows}</table>\
         <p><a href=\"{link}\">Open in Holdfast</a></p>\
         <p style=\"color:#555;font-size:90%\">{footer}</p></body></html>",
        headline = escape(&message.headline),
        title = escape(&one_line(&message.title)),
        colour = message.tone.colour(),
        link = escape(&message.link),
        footer = escape(&one_line(&message.footer)),
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::tests::hostile;
    use super::*;

    #[test]
    fn nothing_that_people_wrote_gets_out_of_its_place() {
        let letter = letter(&hostile());
        assert!(letter.subject.starts_with("[Holdfast] New finding (critical): <!channel>"));
        assert!(
            !letter.subject.contains(['\r', '\n']) && letter.subject.chars().count() <= SUBJECT_CHARS_MAX
        );
        assert!(!letter.html.contains("<!channel>") && letter.html.contains("&lt;!channel&gt;"));
        assert!(!letter.text.contains("\nBcc:"));
        for part in [&letter.text, &letter.html] {
            assert!(part.contains("https://holdfast.example/findings/fnd_1"), "{part}");
            assert!(part.contains("critical") && part.contains("2026-11-22"), "{part}");
        }
    }
}
