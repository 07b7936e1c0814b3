//! Sets of CPU ids of any size.

use std::fmt;

const WORD_BITS: usize = u64::BITS as usize;

/// A set of CPU ids, as large as its highest id needs.
///
/// Ids are the kernel's CPU numbers. They may have holes and go up to [`CpuSet::MAX_ID`]; there is
/// no limit of 1,024 CPUs as in the C library's fixed-size set. A set is written and read in the
/// kernel's list format, e.g. `0-3,8`.
///
/// # Examples
///
/// ```
/// use locsteal::CpuSet;
///
/// let near: CpuSet = (0..4).chain([8]).collect();
/// let allowed: CpuSet = "2-9".parse()?;
///
/// assert_eq!(near.to_string(), "0-3,8");
/// assert_eq!(near.intersection(&allowed).to_string(), "2-3,8");
/// # Ok::<(), locsteal::ParseCpuListError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct CpuSet {
    /// Bit `c % 64` of word `c / 64` says that CPU `c` is in. The last word is never zero, so that
    /// equal sets have equal words.
    words: Vec<u64>,
}

impl CpuSet {
    /// The highest CPU id that a set can hold, 65,535.
    ///
    /// Eight times what the largest kernels are built for, and small enough that damaged input
    /// cannot make a set of more than 8 KiB.
    pub const MAX_ID: usize = 65_535;

    /// The empty set. It allocates nothing.
    pub const fn new() -> Self {
        Self { words: Vec::new() }
    }

    /// The set whose words are these, bit `c % 64` of word `c / 64` for CPU `c`, as the kernel lays
    /// out an affinity mask.
    ///
    /// # Panics
    ///
    /// If a bit above [`CpuSet::MAX_ID`] is set.
    pub(crate) fn from_words(mut words: Vec<u64>) -> Self {
        words.truncate(words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1));
        let set = Self { words };
        if let Some(last) = set.last() {
            check_id(last);
        }
        set
    }

    /// The words of the set; see [`CpuSet::from_words`]. The last one is not zero.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Adds a CPU; says whether it was new.
    ///
    /// # Panics
    ///
    /// If `cpu` is above [`CpuSet::MAX_ID`].
    pub fn insert(&mut self, cpu: usize) -> bool {
        check_id(cpu);
        let (word, bit) = (cpu / WORD_BITS, 1 << (cpu % WORD_BITS));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        new
    }

    /// Removes a CPU; says whether it was in.
    pub fn remove(&mut self, cpu: usize) -> bool {
        let was_in = self.contains(cpu);
        if was_in {
            self.words[cpu / WORD_BITS] &= !(1 << (cpu % WORD_BITS));
            self.trim();
        }
        was_in
    }

    /// Whether the CPU is in; `false` for any id above [`CpuSet::MAX_ID`].
    pub fn contains(&self, cpu: usize) -> bool {
        self.words.get(cpu / WORD_BITS).is_some_and(|word| word >> (cpu % WORD_BITS) & 1 == 1)
    }

    /// How many CPUs are in.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether no CPU is in.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The lowest CPU.
    pub fn first(&self) -> Option<usize> {
        self.iter().next()
    }

    /// The highest CPU.
    pub fn last(&self) -> Option<usize> {
        let word = self.words.last()?;
        Some(self.words.len() * WORD_BITS - 1 - word.leading_zeros() as usize)
    }

    /// The CPUs in ascending order.
    pub fn iter(&self) -> CpuIds<'_> {
        CpuIds { words: &self.words, next_word: 0, base: 0, rest: 0 }
    }

    /// The CPUs that are in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let mut set =
            Self { words: self.words.iter().zip(&other.words).map(|(a, b)| a & b).collect() };
        set.trim();
        set
    }

    /// The CPUs that are in at least one of the sets.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let (mut set, other) = if self.words.len() < other.words.len() {
            (other.clone(), self)
        } else {
            (self.clone(), other)
        };
        for (word, more) in set.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
        set
    }

    /// The CPUs that are in this set and not in the other.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let mut set = self.clone();
        for (word, less) in set.words.iter_mut().zip(&other.words) {
            *word &= !less;
        }
        set.trim();
        set
    }

    /// Whether each CPU of this set is in the other; true of the empty set.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.words.len() <= other.words.len()
            && self.words.iter().zip(&other.words).all(|(a, b)| a & !b == 0)
    }

    /// Whether the sets have no CPU in common.
    pub fn is_disjoint(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).all(|(a, b)| a & b == 0)
    }

    fn trim(&mut self) {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }
}

#[track_caller]
fn check_id(cpu: usize) {
    assert!(
        cpu <= CpuSet::MAX_ID,
        "CPU id {cpu} is too large for a CpuSet: ids go up to {}",
        CpuSet::MAX_ID
    );
}

/// The kernel's list format: ascending, ranges joined by `-`, parted by `,`; the empty set is the
/// empty string.
impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut ids = self.iter().peekable();
        let mut separator = "";
        while let Some(start) = ids.next() {
            let mut end = start;
            while let Some(next) = ids.next_if_eq(&(end + 1)) {
                end = next;
            }
            write!(f, "{separator}{start}")?;
            if end > start {
                write!(f, "-{end}")?;
            }
            separator = ",";
        }
        Ok(())
    }
}

