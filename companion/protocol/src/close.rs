//! Why a socket is closed, as the code of the close frame.

/// A message that is not of this protocol.
pub const MALFORMED: u16 = 4400;
/// No proof, a wrong one, or none in time.
pub const UNAUTHENTICATED: u16 = 4401;
/// The key was taken back, or the origin is not allowed.
pub const FORBIDDEN: u16 = 4403;
/// Too slow to take what it asked for; it resumes by sequence number.
pub const SLOW: u16 = 4408;
/// No version in common.
pub const VERSION: u16 = 4409;
/// Too many sessions, messages or failures.
pub const RATE: u16 = 4429;
/// The daemon ends.
pub const DRAINING: u16 = 4503;
