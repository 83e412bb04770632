//! What crosses the wire between the page and the daemon: versioned messages, and nothing that opens a socket.
