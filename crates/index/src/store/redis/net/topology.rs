//! Which node has which slots.

use ::redis::{Connection, Value, cmd};

use super::address::Address;
use super::connect::{Node, trouble_of};
use crate::store::redis::slot::SLOTS;
use crate::store::redis::trouble::Trouble;

/// The masters of a cluster, or the one server.
#[derive(Debug)]
pub(super) struct Topology {
    pub nodes: Vec<Node>,
    of_slot: Vec<u16>,
}

impl Topology {
    pub fn single(node: Node) -> Self {
        Self { nodes: vec![node], of_slot: vec![0; usize::from(SLOTS)] }
    }

    pub fn node(&self, slot: u16) -> &Node {
        &self.nodes[usize::from(self.of_slot[usize::from(slot)])]
    }

    /// Asks a node.
    pub fn ask(address: &Address, node: &Node, connection: &mut Connection) -> Result<Self, Trouble> {
        if !address.is_cluster {
            return Ok(Self::single(node.clone()));
        }
        let answer: Value = cmd("CLUSTER")
            .arg("SLOTS")
            .query(connection)
            .map_err(|error| trouble_of(address, node, &error))?;
        let unknown = || Trouble::Refused {
            address: node.to_string(),
            why: "some slots of the cluster have no master".to_owned(),
        };
        let mut nodes: Vec<Node> = Vec::new();
        let mut of_slot = vec![u16::MAX; usize::from(SLOTS)];
        let Value::Array(ranges) = answer else { return Err(unknown()) };
        for range in ranges {
            let Some((first, last, master)) = range_of(&range, node) else { return Err(unknown()) };
            let place = nodes.iter().position(|other| *other == master).unwrap_or_else(|| {
                nodes.push(master);
                nodes.len() - 1
            });
            of_slot.get_mut(first..=last).ok_or_else(unknown)?.fill(place as u16);
        }
        if of_slot.contains(&u16::MAX) {
            return Err(unknown());
        }
        Ok(Self { nodes, of_slot })
    }
}

/// First slot, last slot, master. A master without a name is the node that was asked.
fn range_of(range: &Value, asked: &Node) -> Option<(usize, usize, Node)> {
    let Value::Array(parts) = range else { return None };
    let [Value::Int(first), Value::Int(last), Value::Array(master), ..] = &parts[..] else { return None };
    let [host, Value::Int(port), ..] = &master[..] else { return None };
    let host = match host {
        Value::BulkString(host) if !host.is_empty() => String::from_utf8(host.clone()).ok()?,
        Value::SimpleString(host) if !host.is_empty() => host.clone(),
        _ => asked.host.clone(),
    };
    let node = Node { host, port: u16::try_from(*port).ok()? };
    Some((usize::try_from(*first).ok()?, usize::try_from(*last).ok()?, node))
}
