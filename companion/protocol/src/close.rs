//! Why a socket is closed, as the code of the close frame.

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $key:literal;)*) => {
        $($(#[$doc])* pub const $name: u16 = $code;)*

        /// All of them, with their names.
        pub const ALL: &[(u16, &str)] = &[$(($name, $key),)*];
    };
}

codes! {
    /// A message that is not of this protocol.
    MALFORMED = 4400, "malformed";
    /// No proof, a wrong one, or none in time.
    UNAUTHENTICATED = 4401, "unauthenticated";
    /// The key was taken back, or the origin is not allowed.
    FORBIDDEN = 4403, "forbidden";
    /// Too slow to take what it asked for; it resumes by sequence number.
    SLOW = 4408, "slow";
    /// No version in common.
    VERSION = 4409, "version";
    /// Too many sessions, messages or failures.
    RATE = 4429, "rate";
    /// The daemon ends.
    DRAINING = 4503, "draining";
}
