//! Starts the page.

fn main() {
    #[cfg(target_arch = "wasm32")]
    web::start();
    #[cfg(not(target_arch = "wasm32"))]
    eprintln!("This program runs in a browser; `cargo xtask serve` builds and serves it.");
}
