//! How much memory there is to share out.

use std::fs;
use std::path::Path;

/// Half of the machine's memory, or of what the group of this process may have if that is less, as Linux tells it.
pub fn half_of_memory() -> u64 {
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = total(&meminfo).into_iter().chain(limit_of_group(&groups, Path::new("/sys/fs/cgroup")));
    limits.min().map_or(4 << 30, |bytes| bytes / 2)
}

fn total(meminfo: &str) -> Option<u64> {
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(total.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
}

/// The least that the group of a process, or one around it, may have: lines `number:controllers:path` name it, in either version of groups. Inside of a container the path may be that of the host, and the
/// container is at the top.
fn limit_of_group(groups: &str, mounted: &Path) -> Option<u64> {
    let limits = groups.lines().filter_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let (top, name) = match controllers {
            "" => (mounted.to_owned(), "memory.max"),
            controllers if controllers.split(',').any(|name| name == "memory") => {
                (mounted.join("memory"), "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let group = Path::new(path.trim_start_matches('/'));
        let limit = |group: &Path| fs::read_to_string(top.join(group).join(name)).ok()?.trim().parse().ok();
        group.ancestors().filter_map(limit).min()
    });
    limits.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_limit_of_all_groups_around_a_process_counts() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, content: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        };
        let limit = |groups: &str| limit_of_group(groups, folder.path());
        assert_eq!(limit("0::/a/b\n"), None);
        write("a/b/memory.max", "max\n");
        assert_eq!(limit("0::/a/b\n"), None);
        write("a/memory.max", "4096\n");
        assert_eq!(limit("0::/a/b\n"), Some(4096));
        write("a/b/memory.max", "1024\n");
        assert_eq!(limit("1:name=x:/\n0::/a/b\n"), Some(1024));
        write("memory/memory.limit_in_bytes", "2048\n");
        assert_eq!(limit("4:cpu,memory:/of/the/host\n0::/\n"), Some(2048));
        assert_eq!(limit("4:cpu:/of/the/host\n"), None);
        assert_eq!(limit("nonsense"), None);
    }

    #[test]
    fn the_machine_says_how_much_it_has() {
        assert_eq!(total("MemFree: 1 kB\nMemTotal:       24684056 kB\n"), Some(24_684_056 << 10));
        assert_eq!(total(""), None);
        assert!(half_of_memory() > 0);
    }
}
