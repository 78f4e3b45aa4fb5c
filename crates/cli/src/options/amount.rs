//! Numbers as people write them: `1e9` documents, `16GiB`.

use benzer_core::plan::Preset;

/// A whole number, also as `1e9` or `1_000_000`.
pub fn count(text: &str) -> Result<u64, String> {
    let plain = text.replace('_', "");
    let whole = |value: &f64| value.fract() == 0.0 && (0.0..=1e18).contains(value);
    let number = plain.parse().ok().or_else(|| plain.parse().ok().filter(whole).map(|value| value as u64));
    number.ok_or_else(|| "expected a whole number such as 1000000 or 1e9".to_owned())
}

/// A number of bytes with a unit of 1024 (`KiB`, `MiB`, ..., or just `K`, `M`) or 1000 (`kB`, `MB`, ...).
pub fn bytes(text: &str) -> Result<u64, String> {
    let bad = || "expected a size such as 16GiB, 900MB or 1000000".to_owned();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ').len();
    let value: f64 = text[..digits].parse().map_err(|_| bad())?;
    let unit = text[digits..].trim().to_ascii_lowercase();
    let power = |base: f64, unit: &str| "kmgtp".find(unit).map(|i| base.powi(i as i32 + 1));
    let scale = match unit.strip_suffix("ib").or(Some(&*unit).filter(|unit| unit.len() == 1 && *unit != "b"))
    {
        Some(prefix) if prefix.len() == 1 => power(1024.0, prefix),
        Some(_) => None,
        None => match unit.strip_suffix('b') {
            Some("") => Some(1.0),
            Some(prefix) if prefix.len() == 1 => power(1000.0, prefix),
            Some(_) => None,
            None => unit.is_empty().then_some(1.0),
        },
    };
    let size = value * scale.ok_or_else(bad)?;
    if (1.0..1e19).contains(&size) { Ok(size as u64) } else { Err(bad()) }
}

/// A preset by its name.
pub fn preset(name: &str) -> Result<Preset, String> {
    Preset::named(name).map_err(|_| {
        let names: Vec<&str> = Preset::ALL.iter().map(|preset| preset.name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

/// So many threads, or as many as the machine has cores.
pub fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_sizes_are_read_as_people_write_them() {
        assert_eq!(["7", "1e9", "2.5e3", "1_000"].map(count), [Ok(7), Ok(1_000_000_000), Ok(2500), Ok(1000)]);
        let sizes = ["16GiB", "16G", "16 gib", "1.5KiB", "900MB", "900", "900 b", "1kB", "2T"];
        let expected = [16 << 30, 16 << 30, 16 << 30, 1536, 900_000_000, 900, 900, 1000, 2 << 40];
        assert_eq!(sizes.map(bytes), expected.map(Ok));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "-1", "1.5", "nan", "inf", "1e30", "many"] {
            assert!(count(text).is_err(), "{text}");
        }
        for text in ["", "GiB", "-1GiB", "0", "16XiB", "nan", "1e30GiB", "16GiBB", "1é"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        assert!(preset("dolma").unwrap_err().contains("fineweb, nemo"));
    }
}
