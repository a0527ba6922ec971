// SPDX-License-Identifier: Apache-2.0

/// How a node introduces itself on a link, in `appStart` and `selfInfo`: its name, and where the conversation stands.
///
/// Who it is says the handshake: the identifier comes from the key that was proved in it.
public struct Introduction: Hashable, Sendable {
    /// The minor version of the protocol that it speaks. A newer one adds only what others may skip.
    public var minorVersion: UInt8
    /// What the person calls the node. Made fit to be shown.
    public var name: String
    /// Where its side of the conversation stands.
    public var resumption: Resumption

    /// An introduction in this code's version.
    public init(name: String, resumption: Resumption, minorVersion: UInt8 = ProtocolVersion.minor) {
        self.minorVersion = minorVersion
        self.name = name
        self.resumption = resumption
    }
}

/// Where one side of a conversation stands, so that a new link goes on where the last one broke.
public struct Resumption: Hashable, Sendable {
    /// Names the sender's numbering of its reliable messages to this peer. Not 0.
    public var epoch: UInt32
    /// The number of the first reliable message that the sender has not seen acknowledged.
    public var first: UInt64
    /// The receiver's epoch as the sender last knew it, 0 where it knows none.
    public var theirEpoch: UInt32
    /// Everything of that epoch up to this number is safe with the sender.
    public var delivered: UInt64

    /// A standing.
    public init(epoch: UInt32, first: UInt64, theirEpoch: UInt32, delivered: UInt64) {
        self.epoch = epoch
        self.first = first
        self.theirEpoch = theirEpoch
        self.delivered = delivered
    }
}

/// Which protocol this code speaks (`docs/protocol.md`, "Versions").
public enum ProtocolVersion {
    /// Advertised, sent in the clear, and part of the handshake: nodes of different major versions do not talk.
    public static let major: UInt8 = 1
    /// Sent in introductions: nodes of different minor versions skip what they do not know.
    public static let minor: UInt8 = 0
}

extension WireWriter {
    mutating func introduction(_ introduction: Introduction) {
        byte(introduction.minorVersion)
        integer(introduction.resumption.epoch)
        varint(introduction.resumption.first)
        integer(introduction.resumption.theirEpoch)
        varint(introduction.resumption.delivered)
        text(introduction.name)
    }
}

extension WireReader {
    mutating func introduction() -> Introduction? {
        guard let minor = byte(),
            let epoch: UInt32 = integer(), epoch != 0,
            let first = varint(), (1...Limits.largestNumber + 1).contains(first),
            let theirEpoch: UInt32 = integer(),
            let delivered = varint(), delivered <= Limits.largestNumber,
            let name = text(atMost: Limits.nameBytes)
        else { return nil }
        let resumption = Resumption(epoch: epoch, first: first, theirEpoch: theirEpoch, delivered: delivered)
        return Introduction(
            name: NodeName(untrusted: name).text, resumption: resumption, minorVersion: minor)
    }
}
