//! Addresses of servers, and answers to GET over plain HTTP: nothing else is sent, no redirect is followed, times and bytes are limited.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, HOST};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

/// Longest time until a connection stands.
const CONNECT: Duration = Duration::from_secs(5);
/// Longest time of an answer; a busy llama.cpp answers between two steps, and a step of a long prompt takes seconds.
const ANSWER: Duration = Duration::from_secs(15);
/// Largest answer that is read, in bytes; vLLM with many models has some 100 kB of metrics.
const MAX_BYTES: usize = 8 << 20;
/// Largest head of an answer, in bytes.
const MAX_HEAD: usize = 64 << 10;

/// The address of a server, as its URL has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerUrl {
    host: String,
    port: u16,
    /// Host and port as they stand in the address.
    authority: String,
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}", self.authority)
    }
}

impl ServerUrl {
    /// Reads `http://host:port`.
    ///
    /// # Errors
    /// A sentence for every other address.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let usage = format!(
            "the address of a server is http:// with its host and port, such as http://127.0.0.1:8080; got {}",
            if text.trim().is_empty() { "none" } else { text }
        );
        let Ok(uri) = text.trim().parse::<Uri>() else { return Err(usage) };
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => {
                return Err(format!(
                    "{text}: https is not spoken here; use the server's own port on this machine, or a tunnel to it \
                     (ssh -L 8080:127.0.0.1:8080 HOST) and http://127.0.0.1:8080"
                ));
            }
            _ => return Err(usage),
        }
        let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        if host.is_empty() || authority.contains('@') {
            return Err(usage);
        }
        // A fragment is not a part of the parsed address.
        if !matches!(uri.path_and_query().map_or("/", |path| path.as_str()), "/" | "")
            || text.contains('#')
        {
            return Err(format!(
                "the address of a server ends after host and port; use http://{authority} instead of {text}"
            ));
        }
        // `host:99999` and `host:` have no port that can be read.
        let has_port = authority.rsplit(']').next().is_some_and(|rest| rest.contains(':'));
        let port = match uri.port_u16() {
            Some(port) if port > 0 => port,
            None if !has_port => 80,
            _ => return Err(usage),
        };
        Ok(Self { host, port, authority })
    }
}

impl ServerUrl {
    /// Whether the host is this machine, by an address of its own or as `localhost`.
    pub(super) fn is_here(&self) -> bool {
        let address = self.host.parse::<IpAddr>();
        address.map_or(self.host.eq_ignore_ascii_case("localhost"), |found| found.is_loopback())
    }
}

/// An answer with its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HttpAnswer {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
}

impl HttpAnswer {
    /// The body as text, if the server answered with content.
    pub(super) fn text(&self) -> Option<&str> {
        let body = std::str::from_utf8(&self.body).ok();
        body.filter(|_| self.status == 200)
    }
}

/// Asks one server.
#[derive(Debug)]
pub(super) struct Client {
    address: ServerUrl,
    /// Longest time of an answer.
    limit: Duration,
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

impl Drop for Client {
    fn drop(&mut self) {
        // A name that is still being looked up must not hold the program up.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Client {
    /// A client without a connection.
    ///
    /// # Errors
    /// The system has no room for a runtime.
    pub(super) fn new(address: ServerUrl) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self { address, limit: ANSWER, runtime: Some(runtime) })
    }

    /// The answer to GET of a path.
    ///
    /// # Errors
    /// A sentence that names the address.
    pub(super) fn get(&self, path: &str) -> Result<HttpAnswer, String> {
        let runtime = self.runtime.as_ref().expect("it is there until it is dropped");
        runtime.block_on(async {
            let connected = timeout(CONNECT, self.connect()).await;
            let stream = connected
                .unwrap_or_else(|_| Err(format!("no connection within {} s", CONNECT.as_secs())));
            let stream = stream.map_err(|why| format!("{}: {why}", self.address))?;
            let answered = timeout(self.limit, self.ask(stream, path)).await;
            let answered = answered.unwrap_or_else(|_| {
                Err(format!("the answer is not complete after {} s", self.limit.as_secs_f64()))
            });
            answered.map_err(|why| format!("{}{path}: {why}", self.address))
        })
    }

