//! One call: commands out, answers back, with what passes tried again.

use std::collections::{BTreeMap, HashMap};
use std::thread::sleep;
use std::time::{Duration, Instant};

use ::redis::{Connection, RedisError, Value, cmd};

use super::connect::{Node, trouble_of};
use super::{Client, Requests};
use crate::store::redis::functions;
use crate::store::redis::trouble::Trouble;

/// The first pause before something is tried again; it doubles up to the longest.
const PAUSE: Duration = Duration::from_millis(20);
const MAX_PAUSE: Duration = Duration::from_secs(1);
/// What an answer may take even when the time is almost up.
const SHORTEST: Duration = Duration::from_millis(50);

/// How a call is made.
#[derive(Debug, Clone, Copy, Default)]
pub(in super::super) struct How {
    /// Replicas of each node that must acknowledge.
    pub wait: u32,
    /// What replicas have not acknowledged is sent again; otherwise it is an error at once. Only for what can be done twice without a difference.
    pub insists: bool,
    /// An answer that a slot is on its way is given back, because the caller can ask for its keys one by one.
    pub give_back_moving: bool,
}

/// A call under way.
struct Call<'a> {
    client: &'a Client,
    requests: &'a Requests,
    how: How,
    /// How long an answer may take.
    patience: Duration,
    answers: Vec<Option<Value>>,
    /// Requests that another node has asked us to send to it once.
    asking: HashMap<usize, Node>,
    /// What stands in the way at this moment.
    trouble: Option<Trouble>,
    is_stale: bool,
}

impl Client {
    /// Sends commands, in order for each node; the answers, in the order of the commands. Errors that Benzer's functions return are answers.
    pub fn call(&self, requests: &Requests, how: How) -> Result<Vec<Value>, Trouble> {
        let mut call = Call {
            client: self,
            requests,
            how,
            patience: self.address.timeout,
            answers: vec![None; requests.len()],
            asking: HashMap::new(),
            trouble: None,
            is_stale: false,
        };
        let deadline = Instant::now() + self.address.retry;
        let mut pause = PAUSE;
        loop {
            call.round()?;
            let Some(trouble) = call.trouble.take() else {
                if call.answers.iter().all(Option::is_some) {
                    return Ok(call.answers.into_iter().flatten().collect());
                }
                if Instant::now() >= deadline {
                    let why = "slots keep moving".to_owned();
                    return Err(self.given_up(self.address.to_string(), why));
                }
                continue;
            };
            if Instant::now() + pause >= deadline {
                return Err(match trouble {
                    Trouble::Unreachable { address, why } => self.given_up(address, why),
                    other => other,
                });
            }
            sleep(pause);
            pause = (2 * pause).min(MAX_PAUSE);
            // From the second time on nobody waits longer than there is time.
            let left = || deadline.saturating_duration_since(Instant::now()).max(SHORTEST);
            if call.is_stale {
                call.is_stale = self.refresh(self.address.timeout.min(left())).is_err_and(|trouble| {
                    matches!(trouble, Trouble::Unreachable { .. } | Trouble::Refused { .. })
                });
            }
            call.patience = self.address.timeout.min(left());
        }
    }

    fn given_up(&self, address: String, why: String) -> Trouble {
        Trouble::GivenUp { address, why, seconds: self.address.retry.as_secs_f64() }
    }

    /// [`Client::call`] of a single command.
    pub fn ask(&self, slot: u16, words: &[&[u8]]) -> Result<Value, Trouble> {
        let mut requests = Requests::default();
        requests.command(slot, words);
        Ok(self.call(&requests, How::default())?.pop().unwrap_or(Value::Nil))
    }
}