impl fmt::Debug for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CpuSet({self})")
    }
}

/// # Panics
///
/// If an id is above [`CpuSet::MAX_ID`].
impl FromIterator<usize> for CpuSet {
    fn from_iter<I: IntoIterator<Item = usize>>(ids: I) -> Self {
        let mut set = Self::new();
        set.extend(ids);
        set
    }
}

/// # Panics
///
/// If an id is above [`CpuSet::MAX_ID`].
impl Extend<usize> for CpuSet {
    fn extend<I: IntoIterator<Item = usize>>(&mut self, ids: I) {
        for cpu in ids {
            self.insert(cpu);
        }
    }
}

impl<'a> IntoIterator for &'a CpuSet {
    type Item = usize;
    type IntoIter = CpuIds<'a>;

    fn into_iter(self) -> CpuIds<'a> {
        self.iter()
    }
}

/// The CPUs of a set in ascending order, made by [`CpuSet::iter`].
#[derive(Clone, Debug)]
pub struct CpuIds<'a> {
    words: &'a [u64],
    next_word: usize,
    /// The id of the lowest bit of `rest`.
    base: usize,
    /// The bits of the current word that are still to come.
    rest: u64,
}

impl Iterator for CpuIds<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while self.rest == 0 {
            self.rest = *self.words.get(self.next_word)?;
            self.base = self.next_word * WORD_BITS;
            self.next_word += 1;
        }
        let bit = self.rest.trailing_zeros() as usize;
        self.rest &= self.rest - 1;
        Some(self.base + bit)
    }
}

impl std::iter::FusedIterator for CpuIds<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(ids: &[usize]) -> CpuSet {
        ids.iter().copied().collect()
    }

    #[test]
    fn holds_ids_with_holes_and_beyond_1024() {
        let ids = [0, 1, 63, 64, 100, 101, 1500, 8191, CpuSet::MAX_ID];
        let set = set(&ids);
        assert_eq!(set.iter().collect::<Vec<_>>(), ids);
        assert_eq!(set.len(), ids.len());
        assert_eq!((set.first(), set.last()), (Some(0), Some(CpuSet::MAX_ID)));
        assert!(ids.iter().all(|&id| set.contains(id)));
        assert!(!set.contains(2) && !set.contains(1501) && !set.contains(usize::MAX));
    }

    #[test]
    fn insert_and_remove_say_what_they_changed() {
        let mut set = CpuSet::new();
        assert!(set.insert(70));
        assert!(!set.insert(70));
        assert!(!set.remove(6) && !set.remove(700));
        assert!(set.remove(70));
        assert!(!set.remove(70));
        assert!(set.is_empty());
    }

    #[test]
    fn equality_ignores_how_a_set_came_to_be() {
        let mut grown = set(&[3, 900]);
        grown.remove(900);
        assert_eq!(grown, set(&[3]));
        assert_eq!(CpuSet::from_words(vec![8, 0, 0]), set(&[3]));
        assert_eq!(set(&[3, 900]).intersection(&set(&[3, 901])), set(&[3]));
        assert_eq!(set(&[3, 900]).difference(&set(&[900])), set(&[3]));
        assert_eq!(CpuSet::from_words(vec![0, 0]), CpuSet::new());
    }

    #[test]
    fn set_algebra_agrees_with_sorted_lists() {
        let samples = [
            set(&[]),
            set(&[0]),
            set(&[0, 1, 2, 3]),
            set(&[2, 3, 64, 65]),
            set(&[64]),
            set(&[1, 200, 1500]),
        ];
        for a in &samples {
            for b in &samples {
                let expect = |keep: &dyn Fn(usize) -> bool| {
                    (0..2000).filter(|&id| keep(id)).collect::<CpuSet>()
                };
                let both = expect(&|id| a.contains(id) && b.contains(id));
                assert_eq!(a.intersection(b), both);
                assert_eq!(a.union(b), expect(&|id| a.contains(id) || b.contains(id)));
                assert_eq!(a.difference(b), expect(&|id| a.contains(id) && !b.contains(id)));
                assert_eq!(a.is_subset(b), &both == a);
                assert_eq!(a.is_disjoint(b), both.is_empty());
            }
        }
    }

    #[test]
    fn prints_as_the_kernel_does() {
        for (ids, text) in [
            (&[][..], ""),
            (&[0], "0"),
            (&[0, 1], "0-1"),
            (&[0, 2], "0,2"),
            (&[0, 1, 2, 3, 8], "0-3,8"),
            (&[1, 63, 64, 65, 1500], "1,63-65,1500"),
        ] {
            assert_eq!(set(ids).to_string(), text);
        }
        assert_eq!(format!("{:?}", set(&[0, 1])), "CpuSet(0-1)");
    }

    #[test]
    #[should_panic(expected = "CPU id 65536 is too large for a CpuSet: ids go up to 65535")]
    fn an_id_beyond_the_limit_is_refused() {
        CpuSet::new().insert(CpuSet::MAX_ID + 1);
    }
}
