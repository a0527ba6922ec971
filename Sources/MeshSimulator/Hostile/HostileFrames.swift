// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Frames of an attacker that breaks the rules. They are written by hand, since the protocol's own code refuses to
/// write them (`docs/protocol.md`, "Frames").
enum HostileFrames {
    static func frame(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
        [type] + varint(UInt64(body.count)) + body
    }

    static func hello(epoch: UInt32, first: UInt64, theirEpoch: UInt32, delivered: UInt64, name: String)
        -> [UInt8]
    {
        let standing = integer(epoch) + varint(first) + integer(theirEpoch) + varint(delivered)
        return frame(1, part(128, standing) + part(1, Array(name.utf8)))
    }

    /// A part of a hello.
    static func part(_ type: UInt8, _ value: [UInt8]) -> [UInt8] { [type] + varint(UInt64(value.count)) + value }

    /// Requests a circuit to a peer that does not exist.
    static func circuitOpen(_ circuit: UInt64) -> [UInt8] {
        frame(12, varint(circuit) + [UInt8](repeating: 7, count: 16) + [3] + varint(512) + [0])
    }

    static func ping(_ number: UInt64) -> [UInt8] { frame(7, varint(number)) }

    static func acknowledgement(_ number: UInt64) -> [UInt8] { frame(9, varint(number)) }

    static let goodbye: [UInt8] = frame(6, [])

    /// A reliable message.
    static func message(_ number: UInt64, flags: UInt8 = 0, body: [UInt8]) -> [UInt8] {
        frame(10, [flags] + varint(number) + body)
    }

    static func fragment(flags: UInt8, _ number: UInt64, _ data: [UInt8]) -> [UInt8] {
        frame(11, [flags] + varint(number) + data)
    }

    static func varint(_ value: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    private static func integer(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
