// SPDX-License-Identifier: Apache-2.0

/// A device that wants to bond, as another one sees it.
public struct PairingDevice: Hashable, Sendable {
    /// Which one it is, for as long as both look for one another. Opaque; the radio's own form.
    public let id: String
    /// What its person calls it. Untrusted text; empty where it has not been heard yet.
    public var name: String
    /// Random, made for this pairing: of two devices the one with the lower token dials.
    var token: String
    /// Whether this side has a bond with it already.
    var hasBond: Bool

    /// A device.
    init(id: String, name: String, token: String = "", hasBond: Bool = false) {
        self.id = id
        self.name = name
        self.token = token
        self.hasBond = hasBond
    }

    /// Whether it is the one that a person has named, by its name or its address.
    func isCalled(_ wanted: String) -> Bool { name == wanted || id.lowercased() == wanted.lowercased() }
}

/// Why two devices that have paired are not bonded for all that.
public enum PairingWeakness: Hashable, Sendable {
    /// The key has fewer than 16 bytes, this many: somebody may have made it so (KNOB), and can guess it.
    case shortKey(bytes: Int)
    /// The key is not of LE Secure Connections with numbers compared: somebody in between could have it.
    case notSecureConnections
    /// They have paired without this side's person being asked.
    case unasked
}

/// What happens on the way to a bond, for people.
public enum PairingUpdate: Hashable, Sendable {
    /// It has begun: this device can be found, and listens.
    case looking
    /// A device that wants to bond is heard.
    case heard(PairingDevice)
    /// Six digits that both devices show, if nobody is in between; the person has this long to say whether they do.
    case digits(String, PairingDevice, within: Duration)
    /// The person has said yes; now the other one has to.
    case waiting(for: PairingDevice)
    /// An old bond that only one of the two had is gone, so that a new one can be made.
    case forgotten(PairingDevice)
    /// The person has answered, and nothing was asked.
    case nothingAsked
}

/// How a pairing ends.
public enum PairingOutcome: Hashable, Sendable {
    /// Both sides are bonded, by a key of 16 bytes that nobody else has.
    case bonded(PairingDevice)
    /// They were before; nothing has changed.
    case alreadyBonded(PairingDevice)
    /// No device was heard in time that wants to bond; with nil, none at all.
    case nobody(wanted: String?)
    /// Several want to, and a person has to say which one is meant.
    case several([PairingDevice])
    /// The person here, or there, has said no.
    case refusedHere(PairingDevice)
    case refusedThere(PairingDevice)
    /// The person here, or there, has not answered in time.
    case unansweredHere(PairingDevice)
    case unansweredThere(PairingDevice)
    /// The other side was stopped.
    case leftThere(PairingDevice)
    /// They have paired, but not well enough, as this side or the other one has found.
    case weakHere(PairingDevice, PairingWeakness)
    case weakThere(PairingDevice)
    /// The link broke.
    case lost(PairingDevice)
    /// Bluetooth could not pair them; the cause in the system's words.
    case failed(PairingDevice, cause: String)
    /// The other side violates the protocol.
    case misspoke(PairingDevice)
    /// The radio does not work any more.
    case radio(RadioError)
    /// The person here has stopped it.
    case stopped
}