    async fn connect(&self) -> Result<TcpStream, String> {
        let ServerUrl { host, port, .. } = &self.address;
        let mut found = tokio::net::lookup_host((host.as_str(), *port))
            .await
            .map_err(|error| format!("the host is not known here ({error})"))?
            .peekable();
        if found.peek().is_none() {
            return Err("the host has no address".to_owned());
        }
        let mut last = String::new();
        let is_here = self.address.is_here();
        for address in found {
            if is_here && !address.ip().is_loopback() {
                "localhost is not this machine".clone_into(&mut last);
                continue;
            }
            match TcpStream::connect(address).await {
                Ok(stream) => return Ok(stream),
                Err(error) => last = format!("nothing answers at this port ({error})"),
            }
        }
        Err(last)
    }

    async fn ask(&self, stream: TcpStream, path: &str) -> Result<HttpAnswer, String> {
        let mut builder = http1::Builder::new();
        let hands = builder.max_buf_size(MAX_HEAD).handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = hands.map_err(|error| said(&error))?;
        // The connection moves the bytes; its errors reach the answer, too.
        let moving = tokio::spawn(connection);
        let request = Request::get(path)
            .header(HOST, &self.address.authority)
            .header(CONNECTION, "close")
            .body(String::new())
            .map_err(|error| error.to_string())?;
        let answer = sender.send_request(request).await.map_err(|error| said(&error))?;
        let status = answer.status().as_u16();
        let body = body(answer.into_body()).await;
        moving.abort();
        Ok(HttpAnswer { status, body: body? })
    }
}

async fn body(mut body: Incoming) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|error| format!("the answer stopped midway ({error})"))?;
        let data = frame.data_ref().map(AsRef::as_ref).unwrap_or_default();
        if bytes.len() + data.len() > MAX_BYTES {
            return Err(format!("the answer is longer than the {MAX_BYTES} bytes that are read"));
        }
        bytes.extend_from_slice(data);
    }
    Ok(bytes)
}

fn said(error: &hyper::Error) -> String {
    if error.is_parse() || error.is_parse_too_large() {
        "the answer is not HTTP".to_owned()
    } else if error.is_incomplete_message() {
        "the connection was closed before an answer".to_owned()
    } else {
        format!("no answer ({error})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_host_and_a_port() {
        for (text, host, port) in [
            ("http://127.0.0.1:8080", "127.0.0.1", 8080),
            ("http://localhost:8000/", "localhost", 8000),
            (" http://[::1]:30000 ", "::1", 30000),
            ("http://gpu-box", "gpu-box", 80),
            ("http://[::1]", "::1", 80),
        ] {
            let address = ServerUrl::parse(text).expect(text);
            assert_eq!((address.host.as_str(), address.port), (host, port), "{text}");
        }
    }

    #[test]
    fn a_server_that_drips_is_left_after_the_limit() {
        use std::io::{BufRead, BufReader, Write};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("bound"));
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            // An answer before the request would be none.
            let mut asked = BufReader::new(stream.try_clone().expect("a socket")).lines();
            while asked.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            // Complete after a minute, so that a loaded machine does not end it before the limit.
            let head = b"HTTP/1.1 200 OK\r\nContent-Length: 6000\r\n\r\n";
            let mut alive = stream.write_all(head).is_ok();
            while alive {
                std::thread::sleep(Duration::from_millis(10));
                alive = stream.write_all(b".").is_ok();
            }
        });
        let mut client =
            Client::new(ServerUrl::parse(&address).expect("an address")).expect("room");
        client.limit = Duration::from_millis(200);
        let said = client.get("/metrics").expect_err("it drips");
        assert!(said.contains("/metrics: the answer is not complete after 0.2 s"), "{said}");
    }

    #[test]
    fn other_addresses_are_refused_with_what_to_do() {
        for (text, expected) in [
            ("https://a:1", "ssh -L"),
            ("http://a:1/v1", "use http://a:1 instead"),
            ("http://a:1?x=1", "use http://a:1 instead"),
            ("http://a:1/#x", "use http://a:1 instead"),
            ("http://user:secret@a:1", "such as http://127.0.0.1:8080"),
            ("http://a:0", "such as"),
            ("http://a:99999", "such as"),
            ("http://a:", "such as"),
            ("http://:80", "such as"),
            ("a:8080", "such as"),
            ("ftp://a", "such as"),
            ("127.0.0.1", "such as"),
            ("http://", "such as"),
            ("", "such as"),
            ("http://a b", "such as"),
        ] {
            let said = ServerUrl::parse(text).expect_err(text);
            assert!(said.contains(expected), "{text}: {said}");
        }
    }
}
