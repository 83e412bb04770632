//! How an answer is said.
