// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The peers of one message, each once. Everywhere else in the message they are numbers in this table: an identifier of
/// 32 hexadecimal digits costs 16 bytes once, and then one or two.
struct PeerTable {
    /// In the order of their numbers: those of 16 bytes first, then those that are other text.
    private(set) var all: [Peer.ID]
    /// The first ones, 16 bytes each.
    private(set) var bytes: Data
    private let numbers: [Peer.ID: UInt32]

    private static let identifierBytes = 16

    /// The others, as text.
    var texts: [String] { Array(all[(bytes.count / Self.identifierBytes)...]) }

    /// A table of all peers that a message names.
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

    /// A table that has arrived.
    init?(bytes: Data, texts: [String]) {
        guard bytes.count.isMultiple(of: Self.identifierBytes) else { return nil }
        let raw = Array(bytes)
        let starts = stride(from: 0, to: raw.count, by: Self.identifierBytes)
        all = starts.map { Hex.text(raw[$0..<$0 + Self.identifierBytes]) } + texts
        self.bytes = bytes
        numbers = [:]
    }

    /// The number of a peer that the message names.
    func number(of peer: Peer.ID) -> UInt32 {
        guard let number = numbers[peer] else { preconditionFailure("the table was made without \(peer)") }
        return number
    }

    /// The peer of a number that has arrived, or nil where the table ends before.
    func peer(_ number: UInt32) -> Peer.ID? {
        number < all.count ? all[Int(number)] : nil
    }

    /// The peers of numbers that have arrived, or nil where the table ends before one.
    func peers(_ numbers: [UInt32]) -> [Peer.ID]? {
        let known = numbers.compactMap { peer($0) }
        return known.count == numbers.count ? known : nil
    }

    /// The 16 bytes, where they say the same as the text does: upper-case digits would come back as others.
    private static func identifier(_ peer: Peer.ID) -> [UInt8]? {
        guard peer.utf8.count == 2 * identifierBytes, let bytes = Hex.bytes(peer), Hex.text(bytes) == peer else {
            return nil
        }
        return bytes
    }
}
