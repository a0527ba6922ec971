// SPDX-License-Identifier: Apache-2.0

import Bearers

/// A device that wants to bond, as another device sees it.
public struct PairingDevice: Hashable, Sendable {
    /// The identifier of the device during the search, in the radio's own form. Opaque.
    public let id: String
    /// The name of the device. Untrusted text; empty if it is not known yet.
    public var name: String
    /// A random number of this pairing. Of two devices, the one with the lower token dials.
    var token: String
    /// Whether this side already has a bond with the device.
    var hasBond: Bool

    /// A device.
    init(id: String, name: String, token: String = "", hasBond: Bool = false) {
        self.id = id
        self.name = name
        self.token = token
        self.hasBond = hasBond
    }

    /// Whether the user means this device by a name or an address.
    func isCalled(_ wanted: String) -> Bool { name == wanted || id.lowercased() == wanted.lowercased() }
}

/// Why two paired devices do not count as bonded.
public enum PairingWeakness: Hashable, Sendable {
    /// The key has only this many bytes, fewer than 16. An attacker may have forced this (KNOB) and can guess the key.
    case shortKey(bytes: Int)
    /// The key does not come from LE Secure Connections with compared numbers. A man in the middle could have it.
    case notSecureConnections
    /// The devices have paired without a question to the person on this side.
    case unasked
}

/// A step of the pairing, for people.
public enum PairingUpdate: Hashable, Sendable {
    /// The pairing has begun: this device advertises and scans.
    case looking
    /// A device that wants to bond is heard.
    case heard(PairingDevice)
    /// Six digits, which both devices show if no attacker is in between. The person has this long to compare them.
    case digits(String, PairingDevice, within: Duration)
    /// The person has said yes. The other person must answer.
    case waiting(for: PairingDevice)
    /// An old bond that only one of the devices had is removed, so that a new bond can be made.
    case forgotten(PairingDevice)
    /// The person has answered, but there was no question.
    case nothingAsked
}

/// The outcome of a pairing.
public enum PairingOutcome: Hashable, Sendable {
    /// Both sides are bonded, with a key of 16 bytes that no other device has.
    case bonded(PairingDevice)
    /// The devices were bonded before. Nothing has changed.
    case alreadyBonded(PairingDevice)
    /// The wanted device was not heard in time; with nil, no device was.
    case nobody(wanted: String?)
    /// Several devices want to bond, and a person must choose one.
    case several([PairingDevice])
    /// The person here, or the other person, has said no.
    case refusedHere(PairingDevice)
    case refusedThere(PairingDevice)
    /// The person here, or the other person, has not answered in time.
    case unansweredHere(PairingDevice)
    case unansweredThere(PairingDevice)
    /// The other side was stopped.
    case leftThere(PairingDevice)
    /// The devices have paired, but one of them has found that the bond is too weak.
    case weakHere(PairingDevice, PairingWeakness)
    case weakThere(PairingDevice)
    /// The link broke.
    case lost(PairingDevice)
    /// Bluetooth could not pair the devices. The cause is the system's text.
    case failed(PairingDevice, cause: String)
    /// The other side has violated the protocol.
    case misspoke(PairingDevice)
    /// The radio has stopped working.
    case radio(BearerError)
    /// The person here has stopped the pairing.
    case stopped
}
