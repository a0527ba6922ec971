// SPDX-License-Identifier: Apache-2.0

import BLETransport
import FoundationEssentials
import MeshProtocol
import NodeCore

/// An event of a pairing, in the form of `docs/reference.md`.
struct PairingObject: Encodable {
    struct Peer: Encodable {
        var id: String
        var name: String

        init(_ device: PairingDevice) { (id, name) = (device.id, device.name) }
        init(_ bond: Bond) { (id, name) = (bond.id, bond.name) }
    }

    var at = Date().timeIntervalSince1970
    var event: String
    var role: String?
    var name: String?
    var radio: String?
    var version: String?
    var peer: Peer?
    var digits: String?
    var seconds: Int?
    var connected: Bool?
    var reason: String?
    var message: String?

    /// The first event.
    init(beginning name: String, radio: String) {
        event = "ready"
        (role, self.name, self.radio, version) = ("pair", name, radio, RoadMeshVersion.text)
    }

    /// The event for an update; nil for an update without an event, or with the event `notice`.
    init?(_ update: PairingUpdate) {
        switch update {
        case .looking, .nothingAsked: return nil
        case .heard(let device): (event, peer) = ("peerDiscovered", Peer(device))
        case .digits(let digits, let device, let limit):
            (event, peer, self.digits, seconds) = ("digits", Peer(device), digits, Int(limit / .seconds(1)))
        case .waiting(let device): (event, peer) = ("waiting", Peer(device))
        case .forgotten(let device): (event, peer) = ("bondForgotten", Peer(device))
        }
    }

    /// The last event.
    init(_ outcome: PairingOutcome, isSignalled: Bool) {
        event = "bye"
        reason = outcome == .stopped && isSignalled ? "terminated" : outcome.code
        (peer, message) = (outcome.device.map { Peer($0) }, outcome.sentence)
    }

    private init(_ event: String, reason: String) { (self.event, self.reason) = (event, reason) }

    private init(_ event: String, _ bond: Bond) { (self.event, peer) = (event, Peer(bond)) }

    /// The events for a list of bonds, and the last event.
    static func list(_ bonds: [Bond]) -> [PairingObject] {
        bonds.map { bond in
            var object = PairingObject("bond", bond)
            object.connected = bond.isConnected
            return object
        } + [PairingObject("bye", reason: "listed")]
    }

    /// The event for a deleted bond, and the last event.
    static func forgot(_ bond: Bond) -> [PairingObject] {
        [PairingObject("bondForgotten", bond), PairingObject("bye", reason: "forgotten")]
    }
}
