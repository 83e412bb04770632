//! Prints the answer at the bare address as HTML, for `cargo xtask site`.

fn main() {
    println!("{}", web::state::first_answer::first_answer());
}
