//! The machine for other programs.

use serde_json::{Value, json};

use locsteal::{CpuSet, Tier};

use crate::View;

/// CPU sets are kernel lists, domains and nodes are told by index.
pub(crate) fn describe(view: &View) -> Value {
    let (plan, topology) = (&view.plan, view.plan.topology());
    let nodes = 0..topology.nodes().len();
    let cores = topology
        .cpus()
        .iter()
        .filter_map(|cpu| topology.core_of(cpu).filter(|core| core.first() == Some(cpu)));
    json!({
        "cpus": list(topology.cpus()),
        "nodes": nodes.clone().map(|index| {
            let node = &topology.nodes()[index];
            json!({
                "id": node.id(),
                "cpus": list(node.cpus()),
                "distances": nodes.clone().map(|to| topology.distance(index, to)).collect::<Vec<_>>(),
            })
        }).collect::<Vec<_>>(),
        "domains": topology.domains().iter().map(|domain| json!({
            "cpus": list(domain.cpus()),
            "level": domain.level(),
            "node": domain.node(),
        })).collect::<Vec<_>>(),
        "cores": cores.map(list).collect::<Vec<_>>(),
        "placement": plan.placement().name(),
        "seats": (0..plan.threads()).map(|seat| {
            let home = plan.home(seat);
            json!({
                "cpu": home.cpu,
                "domain": home.domain,
                "node": home.node,
                "mask": home.mask.as_ref().map(list),
                "victims": victims(view, seat),
            })
        }).collect::<Vec<_>>(),
        "locality": {
            "on": plan.locality().is_on(),
            "report": plan.locality().lines(),
        },
    })
}

fn list(cpus: &CpuSet) -> String {
    cpus.to_string()
}

/// By tier, nearest first; each in order.
fn victims(view: &View, seat: usize) -> Value {
    let victims = view.plan.victims(seat, view.locality);
    let of_tier = |wanted| -> Vec<usize> {
        victims.iter().filter(|(_, tier)| *tier == wanted).map(|(victim, _)| *victim).collect()
    };
    json!({
        "llc": of_tier(Tier::Llc),
        "node": of_tier(Tier::Node),
        "remote": of_tier(Tier::Remote),
        "unknown": of_tier(Tier::Unknown),
    })
}
