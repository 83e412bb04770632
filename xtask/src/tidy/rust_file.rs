//! Reads one Rust file as tokens: the paths it names, the items it defines and their docs. Comments, strings and code under
//! `#[cfg(test)]` do not count.

use core::str::FromStr;

use anyhow::anyhow;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A path in code, by segments: `crate::units::Bytes`. A leading `::` makes it a path into another crate, which is left out.
pub(super) type Path = Vec<String>;

/// One name that a `use` declaration binds; `*` for a glob.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) name: String,
    pub(super) path: Path,
    /// Inline modules around the declaration; each takes one `super`.
    pub(super) depth: usize,
}

/// A definition at the level of a module, or a member of a trait or an `impl` block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// The keyword: `struct`, `fn`, `mod`.
    pub(super) keyword: String,
    pub(super) name: String,
    pub(super) visibility: Visibility,
    pub(super) documented: bool,
    /// Stands in a trait or an `impl` block and not in a module.
    pub(super) is_member: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Visibility {
    Private,
    /// `pub(crate)`, `pub(super)`, `pub(in path)`.
    Restricted,
    Public,
}

#[derive(Debug, Default)]
pub(super) struct RustFile {
    pub(super) imports: Vec<Import>,
    /// Paths of two segments or more, outside `use` declarations, with the depth of inline modules.
    pub(super) paths: Vec<(Path, usize)>,
    pub(super) items: Vec<Item>,
    /// Child modules that are declared under `#[cfg(test)]`.
    pub(super) test_modules: Vec<String>,
}

impl RustFile {
    pub(super) fn read(text: &str) -> anyhow::Result<Self> {
        let tokens = TokenStream::from_str(text).map_err(|error| anyhow!("{error}"))?;
        let mut file = Self::default();
        file.read_module(&trees(tokens), 0);
        Ok(file)
    }

    /// Reads the items of a file or an inline module.
    fn read_module(&mut self, tokens: &[TokenTree], depth: usize) {
        let mut rest = tokens;
        while !rest.is_empty() {
            let (head, after) = Head::split(rest);
            let (body, next) = after.split_at(item_length(after));
            rest = next;
            self.read_item(&head, body, depth);
        }
    }

    fn read_item(&mut self, head: &Head, body: &[TokenTree], depth: usize) {
        let Some((keyword, name)) = keyword_and_name(body) else {
            if !head.for_tests {
                self.read_body(body, depth);
            }
            return;
        };
        if head.for_tests {
            if keyword == "mod" {
                self.test_modules.push(name);
            }
            return;
        }
        let inline = body.iter().find_map(|token| group(token, Delimiter::Brace));
        match (keyword.as_str(), inline) {
            ("mod", Some(inner)) => self.read_module(&inner, depth + 1),
            ("impl", Some(inner)) => self.read_members(&inner, Visibility::Private),
            ("trait", Some(inner)) => self.read_members(&inner, head.visibility),
            _ => {}
        }
        if keyword != "mod" {
            self.read_body(body, depth);
        }
        if keyword != "impl" && keyword != "use" {
            self.items.push(head.item(keyword, name, false));
        }
    }

    /// Reads the functions, types and constants of an `impl` block or a trait; in a trait they are as visible as the trait.
    fn read_members(&mut self, tokens: &[TokenTree], visibility: Visibility) {
        let mut rest = tokens;
        while !rest.is_empty() {
            let (mut head, after) = Head::split(rest);
            let (body, next) = after.split_at(item_length(after));
            rest = next;
            if visibility != Visibility::Private {
                head.visibility = visibility;
            }
            if let Some((keyword, name)) = keyword_and_name(body).filter(|_| !head.for_tests) {
                self.items.push(head.item(keyword, name, true));
            }
        }
    }

    /// Reads paths and `use` declarations at any depth of braces.
    fn read_body(&mut self, tokens: &[TokenTree], depth: usize) {
        let mut at = 0;
        while at < tokens.len() {
            if is_punct(&tokens[at], '#') {
                let (head, after) = Head::split(&tokens[at..]);
                if head.for_tests {
                    at = tokens.len() - after.len() + item_length(after);
                    continue;
                }
            }
            if let TokenTree::Group(inner) = &tokens[at] {
                self.read_body(&trees(inner.stream()), depth);
            } else if is_ident(&tokens[at], "use")
                && !tokens.get(at + 1).is_some_and(|next| is_punct(next, '<'))
            {
                let length = item_length(&tokens[at..]);
                self.read_use(&tokens[at + 1..at + length], &Vec::new(), depth);
                at += length;
                continue;
            } else if let Some((path, length)) = path_at(&tokens[at..]) {
                if path.len() > 1 && !ends_with_colons(&tokens[..at]) {
                    self.paths.push((path, depth));
                }
                at += length;
                continue;
            }
            at += 1;
        }
    }

    /// Reads a tree such as `crate::a::{self, B as C, d::*}` without its semicolon.
    fn read_use(&mut self, tokens: &[TokenTree], prefix: &Path, depth: usize) {
        for branch in tokens.split(|token| is_punct(token, ',') || is_punct(token, ';')) {
            if branch.first().is_some_and(|token| is_punct(token, ':')) {
                continue;
            }
            let mut path = prefix.clone();
            let mut name = None;
            for (at, token) in branch.iter().enumerate() {
                match token {
                    TokenTree::Ident(word) if at > 0 && is_ident(&branch[at - 1], "as") => {
                        name = Some(word.to_string());
                    }
                    TokenTree::Ident(word) if word != "as" => path.push(plain(&word.to_string())),
                    TokenTree::Punct(sign) if sign.as_char() == '*' => path.push("*".to_owned()),
                    TokenTree::Group(inner) => {
                        self.read_use(&trees(inner.stream()), &path, depth);
                        path.clear();
                    }
                    _ => {}
                }
            }
            if path.len() > prefix.len() {
                if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
                    path.pop();
                }
                let name = name.or_else(|| path.last().cloned()).unwrap_or_default();
                self.imports.push(Import { name, path, depth });
            }
        }
    }
}

