//! Teams: one Adaptive Card in the message envelope that Workflows take.

use super::{Message, Tone, cut, one_line};
use serde_json::{Value, json};

const TEXT_CHARS_MAX: usize = 2_000;

/// The body of a message.
pub fn body(message: &Message) -> Value {
    let facts: Vec<Value> =
        message.facts.iter().map(|(label, value)| json!({ "title": label, "value": tame(value) })).collect();
    let card = json!({
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "fallbackText": tame(&message.one_line()),
        "body": [
            { "type": "TextBlock", "text": message.headline, "weight": "Bolder", "size": "Medium",
              "color": colour(message.tone), "wrap": true },
            { "type": "TextBlock", "text": tame(&message.title), "wrap": true },
            { "type": "FactSet", "facts": facts },
            { "type": "TextBlock", "text": tame(&message.footer), "isSubtle": true, "size": "Small", "wrap": true },
        ],
        "actions": [{ "type": "Action.OpenUrl", "title": "Open in Holdfast", "url": message.link }],
    });
    json!({
        "type": "message",
        "attachments": [{
            "contentType": "application/vnd.microsoft.card.adaptive",
            "contentUrl": null,
            "content": card,
        }],
    })
}

/// Cards read a little Markdown: without its signs no link and no emphasis is made of people's words.
fn tame(text: &str) -> String {
    let mut out = String::new();
    for char in cut(&one_line(text), TEXT_CHARS_MAX).chars() {
        if matches!(char, '\\' | '[' | ']' | '*' | '_' | '`' | '<') {
            out.push('\\');
        }
        out.push(char);
    }
    out
}

fn colour(tone: Tone) -> &'static str {
    match tone {
        Tone::Alarm => "Attention",
        Tone::Warning => "Warning",
        Tone::Notice => "Default",
        Tone::Good => "Good",
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::hostile;
    use super::*;

    #[test]
    fn one_card_with_its_link_and_no_markdown_of_peoples() {
        let body = body(&hostile());
        assert_eq!(body["type"], "message");
        let card = &body["attachments"][0]["content"];
        assert_eq!(card["type"], "AdaptiveCard");
        assert_eq!(card["body"][0]["color"], "Attention");
        let title = card["body"][1]["text"].as_str().unwrap();
        assert!(title.contains("\\[a\\](http://b)"), "{title}");
        assert!(!title.contains('\n'));
        assert_eq!(card["body"][2]["facts"][0], json!({ "title": "Severity", "value": "critical" }));
        assert_eq!(card["actions"][0]["url"], "https://holdfast.example/findings/fnd_1");
        assert!(body.to_string().len() < 28_000);
    }
}