impl Call<'_> {
    /// Sends everything that has no answer yet, and takes what comes.
    fn round(&mut self) -> Result<(), Trouble> {
        let asking = std::mem::take(&mut self.asking);
        let mut sent: Vec<(Node, Connection, Vec<usize>)> = Vec::new();
        for (node, places) in self.by_node(&asking) {
            match self.send(&node, &places, &asking) {
                Ok(connection) => sent.push((node, connection, places)),
                Err(trouble) => self.stumble(&node, trouble)?,
            }
        }
        for (node, mut connection, places) in sent {
            match self.receive(&node, &mut connection, &places, &asking) {
                Ok(()) => self.client.give_back(&node, connection),
                Err(trouble) => {
                    if self.how.wait > 0 {
                        // What was answered is not acknowledged by replicas; it is sent again.
                        places.iter().for_each(|place| self.answers[*place] = None);
                    }
                    self.stumble(&node, trouble)?;
                }
            }
        }
        Ok(())
    }

    fn by_node(&self, asking: &HashMap<usize, Node>) -> BTreeMap<Node, Vec<usize>> {
        let topology = self.client.topology();
        let mut by_node = BTreeMap::<Node, Vec<usize>>::new();
        for place in (0..self.requests.len()).filter(|place| self.answers[*place].is_none()) {
            let node = asking.get(&place).unwrap_or_else(|| topology.node(self.requests.slot(place)));
            match by_node.get_mut(node) {
                Some(places) => places.push(place),
                None => drop(by_node.insert(node.clone(), vec![place])),
            }
        }
        by_node
    }

    fn send(
        &self,
        node: &Node,
        places: &[usize],
        asking: &HashMap<usize, Node>,
    ) -> Result<Connection, Trouble> {
        let mut connection = self.client.connection(node, self.patience)?;
        let mut bytes = Vec::with_capacity(places.iter().map(|place| self.requests.of(*place).len()).sum());
        for place in places {
            if asking.contains_key(place) {
                bytes.extend_from_slice(b"*1\r\n$6\r\nASKING\r\n");
            }
            bytes.extend_from_slice(self.requests.of(*place));
        }
        if self.how.wait > 0 {
            // Half of the time that an answer may take: WAIT must answer itself.
            let timeout = self.patience.as_millis() as u64 / 2;
            bytes.extend(cmd("WAIT").arg(self.how.wait).arg(timeout).get_packed_command());
        }
        self.client.count_trip();
        connection.send_packed_command(&bytes).map_err(|error| self.trouble_of(node, &error))?;
        Ok(connection)
    }

    fn receive(
        &mut self,
        node: &Node,
        connection: &mut Connection,
        places: &[usize],
        asking: &HashMap<usize, Node>,
    ) -> Result<(), Trouble> {
        let mut is_missing = false;
        for &place in places {
            if asking.contains_key(&place) {
                connection.recv_response().map_err(|error| self.trouble_of(node, &error))?;
            }
            match connection.recv_response().map_err(|error| self.trouble_of(node, &error))? {
                Value::ServerError(error) => is_missing |= self.take_error(node, place, error.into())?,
                answer => self.answers[place] = Some(answer),
            }
        }
        if self.how.wait > 0 {
            let answer = connection.recv_response().map_err(|error| self.trouble_of(node, &error))?;
            let got = if let Value::Int(got) = answer { got } else { 0 };
            if got < i64::from(self.how.wait) {
                let (address, wanted) = (node.to_string(), self.how.wait);
                return Err(Trouble::NotAcknowledged { address, got, wanted });
            }
        }
        if is_missing { self.load(node, connection) } else { Ok(()) }
    }

    /// Loads the functions.
    fn load(&self, node: &Node, connection: &mut Connection) -> Result<(), Trouble> {
        match cmd("FUNCTION").arg("LOAD").arg(functions::library()).query::<Value>(connection) {
            // Somebody else may have loaded them at the same moment.
            Err(error) if !error.to_string().contains("already exists") => Err(self.trouble_of(node, &error)),
            _ => Ok(()),
        }
    }

    /// Takes an error in place of an answer; true if the functions are missing on the node.
    fn take_error(&mut self, node: &Node, place: usize, error: RedisError) -> Result<bool, Trouble> {
        let text = error.to_string();
        match error.code().unwrap_or_default() {
            "MOVED" => {
                self.note(Trouble::Unreachable { address: node.to_string(), why: text })?;
            }
            "ASK" => {
                let node = error.redirect_node().and_then(|(address, _)| address.rsplit_once(':'));
                if let Some((host, port)) = node.and_then(|(host, port)| Some((host, port.parse().ok()?))) {
                    self.asking.insert(place, Node { host: host.to_owned(), port });
                }
            }
            "TRYAGAIN" if self.how.give_back_moving => self.answers[place] = Some(Value::Nil),
            code if code.starts_with("BENZER") => {
                self.answers[place] = Some(Value::SimpleString(code.to_owned()));
            }
            _ if text.contains("Function not found") => return Ok(true),
            _ => self.note(self.trouble_of(node, &error))?,
        }
        Ok(false)
    }

    /// A connection has failed.
    fn stumble(&mut self, node: &Node, trouble: Trouble) -> Result<(), Trouble> {
        self.client.forget(node);
        self.note(trouble)
    }

    /// Notes what passes, and gives up on what does not.
    fn note(&mut self, trouble: Trouble) -> Result<(), Trouble> {
        let passes = match trouble {
            Trouble::Unreachable { .. } => true,
            Trouble::NotAcknowledged { .. } => self.how.insists,
            _ => false,
        };
        if !passes {
            return Err(trouble);
        }
        self.is_stale = true;
        self.trouble = Some(trouble);
        Ok(())
    }

    fn trouble_of(&self, node: &Node, error: &RedisError) -> Trouble {
        trouble_of(&self.client.address, node, error)
    }
}
