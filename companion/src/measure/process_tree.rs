//! Memory of a program and of all processes that it started, from Linux's procfs.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// Memory of a tree of processes at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TreeMemory {
    /// Number of processes.
    pub(crate) processes: u64,
    /// Sum of their resident memory [B]; pages that processes share count in each.
    pub(crate) rss: u64,
    /// The largest amount that any one of them has had [B].
    pub(crate) most_of_one: u64,
}

/// Reads all descendants of a process, without itself. `root` is `/` but in tests.
pub(crate) fn below(root: &Path, process: u32) -> TreeMemory {
    let mut all = TreeMemory::default();
    let mut parents = None;
    let mut open = children(root, process, &mut parents);
    while let Some(process) = open.pop() {
        if let Some((rss, most)) = memory(root, process) {
            all.processes += 1;
            all.rss += rss;
            all.most_of_one = all.most_of_one.max(most);
        }
        open.extend(children(root, process, &mut parents));
    }
    all
}

/// Children by parent, for kernels that do not list the children of a process.
type Parents = Option<HashMap<u32, Vec<u32>>>;

fn children(root: &Path, process: u32, parents: &mut Parents) -> Vec<u32> {
    let threads = fs::read_dir(root.join(format!("proc/{process}/task"))).into_iter().flatten();
    let mut found = Vec::new();
    let mut lists = false;
    for thread in threads.flatten() {
        // Each thread lists the processes that it started. A thread may end meanwhile.
        if let Ok(text) = fs::read_to_string(thread.path().join("children")) {
            lists = true;
            found.extend(text.split_whitespace().filter_map(|word| word.parse::<u32>().ok()));
        }
    }
    if lists {
        return found;
    }
    let parents = parents.get_or_insert_with(|| by_parent(root));
    parents.get(&process).cloned().unwrap_or_default()
}

fn by_parent(root: &Path) -> HashMap<u32, Vec<u32>> {
    let mut all: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in fs::read_dir(root.join("proc")).into_iter().flatten().flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // The program's name may hold blanks and brackets; state and parent follow the last bracket.
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1));
        if let Some(parent) = parent.and_then(|word| word.parse().ok()) {
            all.entry(parent).or_default().push(process);
        }
    }
    all
}

/// Resident memory now and at most [B]. `None` for a process that has ended.
fn memory(root: &Path, process: u32) -> Option<(u64, u64)> {
    let status = fs::read_to_string(root.join(format!("proc/{process}/status"))).ok()?;
    let of = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key))?;
        Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
    };
    let rss = of("VmRSS:")?;
    Some((rss, of("VmHWM:").unwrap_or(rss)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn machine(name: &str) -> PathBuf {
        let root = std::env::temp_dir().join(format!("tree-{}-{name}", std::process::id()));
        for (process, parent, rss, most) in [(2, 1, 100, 300), (3, 2, 50, 50), (9, 1, 7, 7)] {
            let stat = format!("{process} (a ) b) S {parent} 0 0");
            write(&root, &format!("proc/{process}/stat"), &stat);
            let status = format!("Name:\tx\nVmHWM:\t {most} kB\nVmRSS:\t {rss} kB\n");
            write(&root, &format!("proc/{process}/status"), &status);
        }
        root
    }

    #[test]
    fn descendants_are_found_with_and_without_lists_of_children() {
        let expected = TreeMemory { processes: 3, rss: 157 * 1024, most_of_one: 300 * 1024 };
        let scanned = machine("scanned");
        assert_eq!(below(&scanned, 1), expected);
        assert_eq!(below(&scanned, 2).rss, 50 * 1024);
        let listed = machine("listed");
        // Two threads; process 4 has ended already.
        for (path, text) in [
            ("proc/1/task/1/children", "2 "),
            ("proc/1/task/5/children", "9 4 "),
            ("proc/2/task/2/children", "3 "),
            ("proc/3/task/3/children", ""),
            ("proc/9/task/9/children", ""),
        ] {
            write(&listed, path, text);
        }
        assert_eq!(below(&listed, 1), expected);
        for root in [scanned, listed] {
            fs::remove_dir_all(root).unwrap();
        }
    }
}
