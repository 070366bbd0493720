//! Slack: a text for notifications and blocks for the eye. To an operator's own server, often Mattermost or
//! Rocket.Chat, `attachments` as well, since those ignore blocks.

use super::{Message, cut, one_line};
use serde_json::{Value, json};

const HEADER_CHARS_MAX: usize = 150;
const TEXT_CHARS_MAX: usize = 2_000;

/// The body of a message. `is_own` says that it goes to a server of the operator's.
pub fn body(message: &Message, is_own: bool) -> Value {
    let tame = |text: &str| {
        let line = cut(&one_line(text), TEXT_CHARS_MAX);
        escape(&if is_own { without_mentions(&line) } else { line })
    };
    let fields: Vec<Value> = message
        .facts
        .iter()
        .map(|(label, value)| json!({ "type": "mrkdwn", "text": format!("*{label}*\n{}", tame(value)) }))
        .collect();
    let title = format!("*<{}|{}>*", escape(&message.link), tame(&message.title).replace('|', "¦"));
    let mut body = json!({
        "text": tame(&message.one_line()),
        "blocks": [
            { "type": "header", "text": {
                "type": "plain_text", "text": cut(&message.headline, HEADER_CHARS_MAX), "emoji": false } },
            { "type": "section", "text": { "type": "mrkdwn", "text": title }, "fields": fields },
            { "type": "context", "elements": [{ "type": "mrkdwn", "text": tame(&message.footer) }] },
        ],
    });
    if is_own {
        let fields: Vec<Value> = message
            .facts
            .iter()
            .map(|(label, value)| json!({ "title": label, "value": tame(value), "short": true }))
            .collect();
        body["attachments"] = json!([{
            "fallback": tame(&message.one_line()),
            "color": message.tone.colour(),
            "title": tame(&message.title),
            "title_link": message.link,
            "text": tame(&message.footer),
            "fields": fields,
        }]);
    }
    body
}

/// The three characters that Slack reads as its own; without this `<!channel>` would call everybody.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Other servers call people by a plain `@all`: an invisible space keeps it text.
fn without_mentions(text: &str) -> String {
    text.replace('@', "@\u{200b}")
}

#[cfg(test)]
mod tests {
    use super::super::tests::hostile;
    use super::*;

    #[test]
    fn what_people_wrote_stays_text() {
        let body = body(&hostile(), false);
        let text = body.to_string();
        for raw in ["<!channel>", "<@U1>", "Bank <&>", "\\r\\nBcc"] {
            assert!(!text.contains(raw), "{raw} in {text}");
        }
        assert!(body["text"].as_str().unwrap().contains("&lt;!channel&gt; &amp; \"quote\""));
        assert_eq!(body["blocks"][0]["text"]["text"], "New finding");
        let title = body["blocks"][1]["text"]["text"].as_str().unwrap();
        assert!(title.starts_with("*<https://holdfast.example/findings/fnd_1|&lt;!channel&gt;"), "{title}");
        assert_eq!(body["blocks"][1]["fields"][0]["text"], "*Severity*\ncritical");
        assert!(body.get("attachments").is_none());
    }

    #[test]
    fn an_own_server_gets_attachments_and_no_mentions() {
        let body = body(&hostile(), true);
        assert_eq!(body["attachments"][0]["color"], "#b3261e");
        assert_eq!(body["attachments"][0]["title_link"], "https://holdfast.example/findings/fnd_1");
        assert_eq!(body["attachments"][0]["fields"][0]["value"], "critical");
        assert!(!body.to_string().contains("@all"));
    }
}
