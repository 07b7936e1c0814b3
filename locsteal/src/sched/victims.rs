//! In which order a thief visits the other seats: made once, from the homes of the seats.
//!
//! Tiers and rotations follow the locality-first order of `ThreadTeams.jl`: the seats that share the thief's last-level
//! cache, the rest of its node, then the other nodes by distance. Near tiers start after the thief; far ones are
//! rotated by the thief's rank within its node, so that a node's thieves spread over their victims. Of nodes at the same
//! distance the next by number comes first, so that different nodes' thieves spread too.

use crate::stats::Tier;

/// Where a seat lives, as far as the order of victims is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeatHome {
    /// The last-level-cache domain; `None`: no cache known, the seat is as near as its node.
    pub(crate) domain: Option<usize>,
    pub(crate) node: usize,
}

/// Who looks for victims: a participant at `seat`, which is below the loop's width. Nearness is judged from `near`:
/// the same seat, or, for a caller whose own domain has no seat in the loop, a seat of that domain beyond the loop's
/// width, or a station there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Thief {
    pub(crate) seat: usize,
    pub(crate) near: usize,
}

/// One thief's victims.
#[derive(Clone, Debug)]
struct Order {
    victims: Box<[u16]>,
    /// How many of them are on the thief's node.
    local: usize,
}

/// Every thief's victims, for each [`Locality`](super::Locality).
#[derive(Clone, Debug)]
pub(crate) struct Orders {
    /// Of the seats, then of the stations. Empty where homes are unknown: every order is cyclic then.
    homes: Vec<SeatHome>,
    by_cache: Vec<Order>,
    by_node: Vec<Order>,
}

impl Orders {
    /// Orders of a pool whose seats' homes are not known.
    pub(crate) fn cyclic() -> Self {
        Self { homes: Vec::new(), by_cache: Vec::new(), by_node: Vec::new() }
    }

    /// Orders from homes and the distance between two nodes (of two distinct ones; smaller is nearer).
    #[cfg(any(feature = "simulator", all(test, not(loom))))]
    pub(crate) fn new(seats: &[SeatHome], distance: impl Fn(usize, usize) -> u32) -> Self {
        Self::with_stations(seats, &[], distance)
    }

    /// As `new`, with places that have no seat, and from which a caller looks for victims nevertheless. They
    /// are numbered on from the seats, and never victims.
    pub(crate) fn with_stations(
        seats: &[SeatHome],
        stations: &[SeatHome],
        distance: impl Fn(usize, usize) -> u32,
    ) -> Self {
        let homes = [seats, stations].concat();
        let orders = |use_cache: bool| -> Vec<Order> {
            let thieves = 0..homes.len();
            thieves.map(|thief| order(&homes, seats.len(), &distance, thief, use_cache)).collect()
        };
        Self { by_cache: orders(true), by_node: orders(false), homes }
    }

    pub(crate) fn is_cyclic(&self) -> bool {
        self.homes.is_empty()
    }

    /// How far `seat` is from `thief`.
    pub(crate) fn tier(&self, thief: usize, seat: usize) -> Tier {
        match (self.homes.get(thief), self.homes.get(seat)) {
            (Some(a), Some(b)) if a.node != b.node => Tier::Remote,
            (Some(a), Some(b)) if a.domain.is_some() && a.domain == b.domain => Tier::Llc,
            (Some(_), Some(_)) => Tier::Node,
            _ => Tier::Unknown,
        }
    }

    /// The victims on the thief's own node, nearest first; all of them where the order is cyclic.
    pub(crate) fn local(
        &self,
        thief: Thief,
        locality: super::Locality,
        width: usize,
    ) -> Victims<'_> {
        match self.order(thief.near, locality) {
            Some(order) => Victims::listed(&order.victims[..order.local], width, thief.near),
            None => Victims::cycle(thief.seat, width),
        }
    }

    /// The victims on other nodes, nearest first.
    pub(crate) fn remote(
        &self,
        thief: Thief,
        locality: super::Locality,
        width: usize,
    ) -> Victims<'_> {
        match self.order(thief.near, locality) {
            Some(order) => Victims::listed(&order.victims[order.local..], width, thief.near),
            None => Victims::listed(&[], width, thief.near),
        }
    }

    fn order(&self, thief: usize, locality: super::Locality) -> Option<&Order> {
        match locality {
            super::Locality::Llc => self.by_cache.get(thief),
            super::Locality::Node => self.by_node.get(thief),
            super::Locality::Flat => None,
        }
    }
}