/// Attributes and visibility in front of an item.
struct Head {
    visibility: Visibility,
    documented: bool,
    for_tests: bool,
}

impl Head {
    fn split(tokens: &[TokenTree]) -> (Self, &[TokenTree]) {
        let mut head =
            Self { visibility: Visibility::Private, documented: false, for_tests: false };
        let mut rest = tokens;
        loop {
            rest = match rest {
                [sign, TokenTree::Group(attribute), after @ ..] if is_punct(sign, '#') => {
                    let words = trees(attribute.stream());
                    head.documented |= words.first().is_some_and(|word| is_ident(word, "doc"));
                    head.for_tests |= is_for_tests(&words);
                    after
                }
                [sign, bang, TokenTree::Group(_), after @ ..]
                    if is_punct(sign, '#') && is_punct(bang, '!') =>
                {
                    after
                }
                [word, TokenTree::Group(scope), after @ ..]
                    if is_ident(word, "pub") && scope.delimiter() == Delimiter::Parenthesis =>
                {
                    head.visibility = Visibility::Restricted;
                    after
                }
                [word, after @ ..] if is_ident(word, "pub") => {
                    head.visibility = Visibility::Public;
                    after
                }
                _ => return (head, rest),
            }
        }
    }

    fn item(&self, keyword: String, name: String, is_member: bool) -> Item {
        let Self { visibility, documented, .. } = *self;
        Item { keyword, name, visibility, documented, is_member }
    }
}

/// Whether an attribute is `cfg(test)` or `cfg(all(test, …))`.
fn is_for_tests(attribute: &[TokenTree]) -> bool {
    let [cfg, TokenTree::Group(condition)] = attribute else { return false };
    let words = trees(condition.stream());
    match words.as_slice() {
        [word] => is_ident(cfg, "cfg") && is_ident(word, "test"),
        [all, TokenTree::Group(inner)] if is_ident(all, "all") => {
            is_ident(cfg, "cfg") && trees(inner.stream()).iter().any(|word| is_ident(word, "test"))
        }
        _ => false,
    }
}

const KEYWORDS: [&str; 12] = [
    "fn",
    "struct",
    "enum",
    "union",
    "trait",
    "type",
    "const",
    "static",
    "mod",
    "use",
    "impl",
    "macro_rules",
];

/// The keyword that says what an item is, and the name after it; modifiers such as `async` and `unsafe` are passed over.
fn keyword_and_name(body: &[TokenTree]) -> Option<(String, String)> {
    let words = body.iter().take_while(|token| !matches!(token, TokenTree::Group(_)));
    let words: Vec<String> = words.map(ToString::to_string).collect();
    let mut at = words.iter().position(|word| KEYWORDS.contains(&word.as_str()))?;
    let modifier = |word: &String| {
        ["async", "unsafe", "extern", "default", "const"].contains(&word.as_str())
            || word.starts_with('"')
    };
    if !words[..at].iter().all(modifier) {
        return None;
    }
    if words[at] == "const" && words[at..].iter().take(4).any(|word| word == "fn") {
        at += words[at..].iter().position(|word| word == "fn")?;
    }
    let name = words.get(at + if words[at] == "macro_rules" { 2 } else { 1 });
    Some((words[at].clone(), name.cloned().unwrap_or_default()))
}

/// How many tokens the item at the start has: to the first semicolon, or to the braces of a body.
fn item_length(tokens: &[TokenTree]) -> usize {
    let is_end =
        |token: &TokenTree| is_punct(token, ';') || group(token, Delimiter::Brace).is_some();
    let Some(end) = tokens.iter().position(is_end) else { return tokens.len() };
    let ends_with_semicolon = keyword_and_name(&tokens[..end])
        .is_some_and(|(keyword, _)| ["const", "static", "use", "type"].contains(&keyword.as_str()));
    let semicolon = tokens[end..].iter().position(|token| is_punct(token, ';'));
    end + 1 + semicolon.filter(|_| ends_with_semicolon).unwrap_or(0)
}

/// The path at the start and its number of tokens, if there is an identifier.
fn path_at(tokens: &[TokenTree]) -> Option<(Path, usize)> {
    let TokenTree::Ident(first) = tokens.first()? else { return None };
    let mut path = vec![plain(&first.to_string())];
    let mut length = 1;
    while let [colon, second, TokenTree::Ident(word), ..] = &tokens[length..] {
        if !is_punct(colon, ':') || !is_punct(second, ':') {
            break;
        }
        path.push(plain(&word.to_string()));
        length += 3;
    }
    Some((path, length))
}

/// Whether what follows is the rest of a path that began before, or of a path into another crate.
fn ends_with_colons(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [.., first, second] if is_punct(first, ':') && is_punct(second, ':'))
}

fn plain(word: &str) -> String {
    word.strip_prefix("r#").unwrap_or(word).to_owned()
}

fn trees(stream: TokenStream) -> Vec<TokenTree> {
    stream.into_iter().collect()
}

fn group(token: &TokenTree, delimiter: Delimiter) -> Option<Vec<TokenTree>> {
    match token {
        TokenTree::Group(group) if group.delimiter() == delimiter => Some(trees(group.stream())),
        _ => None,
    }
}

fn is_punct(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

fn is_ident(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}
