//! The codes of close frames: the reasons for closing a socket.

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $key:literal;)*) => {
        $($(#[$doc])* pub const $name: u16 = $code;)*

        /// All codes with their names.
        pub const ALL: &[(u16, &str)] = &[$(($name, $key),)*];
    };
}

codes! {
    /// Malformed message.
    MALFORMED = 4400, "malformed";
    /// Missing, wrong or late proof.
    UNAUTHENTICATED = 4401, "unauthenticated";
    /// Revoked key, or an origin that is not allowed.
    FORBIDDEN = 4403, "forbidden";
    /// The scopes of the key were changed; the next session has them.
    SCOPES = 4405, "scopes";
    /// The client reads too slowly; it resumes by event number.
    SLOW = 4408, "slow";
    /// No common protocol version.
    VERSION = 4409, "version";
    /// Too many sessions, messages or failures.
    RATE = 4429, "rate";
    /// The daemon is shutting down.
    DRAINING = 4503, "draining";
}
