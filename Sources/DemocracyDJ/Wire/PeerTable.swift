// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The peers of one message, each once. The rest of the message refers to them by number. An identifier of 32
/// hexadecimal digits costs 16 bytes once, and then 1 or 2 bytes per reference.
struct PeerTable {
    /// In the order of their numbers: first identifiers of 16 bytes, then identifiers that are other text.
    private(set) var all: [Peer.ID]
    /// The identifiers of 16 bytes, one after the other.
    private(set) var bytes: Data
    private let numbers: [Peer.ID: UInt32]

    private static let identifierBytes = 16

    /// The others, as text.
    var texts: [String] { Array(all[(bytes.count / Self.identifierBytes)...]) }

    /// Creates the table of all peers that a message names.
    init(_ named: some Sequence<Peer.ID>) {
        var seen: Set<Peer.ID> = []
        var texts: [Peer.ID] = []
        all = []
        bytes = Data()
        for peer in named where seen.insert(peer).inserted {
            if let identifier = Self.identifier(peer) {
                bytes.append(contentsOf: identifier)
                all.append(peer)
            } else {
                texts.append(peer)
            }
        }
        all += texts
        numbers = Dictionary(uniqueKeysWithValues: zip(all, 0...))
    }

    /// Decodes a table.
    init?(bytes: Data, texts: [String]) {
        guard bytes.count.isMultiple(of: Self.identifierBytes) else { return nil }
        let raw = Array(bytes)
        let starts = stride(from: 0, to: raw.count, by: Self.identifierBytes)
        all = starts.map { Hex.text(raw[$0..<$0 + Self.identifierBytes]) } + texts
        self.bytes = bytes
        numbers = [:]
    }

    /// The number of a peer in the table.
    func number(of peer: Peer.ID) -> UInt32 {
        guard let number = numbers[peer] else { preconditionFailure("the table was made without \(peer)") }
        return number
    }

    /// The peer with a number; nil if the table has no such number.
    func peer(_ number: UInt32) -> Peer.ID? {
        number < all.count ? all[Int(number)] : nil
    }

    /// The peers with these numbers; nil if the table lacks one of them.
    func peers(_ numbers: [UInt32]) -> [Peer.ID]? {
        let known = numbers.compactMap { peer($0) }
        return known.count == numbers.count ? known : nil
    }

    /// The identifier as 16 bytes, if it can be restored from them. Upper-case digits would return as lower-case ones.
    private static func identifier(_ peer: Peer.ID) -> [UInt8]? {
        guard peer.utf8.count == 2 * identifierBytes, let bytes = Hex.bytes(peer), Hex.text(bytes) == peer else {
            return nil
        }
        return bytes
    }
}
