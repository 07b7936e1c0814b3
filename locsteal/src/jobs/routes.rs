//! Which workers a job comes to: the domains of a pool as jobs see them, and who is near to whom.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::affinity::Home;
use crate::topology::Topology;

/// The fixed part: made once from the homes of the seats.
#[derive(Debug)]
pub(super) struct Routes {
    /// For each domain its seats. At least one domain, which has all seats where none is known.
    seats: Box<[Box<[u16]>]>,
    /// For each domain the others, nearest first.
    others: Box<[Box<[u16]>]>,
    /// For each seat its domain.
    homes: Box<[Option<u16>]>,
    /// The seats whose workers may run in more than one domain.
    roamers: Box<[Roamer]>,
    /// Whether the machine has more than one domain, so that a job belongs near to one.
    tells_domains: bool,
}

#[derive(Debug)]
struct Roamer {
    seat: u16,
    /// The domain in which its worker was running when it last looked; `NOWHERE` before. Relaxed: a hint.
    domain: AtomicUsize,
}

const NOWHERE: usize = usize::MAX;

impl Routes {
    pub(super) fn new<'a>(topology: &Topology, homes: impl Iterator<Item = &'a Home>) -> Self {
        let domains = topology.domains();
        let tells_domains = domains.len() > 1;
        let count = domains.len().max(1);
        let homes: Box<[_]> = homes
            .map(
                |home| {
                    if tells_domains { home.domain.map(|domain| domain as u16) } else { Some(0) }
                },
            )
            .collect();
        let seats_of = |domain: usize| {
            let at_home = |&(_, home): &(usize, &Option<u16>)| *home == Some(domain as u16);
            homes.iter().enumerate().filter(at_home).map(|(seat, _)| seat as u16).collect()
        };
        let roamer = |(seat, home): (usize, &Option<u16>)| {
            let roamer = || Roamer { seat: seat as u16, domain: AtomicUsize::new(NOWHERE) };
            home.is_none().then(roamer)
        };
        let others_of = |domain: usize| {
            let mut others: Vec<u16> =
                (0..count as u16).filter(|&other| usize::from(other) != domain).collect();
            let distance = |other: u16| {
                let (Some(from), Some(to)) =
                    (domains[domain].node(), domains[usize::from(other)].node())
                else {
                    return u32::MAX;
                };
                if from == to { 0 } else { topology.distance(from, to) }
            };
            // Starting after the domain itself, so that neighbours start in different places.
            others.sort_by_key(|&other| (distance(other), usize::from(other) < domain, other));
            others.into()
        };
        Self {
            seats: (0..count).map(seats_of).collect(),
            others: (0..count).map(others_of).collect(),
            roamers: homes.iter().enumerate().filter_map(roamer).collect(),
            homes,
            tells_domains,
        }
    }

    pub(super) fn domains(&self) -> usize {
        self.seats.len()
    }

    /// Whether jobs belong near to a domain: false where there is only one.
    pub(super) fn tells_domains(&self) -> bool {
        self.tells_domains
    }

    /// The domain that a seat's worker is confined to.
    pub(super) fn home(&self, seat: usize) -> Option<usize> {
        self.homes[seat].map(usize::from)
    }

    /// The seats whose workers are in a domain: those at home there, then those that happen to be.
    pub(super) fn seats_in(&self, domain: usize) -> impl Iterator<Item = usize> {
        let at_home = self.seats[domain].iter().map(|&seat| usize::from(seat));
        let there = move |roamer: &&Roamer| roamer.domain.load(Ordering::Relaxed) == domain;
        let guests = self.roamers.iter().filter(there).map(|roamer| usize::from(roamer.seat));
        at_home.chain(guests)
    }

    /// The other domains, nearest first.
    pub(super) fn others(&self, domain: usize) -> impl Iterator<Item = usize> {
        self.others[domain].iter().map(|&other| usize::from(other))
    }

    /// Notes where the worker of a seat runs that has no home; gives back the domain that the seat is in.
    pub(super) fn whereabouts(&self, seat: usize, now: impl FnOnce() -> Option<usize>) -> usize {
        if let Some(home) = self.homes[seat] {
            return home.into();
        }
        let Ok(index) = self.roamers.binary_search_by_key(&(seat as u16), |roamer| roamer.seat)
        else {
            return 0;
        };
        let noted = &self.roamers[index].domain;
        let domain = now().unwrap_or(0);
        if noted.load(Ordering::Relaxed) != domain {
            noted.store(domain, Ordering::Relaxed);
        }
        domain
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::affinity::{Placement, Seating};

    fn routes(topology: &Topology, seats: usize, placement: Placement) -> Routes {
        let homes = Seating::new(topology, seats).placement(placement).homes();
        Routes::new(topology, homes.iter())
    }

    fn list(items: impl Iterator<Item = usize>) -> Vec<usize> {
        items.collect()
    }

    #[test]
    fn near_domains_come_first() {
        let machine = Topology::regular(2, 3, 2);
        let routes = routes(&machine, 12, Placement::Llc);
        assert_eq!(list(routes.seats_in(1)), [2, 3]);
        assert_eq!(list(routes.others(1)), [2, 0, 3, 4, 5]);
        assert_eq!(list(routes.others(5)), [3, 4, 0, 1, 2]);
        assert_eq!((routes.home(7), routes.tells_domains()), (Some(3), true));
    }

    #[test]
    fn one_domain_or_none_is_one_place_for_all() {
        for machine in [Topology::regular(1, 1, 4), Topology::default()] {
            let routes = routes(&machine, 3, Placement::Free);
            assert_eq!(list(routes.seats_in(0)), [0, 1, 2]);
            assert_eq!((routes.domains(), routes.tells_domains()), (1, false));
            assert_eq!(routes.whereabouts(2, || unreachable!()), 0);
        }
    }

    #[test]
    fn workers_without_a_home_are_where_they_were_last_seen() {
        let machine = Topology::regular(1, 2, 4);
        let routes = routes(&machine, 3, Placement::Free);
        assert_eq!((list(routes.seats_in(0)), list(routes.seats_in(1))), (vec![], vec![]));
        assert_eq!(routes.whereabouts(1, || Some(1)), 1);
        assert_eq!(list(routes.seats_in(1)), [1]);
        assert_eq!(routes.whereabouts(1, || Some(0)), 0);
        assert_eq!((list(routes.seats_in(0)), list(routes.seats_in(1))), (vec![1], vec![]));
    }
}