fn order(
    homes: &[SeatHome],
    seats: usize,
    distance: &impl Fn(usize, usize) -> u32,
    thief: usize,
    use_cache: bool,
) -> Order {
    let home = homes[thief];
    let near = |seat: usize| {
        let other = homes[seat];
        if other.node != home.node {
            (2, distance(home.node, other.node))
        } else if use_cache && other.domain.is_some() && other.domain == home.domain {
            (0, 0)
        } else {
            (1, 0)
        }
    };
    // The nodes in a circle, beginning after the thief's.
    let onward = |node: usize| (node < home.node, node);
    let rank = (0..thief).filter(|&seat| homes[seat].node == home.node).count();
    let mut tiers: Vec<((u8, u32), Vec<u16>)> = Vec::new();
    for seat in (0..seats).filter(|&seat| seat != thief) {
        match tiers.iter_mut().find(|(tier, _)| *tier == near(seat)) {
            Some((_, seats)) => seats.push(seat as u16),
            None => tiers.push((near(seat), vec![seat as u16])),
        }
    }
    tiers.sort_by_key(|(tier, _)| *tier);
    let mut local = 0;
    let mut victims = Vec::with_capacity(seats);
    for ((class, _), mut seats) in tiers {
        let start = if class == 2 {
            seats.sort_by_key(|&seat| onward(homes[usize::from(seat)].node));
            rank % seats.len()
        } else {
            local += seats.len();
            seats.iter().position(|&seat| usize::from(seat) > thief).unwrap_or(0)
        };
        seats.rotate_left(start);
        victims.extend(seats);
    }
    Order { victims: victims.into(), local }
}

/// An iterator over victims below the loop's width.
#[derive(Clone, Debug)]
pub(crate) struct Victims<'a> {
    listed: &'a [u16],
    /// For the cycle: the next seat, and how many are left.
    next: usize,
    left: usize,
    width: usize,
}

impl<'a> Victims<'a> {
    /// A list holds each seat once, so it can be left as soon as all seats of the loop have been seen.
    fn listed(listed: &'a [u16], width: usize, thief: usize) -> Self {
        Self { listed, next: 0, left: width - usize::from(thief < width), width }
    }

    fn cycle(thief: usize, width: usize) -> Self {
        Self { listed: &[], next: thief + 1, left: width.saturating_sub(1), width }
    }
}

