//! The modules of a crate, one per file, and which of them uses which.

use std::collections::{BTreeMap, BTreeSet};

use super::rust_file::{Import, RustFile};

/// Modules by path, such as `catalog::models`; the root is empty. Modules of tests are left out.
pub(super) struct CrateModules {
    /// As in code: `calc_core`.
    name: String,
    modules: BTreeMap<String, RustFile>,
}

/// The names that one module takes from another.
pub(super) type Uses = BTreeMap<(String, String), BTreeSet<String>>;

/// What a path names: an item in the module that defines it, or a module where `item` is `None`.
struct Target {
    module: String,
    item: Option<String>,
    /// The definition was seen; otherwise a macro may have made it.
    seen: bool,
}

/// Longer chains of `use` declarations are circles of their own.
const LONGEST_CHAIN: usize = 8;

impl CrateModules {
    /// `files` are paths below `src` and their code.
    pub(super) fn new(name: &str, files: impl IntoIterator<Item = (String, RustFile)>) -> Self {
        let mut modules: BTreeMap<String, RustFile> =
            files.into_iter().map(|(path, code)| (module_of(&path), code)).collect();
        if !modules.contains_key("") {
            if let Some(root) = modules.remove("main") {
                modules.insert(String::new(), root);
            }
        }
        let tests: Vec<String> = modules
            .iter()
            .flat_map(|(path, code)| code.test_modules.iter().map(|name| child(path, name)))
            .collect();
        let below = |path: &str, test: &str| {
            path.strip_prefix(test).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        modules.retain(|path, _| !tests.iter().any(|test| below(path, test)));
        Self { name: name.replace('-', "_"), modules }
    }

    pub(super) fn modules(&self) -> impl Iterator<Item = (&str, &RustFile)> {
        self.modules.iter().map(|(path, code)| (path.as_str(), code))
    }

    pub(super) fn uses(&self) -> Uses {
        let mut uses = Uses::new();
        for (from, code) in &self.modules {
            let imported = code.imports.iter().map(|import| (&import.path, import.depth));
            let named = code.paths.iter().map(|(path, depth)| (path, *depth));
            for (path, depth) in imported.chain(named) {
                let Some(target) = self.target(from, depth, path, LONGEST_CHAIN) else { continue };
                let Some(item) = target.item else { continue };
                if !is_at_or_above(&target.module, from) {
                    uses.entry((from.clone(), target.module)).or_default().insert(item);
                }
            }
        }
        uses
    }

    /// What `path` names in the module `from`, under `depth` inline modules. `None` is another crate, or a local type.
    fn target(&self, from: &str, depth: usize, path: &[String], hops: usize) -> Option<Target> {
        let hops = hops.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.walk("", rest, hops),
            "self" => self.walk(from, rest, hops),
            "super" => {
                let supers = path.iter().take_while(|word| *word == "super").count();
                let outer = (depth..supers).try_fold(from, |module, _| parent(module))?;
                self.walk(outer, &path[supers..], hops)
            }
            name if name == self.name && !self.modules.contains_key(name) => {
                self.walk("", rest, hops)
            }
            _ => self.walk(from, path, hops).filter(|target| target.seen),
        }
    }

    /// Follows `path` from a module down.
    fn walk(&self, module: &str, path: &[String], hops: usize) -> Option<Target> {
        let Some((first, rest)) = path.split_first() else {
            return Some(Target { module: module.to_owned(), item: None, seen: true });
        };
        let below = child(module, first);
        if self.modules.contains_key(&below) {
            return self.walk(&below, rest, hops);
        }
        let code = self.modules.get(module)?;
        let item = |seen| Target { module: module.to_owned(), item: Some(first.clone()), seen };
        if code.items.iter().any(|item| !item.is_member && item.name == *first) {
            return Some(item(true));
        }
        let through = |import: &Import, rest: &[String]| {
            let path = [&import.path, rest].concat();
            self.target(module, import.depth, &path, hops)
        };
        if let Some(import) = code.imports.iter().find(|import| import.name == *first) {
            return through(import, rest);
        }
        let globs = code.imports.iter().filter(|import| import.name == "*" && first != "*");
        let mut found = globs.filter_map(|import| {
            let (_, path) = import.path.split_last()?;
            self.target(module, import.depth, &[path, &[first.clone()], rest].concat(), hops)
        });
        found.find(|target| target.seen).or_else(|| Some(item(false)))
    }
}

/// `catalog/models.rs` is `catalog::models`, `lib.rs` the root.
fn module_of(path: &str) -> String {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    if stem == "lib" { String::new() } else { stem.replace('/', "::") }
}

fn child(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

fn parent(module: &str) -> Option<&str> {
    if module.is_empty() {
        return None;
    }
    Some(module.rsplit_once("::").map_or("", |(parent, _)| parent))
}

/// Whether `module` is `of` itself or the file of a folder that it lies in.
fn is_at_or_above(module: &str, of: &str) -> bool {
    let rest = of.strip_prefix(module);
    module.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}
