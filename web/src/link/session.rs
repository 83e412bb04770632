//! A session with a daemon as the page knows it: what it may do, and with which daemon.

use std::sync::Arc;

use protocol::ability::Abilities;
use protocol::device::{DeviceName, id};
use protocol::hex::Hex;
use protocol::limits::Limits;
use protocol::scope::Scope;
use protocol::server::MachineHere;

/// An established session: permissions and daemon.
#[derive(Debug, Clone, PartialEq)]
pub struct DaemonSession {
    /// Id of the key that opened it.
    pub key: Option<Hex<8>>,
    pub scopes: Vec<Scope>,
    /// Changes when the daemon restarts.
    pub epoch: Hex<8>,
    pub version: String,
    /// Name of the daemon's processor; empty if it is unknown.
    pub machine: String,
    /// Names of its devices; empty for older daemons.
    pub devices: Vec<DeviceName>,
    /// The machine as a device of the catalog; `None` for older daemons.
    pub here: Option<MachineHere>,
    /// Abilities of the daemon; `None` if it tells none.
    pub can: Option<Arc<Abilities>>,
    pub limits: Limits,
}

impl DaemonSession {
    /// A session with a daemon that tells no abilities.
    #[cfg(test)]
    pub fn simulated(scopes: Vec<Scope>, version: &str, machine: &str) -> Self {
        Self {
            key: None,
            scopes,
            epoch: Hex([0; 8]),
            version: version.to_owned(),
            machine: machine.to_owned(),
            devices: Vec::new(),
            here: None,
            can: None,
            limits: protocol::limits::LIMITS,
        }
    }

    /// The names of its devices in orders; an older daemon names its processor alone.
    pub fn device_ids(&self) -> Vec<String> {
        if self.devices.is_empty() {
            return vec![id("cpu", 0)];
        }
        self.devices.iter().map(DeviceName::id).collect()
    }

    /// How the daemon is started so that its sessions may measure; `None` if they may.
    pub fn start_to_measure(&self) -> Option<&str> {
        let off = self.can.as_ref()?.off.iter().find(|off| off.scope == Scope::Bench)?;
        Some(&off.start)
    }

    /// The command that gives this page's key a scope; `None` for daemons that have no such command.
    pub fn command_for(&self, scope: Scope) -> Option<String> {
        let key = self
            .key
            .filter(|_| self.can.as_ref().is_some_and(|can| can.grants.contains(&scope)))?;
        Some(format!("ridgepoint keys grant {key} --scope {}", scope.key()))
    }

    /// Name of a device by its name in orders; that name itself where the daemon tells no other.
    pub fn device_name<'a>(&'a self, id: &'a str) -> &'a str {
        let named = self.devices.iter().find(|device| device.id() == id && !device.name.is_empty());
        named.map_or(id, |device| &device.name)
    }

    /// Whether the session may start measurements.
    pub fn may_measure(&self) -> bool {
        self.scopes.contains(&Scope::Bench)
    }
}
