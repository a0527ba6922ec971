// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import MeshProtocol

/// Replays the exchange in docs/protocol.md, which another implementation has written
/// (Tests/Interop/roadmesh_peer/exchange.py), with the same keys. Each node sends the document's bytes, and understands
/// the other's bytes as the document explains them.
@Suite("The exchange in the document, byte by byte")
struct ExchangeTests {
    static let ana = "Ana"
    static let car = "Dad's Car"

    @Test("Both sides of both links send the document's bytes, and learn what it states")
    func replay() throws {
        let document = try Document()
        #expect(document.links.map(\.count) == [7, 6])
        var nodes = try [Self.ana, Self.car].map { try Node($0, document) }
        for (index, steps) in document.links.enumerated() {
            try replay(steps, on: index + 1, document, &nodes)
        }
        #expect(nodes.allSatisfy { $0.core.misbehaviours.isEmpty })
        // The vote was acknowledged.
        #expect(
            nodes[0].core.conversation(nodes[0].core.key(nodes[1].core.local.id, as: .initiator))?.unacknowledged == 0)
    }

    private func replay(_ steps: [Step], on link: Int, _ document: Document, _ nodes: inout [Node]) throws {
        let head = Identity.head(of: nodes[1].core.local.id)
        try nodes[1].open(link, as: .responder, expected: nil, document)
        try nodes[0].open(link, as: .initiator, expected: head, document)
        for step in steps {
            let sender = step.sender == Self.ana ? 0 : 1
            let receiver = nodes[1 - sender].core.local.id
            try nodes[sender].doWhatIsSaid(in: step.said, on: link, to: receiver)
            let sdu = nodes[sender].core.nextSDU(for: link, limit: Limits.sduBytes)?.sdu
            #expect(sdu.map(Hex.text) == Hex.text(step.sdu), "\(step.title)")
            #expect(nodes[1 - sender].receive(step.sdu, on: link) == step.told, "\(step.title)")
        }
        for index in nodes.indices {
            #expect(nodes[index].core.nextSDU(for: link, limit: Limits.sduBytes) == nil, "nothing more is said")
            _ = nodes[index].core.channelClosed(link)
        }
    }

    /// One of the two nodes.
    private struct Node {
        let name: String
        var core: MeshCore

        init(_ name: String, _ document: Document) throws {
            self.name = name
            let identity = try #require(Identity(stored: document.key("\(name), static")))
            core = MeshCore(identity: identity, name: name, service: .democracyDJ)
        }

        mutating func open(
            _ link: Int, as role: LinkRole, expected: Peer.ID?, _ document: Document
        ) throws {
            // Only the first link needs an epoch: the conversation keeps it.
            let epoch = link == 1 ? try document.epoch(of: name) : [0, 0, 0, 9]
            let entropy = MeshCore.Entropy(try document.key("\(name), link \(link)") + epoch)
            _ = core.opened(
                link, as: role, sendMTU: Limits.sduBytes, expected: expected, entropy: entropy, now: .zero)
        }

        /// Runs the steps that a test must trigger: the application's messages, and this side's goodbye.
        mutating func doWhatIsSaid(in plaintext: [UInt8], on link: Int, to peer: Peer.ID) throws {
            var reader = FrameReader(plaintext[...])
            while let next = reader.next() {
                switch next {
                case .frame(.message(let bytes)):
                    let unit = try #require(MessageUnit(bytes))
                    // The state that is sent with the answer, before the link is up.
                    if core.link(to: peer) == nil {
                        #expect(core.welcome(Array(unit.body), on: link) == [.wake(link)])
                        continue
                    }
                    let key = try #require(core.lastConversation(with: peer))
                    let (sending, _) = core.send(Array(unit.body), as: unit.messageClass, to: key)
                    #expect(sending == .queued(number: unit.number))
                case .frame(.goodbye): _ = core.leave(link)
                default: continue
                }
            }
        }

        /// Returns what the node learns from an SDU, in the document's words. Reliable messages count as stored at
        /// once.
        mutating func receive(_ sdu: [UInt8], on link: Int) -> String {
            var words: [String] = []
            for case .tell(_, let event) in core.received(sdu, on: link, now: .zero) {
                if let said = Self.words(for: event) { words.append(said) }
                if case .received(let message) = event { _ = core.accept(upTo: message) }
            }
            return words.joined(separator: "; ")
        }

        /// Returns nil for events that the node has caused itself.
        private static func words(for event: LinkEvent) -> String? {
            switch event {
            case .admitted, .latestHasLeft: nil
            case .connected(let peer): "connected to \(peer.name)"
            case .received(let message): "\(message.messageClass) message \(message.number)"
            case .acknowledged(let number, _): "acknowledged up to \(number)"
            case .roundTrip: "round trip"
            case .ended(let peer, .goodbye): "goodbye from \(peer.name)"
            default: "\(event)"
            }
        }
    }

    /// One SDU of the document.
    private struct Step {
        var title: String
        var said: [UInt8] = []
        var sdu: [UInt8] = []
        var told = ""

        var sender: String { String(title.prefix { $0 != ":" }) }
    }

    /// The section between the document's two marks.
    private struct Document {
        private let text: String
        /// The steps of each link.
        let links: [[Step]]

        init() throws {
            let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
            let whole = try String(contentsOf: root.appending(path: "docs/protocol.md"), encoding: .utf8)
            let begin = try #require(whole.range(of: "<!-- exchange -->"))
            let end = try #require(whole.range(of: "<!-- end of the exchange -->"))
            text = String(whole[begin.upperBound..<end.lowerBound])
            let blocks = text.components(separatedBy: "\n```").filter { $0.contains("\n  | ") }
            links = try blocks.map { try Self.steps($0) }
        }

        private static func steps(_ block: String) throws -> [Step] {
            var steps: [Step] = []
            for line in block.split(separator: "\n") {
                guard line.hasPrefix("  ") else {
                    steps.append(Step(title: String(line)))
                    continue
                }
                let last = try #require(steps.indices.last)
                let content = line.dropFirst(4)
                switch line.prefix(4) {
                case "  → ": steps[last].told = String(content)
                case "  | ": steps[last].sdu += try bytes(content)
                default: steps[last].said += try bytes(content)
                }
            }
            return steps
        }

        private static func bytes(_ text: Substring) throws -> [UInt8] {
            try #require(Hex.bytes(text.filter { $0 != " " }))
        }

        /// Returns a key by its owner.
        func key(_ owner: String) throws -> [UInt8] {
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("\(owner)  ") })
            return try Self.bytes(line.dropFirst(owner.count))
        }

        func epoch(of name: String) throws -> [UInt8] {
            let found = text.replacing("\n", with: " ").matches(of: /`([0-9a-f]{8})`/).map(\.output.1)
            return try Self.bytes(try #require(name == ExchangeTests.ana ? found.first : found.last))
        }
    }
}
