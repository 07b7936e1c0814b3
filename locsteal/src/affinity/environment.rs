//! The `LOCSTEAL_..` environment variables.
//!
//! | variable | accepted | meaning |
//! | --- | --- | --- |
//! | `LOCSTEAL_THREADS` | 1 to 4,096 | seats of a pool that is not told how many |
//! | `LOCSTEAL_PLACEMENT` | `free`, `llc` or `cpu` | placement of a pool that is not told which |
//! | `LOCSTEAL_SPIN` | a duration up to 1 s: `0`, `50` (microseconds), `50us`, `1.5ms`, `1s` | how long an idle worker spins before it sleeps |
//!
//! A value that is not accepted is reported once on standard error and has no effect.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::Placement;
use crate::grown::Grown;

/// The most seats that the environment can ask for. More is a mistake: it would be a thread each.
pub(crate) const MAX_THREADS: usize = 4096;

const MAX_SPIN: Duration = Duration::from_secs(1);

const THREADS: &str = "LOCSTEAL_THREADS";
const PLACEMENT: &str = "LOCSTEAL_PLACEMENT";
const SPIN: &str = "LOCSTEAL_SPIN";

/// What the environment asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) threads: Option<usize>,
    pub(crate) placement: Option<Placement>,
    pub(crate) spin: Option<Duration>,
}

/// A variable whose value is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadVariable {
    name: &'static str,
    value: OsString,
    accepted: &'static str,
}

impl fmt::Display for BadVariable {
    #[expect(
        clippy::unnecessary_debug_formatting,
        reason = "quoted and escaped, blanks and bytes that are no text show"
    )]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value, accepted } = self;
        write!(f, "locsteal: {name}={value:?} is ignored: it must be {accepted}")
    }
}

/// What the environment of this process asks for: read, and complained about, the first time.
pub(crate) fn settings() -> &'static Settings {
    static SETTINGS: Grown<Settings> = Grown::new();
    static SAID: AtomicBool = AtomicBool::new(false);
    SETTINGS.newest_or_add(|| {
        let (settings, bad) = Settings::read(std::env::var_os);
        if bad.is_empty() || SAID.swap(true, Ordering::Relaxed) {
            return settings;
        }
        for variable in bad {
            // `eprintln!` would panic where standard error is closed.
            use std::io::Write;
            let _ = writeln!(std::io::stderr(), "{variable}");
        }
        settings
    })
}

impl Settings {
    /// Reads the variables by this function; gives those that are not accepted besides.
    pub(crate) fn read(
        variable: impl Fn(&'static str) -> Option<OsString>,
    ) -> (Self, Vec<BadVariable>) {
        let mut bad = Vec::new();
        let settings = Self {
            threads: take(THREADS, &variable, threads, "a number from 1 to 4096", &mut bad),
            placement: take(PLACEMENT, &variable, placement, "free, llc or cpu", &mut bad),
            spin: take(
                SPIN,
                &variable,
                duration,
                "a duration from 0 to 1s, in microseconds or with a unit (ns, us, ms, s), e.g. 50us",
                &mut bad,
            ),
        };
        (settings, bad)
    }
}

fn take<T>(
    name: &'static str,
    variable: &impl Fn(&'static str) -> Option<OsString>,
    parse: fn(&str) -> Option<T>,
    accepted: &'static str,
    bad: &mut Vec<BadVariable>,
) -> Option<T> {
    let value = variable(name)?;
    let parsed = OsStr::to_str(&value).map(str::trim).and_then(parse);
    if parsed.is_none() {
        bad.push(BadVariable { name, value, accepted });
    }
    parsed
}

fn threads(text: &str) -> Option<usize> {
    text.parse().ok().filter(|threads| (1..=MAX_THREADS).contains(threads))
}

fn placement(text: &str) -> Option<Placement> {
    [Placement::Free, Placement::Llc, Placement::Cpu]
        .into_iter()
        .find(|placement| text.eq_ignore_ascii_case(placement.name()))
}

/// A number of microseconds, or a number and a unit; fractions are allowed.
fn duration(text: &str) -> Option<Duration> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let seconds_per_unit = match unit.trim_start() {
        "ns" => 1e-9,
        "" | "us" | "µs" | "μs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return None,
    };
    let seconds = number.parse::<f64>().ok()? * seconds_per_unit;
    Duration::try_from_secs_f64(seconds).ok().filter(|duration| *duration <= MAX_SPIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> (Settings, Vec<String>) {
        let (settings, bad) = Settings::read(|name| {
            variables.iter().find(|(found, _)| *found == name).map(|(_, value)| value.into())
        });
        (settings, bad.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn nothing_set_asks_for_nothing() {
        assert_eq!(read(&[]), (Settings::default(), vec![]));
    }

    #[test]
    fn takes_what_is_accepted() {
        for (text, threads) in [("1", 1), ("8", 8), (" 16\n", 16), ("4096", 4096)] {
            assert_eq!(read(&[(THREADS, text)]).0.threads, Some(threads), "{text:?}");
        }
        for (text, placement) in [
            ("free", Placement::Free),
            ("llc", Placement::Llc),
            ("cpu", Placement::Cpu),
            ("LLC", Placement::Llc),
        ] {
            assert_eq!(read(&[(PLACEMENT, text)]).0.placement, Some(placement), "{text:?}");
        }
        for (text, nanoseconds) in [
            ("0", 0),
            ("50", 50_000),
            ("50us", 50_000),
            ("50 us", 50_000),
            ("50µs", 50_000),
            ("750ns", 750),
            ("1.5ms", 1_500_000),
            ("0s", 0),
            ("1s", 1_000_000_000),
            ("1000000", 1_000_000_000),
        ] {
            let expected = Some(Duration::from_nanos(nanoseconds));
            assert_eq!(read(&[(SPIN, text)]).0.spin, expected, "{text:?}");
        }
    }

    #[test]
    fn reports_and_ignores_the_rest() {
        for value in
            ["", " ", "0", "-1", "abc", "4097", "99999999999999999999999", "2.5", "+-1", "8 8"]
        {
            let (settings, bad) = read(&[(THREADS, value), (PLACEMENT, "llc")]);
            assert_eq!(settings.threads, None, "{value:?}");
            assert_eq!(settings.placement, Some(Placement::Llc), "the others still count");
            let said = format!(
                "locsteal: LOCSTEAL_THREADS={value:?} is ignored: it must be a number from 1 to 4096"
            );
            assert_eq!(bad, [said]);
        }
        for value in ["", "numa", "0", "llc,cpu", "frée"] {
            let (settings, bad) = read(&[(PLACEMENT, value)]);
            assert_eq!((settings, bad.len()), (Settings::default(), 1), "{value:?}");
        }
        for value in
            ["", "-1", "abc", "us", ".", "1h", "1.2.3ms", "2s", "1e400", "inf", "99999999999999"]
        {
            let (settings, bad) = read(&[(SPIN, value)]);
            assert_eq!((settings, bad.len()), (Settings::default(), 1), "{value:?}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_value_that_is_not_text_is_reported() {
        use std::os::unix::ffi::OsStringExt;
        let (settings, bad) =
            Settings::read(|name| (name == THREADS).then(|| OsString::from_vec(vec![0xff, b'4'])));
        assert_eq!(settings, Settings::default());
        let said =
            "locsteal: LOCSTEAL_THREADS=\"\\xFF4\" is ignored: it must be a number from 1 to 4096";
        assert_eq!(bad[0].to_string(), said);
    }
}
