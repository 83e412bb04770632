//! Tolerant parsing of the daemon's messages: messages of later versions and malformed ones are ignored.

use protocol::server::{Say, ServerMessage};

/// How a message is read; the code comes in a chunk.
pub type ReadMessage = fn(&str) -> Option<(Option<u32>, ServerMessage)>;

/// A message with the number of the request that it answers; `None` if it is unknown or malformed.
pub fn message(text: &str) -> Option<(Option<u32>, ServerMessage)> {
    let Say { id, say } = serde_json::from_str(text).ok()?;
    (say != ServerMessage::Unknown).then_some((id, say))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_passed_over() {
        assert_eq!(
            message(r#"{"id":3,"say":{"type":"pong","more":1}}"#),
            Some((Some(3), ServerMessage::Pong))
        );
        for text in
            ["", "{}", "pong", r#"{"say":{"type":"fireworks"}}"#, r#"{"say":{"type":"jobs"}}"#]
        {
            assert_eq!(message(text), None, "{text}");
        }
    }
}
