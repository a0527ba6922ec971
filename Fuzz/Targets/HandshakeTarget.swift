// SPDX-License-Identifier: Apache-2.0

@testable import MeshProtocol

/// A node in a handshake, in each phase of both patterns. At the other end is a puppet that follows the protocol
/// correctly and sends what the script says.
enum HandshakeTarget {
    private static let steps = 12

    static func run(_ input: [UInt8]) throws {
        var script = Script(input)
        var scene = try scenes.get()[script.number(below: Scene.Beginning.allCases.count)]
        for _ in 0..<steps where !script.isAtEnd { try scene.step(&script) }
        try scene.finish()
    }

    private static let scenes = Result { try Scene.Beginning.allCases.map { try Scene($0) } }

    /// The node under test and its peer.
    struct Scene {
        /// The phase in which the script starts.
        enum Beginning: CaseIterable {
            case hostListens, hostIdentifies, hostConfirms, guestGreets, guestRecognises, guestWaitsForAnswer
        }

        private var node: LinkedNode
        private var puppet: Puppet
        /// Whether the node was dialled.
        private var isCalled: Bool { node.role == .responder }
        private let knownBefore: [ConversationKey: MeshCore.Remembered]

        init(_ beginning: Beginning) throws {
            switch beginning {
            case .hostListens, .hostIdentifies, .hostConfirms:
                node = try LinkedNode(.responder, seed: 1)
                puppet = try Puppet(.initiator, of: node)
                knownBefore = [:]
                try node.open(entropy: 11)
                if beginning == .hostIdentifies { try give(puppet.hello(.xx, payload: [])) }
                if beginning == .hostConfirms { try give(puppet.hello(.ik, payload: Self.appStart)) }
            case .guestGreets, .guestRecognises, .guestWaitsForAnswer:
                let host = try LinkedNode(.responder, seed: 7).core
                let knows = beginning == .guestRecognises
                let key = ConversationKey(host.local.id, as: .initiator, .democracyDJ)
                knownBefore = knows ? [key: Self.knownPeer(try LinkedNode.identity(7).publicKey)] : [:]
                node = try LinkedNode(.initiator, seed: 2, remembered: knownBefore)
                puppet = try Puppet(.responder, of: node)
                try node.open(expecting: host.local.id, entropy: 12)
                try listen()
                if beginning == .guestWaitsForAnswer { try give(puppet.next(payload: [])) }
            }
            try invariant(node.end == nil && node.peer == nil, "\(beginning) is the middle of a handshake")
        }

        private static func knownPeer(_ key: [UInt8]) -> MeshCore.Remembered {
            MeshCore.Remembered(publicKey: key, conversation: Conversation(epoch: 5).durable)
        }

        private static var appStart: [UInt8] {
            var writer = WireWriter()
            Frame.appStart(Hello(name: "Ana", resumption: Conversation(epoch: 9).resumption))
                .write(into: &writer)
            return writer.bytes
        }

        // MARK: Steps

        mutating func step(_ script: inout Script) throws {
            let wasConnected = node.peer != nil
            // Only a correctly sealed packet can connect the node.
            var isRight = false
            switch script.number(below: 8) {
            case 0: try give(script.chunk())
            case 1: try give([UInt8(1 + script.number(below: 6)), ProtocolVersion.major] + script.chunk())
            case 2: try give(puppet.hello(script.flag() ? .ik : .xx, payload: payload(&script)))
            case 3:
                isRight = true
                try give(puppet.next(payload: payload(&script)))
            case 4:
                isRight = true
                try give(puppet.record(payload(&script)))
            case 5: try give(Self.damaged(puppet.next(payload: payload(&script)), &script))
            case 6: try give(Self.damaged(puppet.record(payload(&script)), &script))
            default: try node.pass(.milliseconds(25 * Int(script.byte())))
            }
            if !wasConnected, node.peer != nil {
                try invariant(isRight, "only a sealed packet connects a node")
                try invariant(node.peer?.id == puppet.id, "the peer is the node that has proved its key")
            }
            if node.peer == nil { try isUntouched() }
        }

        /// A handshake ends in time, and a node without a connection has changed no number.
        mutating func finish() throws {
            guard node.peer == nil else { return }
            try node.pass(Limits.handshakeTimeout)
            try invariant(node.end != nil, "a handshake ends within five seconds")
            try isUntouched()
        }

        private func isUntouched() throws {
            try invariant(node.core.remembered == knownBefore, "a node without a connection changes no number")
            try invariant(node.core.connectedPeers.isEmpty, "no peer is connected")
        }

        private mutating func give(_ sdu: [UInt8]?) throws {
            guard let sdu else { return }
            try node.receive(sdu)
            try listen()
        }

        private mutating func listen() throws {
            let sdus = try node.drain()
            try invariant(sdus.count <= 2, "a node answers one SDU with at most a packet and a record")
            for sdu in sdus {
                if node.peer == nil {
                    try invariant(sdu.count <= Limits.leastSDUBytes, "a packet fits the smallest channel")
                }
                puppet.hear(sdu)
            }
        }

        /// A valid frame or arbitrary bytes, as the script says.
        private func payload(_ script: inout Script) -> [UInt8] {
            let kind = script.number(below: 5)
            guard kind > 0 else { return script.chunk() }
            let standing = Resumption(
                epoch: UInt32(truncatingIfNeeded: script.counter()), first: script.counter(),
                theirEpoch: UInt32(script.byte()), delivered: script.counter())
            let name = String(decoding: script.chunk().prefix(80), as: UTF8.self)
            var hello = Hello(name: name, resumption: standing)
            // A critical part that the node does not know.
            if kind == 4 { hello.unknownPart = 200 }
            var writer = WireWriter()
            (kind == 1 || kind == 4 && isCalled ? Frame.appStart(hello) : .selfInfo(hello)).write(into: &writer)
            return writer.bytes + (kind == 3 ? script.chunk() : [])
        }

        private static func damaged(_ sdu: [UInt8]?, _ script: inout Script) -> [UInt8]? {
            guard var sdu, !sdu.isEmpty else { return nil }
            sdu[Int(script.counter() % UInt64(sdu.count))] ^= UInt8(1 << script.number(below: 8))
            return sdu
        }
    }
}