impl Iterator for Victims<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.left == 0 {
            return None;
        }
        if self.next > 0 {
            let seat = if self.next >= self.width { self.next - self.width } else { self.next };
            self.next = seat + 1;
            self.left -= 1;
            return Some(seat);
        }
        while let Some((&seat, rest)) = self.listed.split_first() {
            self.listed = rest;
            if usize::from(seat) < self.width {
                self.left -= 1;
                return Some(usize::from(seat));
            }
        }
        None
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::Locality::{Flat, Llc, Node};
    use super::*;

    /// Two nodes of two caches of two seats each.
    fn two_by_two() -> Orders {
        let homes: Vec<SeatHome> =
            (0..8).map(|seat| SeatHome { domain: Some(seat / 2), node: seat / 4 }).collect();
        Orders::new(&homes, |_, _| 21)
    }

    fn whole(
        orders: &Orders,
        seat: usize,
        locality: crate::sched::Locality,
        width: usize,
    ) -> Vec<usize> {
        let thief = Thief { seat, near: seat };
        orders.local(thief, locality, width).chain(orders.remote(thief, locality, width)).collect()
    }

    #[test]
    fn nearest_first_and_rotated() {
        let orders = two_by_two();
        assert_eq!(whole(&orders, 0, Llc, 8), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(whole(&orders, 1, Llc, 8), [0, 2, 3, 5, 6, 7, 4]);
        assert_eq!(whole(&orders, 3, Llc, 8), [2, 0, 1, 7, 4, 5, 6]);
        assert_eq!(whole(&orders, 6, Llc, 8), [7, 4, 5, 2, 3, 0, 1]);
        assert_eq!(whole(&orders, 1, Node, 8), [2, 3, 0, 5, 6, 7, 4]);
        assert_eq!(whole(&orders, 6, Flat, 8), [7, 0, 1, 2, 3, 4, 5]);
        assert_eq!(orders.local(Thief { seat: 6, near: 6 }, Llc, 8).count(), 3);
        assert_eq!(orders.remote(Thief { seat: 6, near: 6 }, Llc, 8).count(), 4);
    }

    #[test]
    fn nearer_nodes_before_farther_ones() {
        let homes: Vec<SeatHome> =
            (0..6).map(|seat| SeatHome { domain: Some(seat / 2), node: seat / 2 }).collect();
        let distances = [[10, 15, 40], [20, 10, 30], [40, 35, 10]];
        let orders = Orders::new(&homes, |a, b| distances[a][b]);
        assert_eq!(whole(&orders, 0, Llc, 6), [1, 2, 3, 4, 5]);
        assert_eq!(whole(&orders, 3, Llc, 6), [2, 1, 0, 5, 4]);
        assert_eq!(whole(&orders, 4, Llc, 6), [5, 2, 3, 0, 1]);
    }

    #[test]
    fn thieves_of_different_nodes_begin_at_different_victims() {
        // Four nodes of three seats, one after the other, and in turn.
        let layouts: [fn(usize) -> usize; 2] = [|seat| seat / 3, |seat| seat % 4];
        for node_of in layouts {
            let homes: Vec<SeatHome> =
                (0..12).map(|seat| SeatHome { domain: None, node: node_of(seat) }).collect();
            let orders = Orders::new(&homes, |_, _| 20);
            let first = |seat| {
                let thief = Thief { seat, near: seat };
                orders.remote(thief, Llc, 12).next().unwrap()
            };
            let mut firsts: Vec<usize> = (0..12).map(first).collect();
            assert!((0..12).all(|seat| node_of(firsts[seat]) == (node_of(seat) + 1) % 4));
            firsts.sort_unstable();
            assert!(firsts.into_iter().eq(0..12), "each is begun at once");
        }
    }

    #[test]
    fn every_order_visits_each_other_seat_once_at_every_width() {
        let mixed: Vec<SeatHome> = [(Some(0), 0), (None, 0), (Some(1), 0), (None, 1), (Some(2), 1)]
            .map(|(domain, node)| SeatHome { domain, node })
            .to_vec();
        for (orders, seats) in
            [(two_by_two(), 8), (Orders::new(&mixed, |_, _| 20), 5), (Orders::cyclic(), 7)]
        {
            for locality in [Llc, Node, Flat] {
                for width in 1..=seats {
                    for seat in 0..width {
                        let mut seen = whole(&orders, seat, locality, width);
                        seen.sort_unstable();
                        let others: Vec<usize> =
                            (0..width).filter(|&other| other != seat).collect();
                        assert_eq!(seen, others, "{locality:?}, width {width}, seat {seat}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_caller_from_a_domain_beyond_the_width_sees_every_seat() {
        let orders = two_by_two();
        let thief = Thief { seat: 0, near: 6 };
        let seen: Vec<usize> =
            orders.local(thief, Llc, 5).chain(orders.remote(thief, Llc, 5)).collect();
        assert_eq!(seen, [4, 2, 3, 0, 1]);
    }

    #[test]
    fn a_caller_from_a_place_without_a_seat_sees_every_seat_from_there() {
        let home = |domain, node| SeatHome { domain, node };
        let seats = [(0, 0), (0, 0), (1, 0), (2, 1), (4, 2)].map(|(a, b)| home(Some(a), b));
        let stations = [home(Some(3), 1), home(None, 0), home(Some(6), 3)];
        let distances = [[10, 30, 20, 20], [30, 10, 20, 20], [20, 20, 10, 30], [40, 30, 20, 10]];
        let orders = Orders::with_stations(&seats, &stations, |a, b| distances[a][b]);
        for (station, near_first, tier) in [
            (5, [3, 4, 1, 2, 0], Tier::Node),
            (6, [0, 1, 2, 4, 3], Tier::Node),
            (7, [4, 3, 0, 1, 2], Tier::Remote),
        ] {
            let thief = Thief { seat: near_first[0], near: station };
            let seen = orders.local(thief, Llc, 5).chain(orders.remote(thief, Llc, 5));
            assert_eq!(seen.collect::<Vec<_>>(), near_first, "station {station}");
            assert_eq!(orders.tier(station, near_first[0]), tier, "station {station}");
        }
        assert_eq!(whole(&orders, 0, Llc, 5), [1, 2, 4, 3], "stations are no victims");
    }

    #[test]
    fn unknown_caches_are_as_near_as_their_node() {
        let homes =
            [(None, 0), (None, 0), (Some(0), 0)].map(|(domain, node)| SeatHome { domain, node });
        let orders = Orders::new(&homes, |_, _| 20);
        assert_eq!(orders.tier(0, 1), Tier::Node);
        assert_eq!(whole(&orders, 0, Llc, 3), [1, 2]);
    }
}
