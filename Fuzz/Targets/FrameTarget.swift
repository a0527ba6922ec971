// SPDX-License-Identifier: Apache-2.0

@testable import MeshProtocol

/// Decoders: a decoded value is within its limits, and decodes to the same value after encoding.
enum FrameTarget {
    static func run(_ input: [UInt8]) throws {
        guard let kind = input.first else { return }
        let rest = input.dropFirst()
        switch kind % 4 {
        case 0: try frames(rest)
        case 1: try packet(rest)
        case 2: try unit(rest)
        default: try fragments(rest)
        }
    }

    // MARK: Frames

    private static func frames(_ plaintext: ArraySlice<UInt8>) throws {
        var reader = FrameReader(plaintext)
        var count = 0
        while let next = reader.next() {
            count += 1
            switch next {
            case .frame(let frame): try isReadAgain(frame)
            case .skipped(let type): try invariant(type == 0 || type > 16, "frame type \(type) is known")
            case .malformed:
                var rest = reader
                try invariant(rest.next() == nil, "the reader stops at a malformed frame")
            }
        }
        try invariant(count <= plaintext.count / 2 + 1, "\(count) frames in \(plaintext.count) bytes")
    }

    private static func isReadAgain(_ frame: Frame) throws {
        var writer = WireWriter()
        frame.write(into: &writer)
        try invariant(writer.bytes.count == frame.byteCount, "\(frame) has its announced size")
        var reader = FrameReader(writer.bytes[...])
        let again = reader.next()
        try invariant(again == .frame(frame), "\(frame) is decoded as \(String(describing: again))")
        try invariant(reader.next() == nil, "\(frame) is one frame")
        switch frame {
        case .appStart(let hello), .selfInfo(let hello): try isWithinLimits(hello)
        case .message(let bytes): try unit(bytes)
        default: break
        }
    }

    private static func isWithinLimits(_ hello: Hello) throws {
        let name = hello.name
        try invariant(!name.isEmpty && name.utf8.count <= Limits.nameBytes, "a name has 1 to 248 bytes")
        try invariant(name.count <= Limits.nameCharacters, "a name has at most 64 characters")
        try invariant(!name.unicodeScalars.contains(where: UntrustedText.isHidden), "a name can be shown")
        let standing = hello.resumption
        try invariant(standing.epoch != 0, "an epoch is not 0")
        try invariant((1...Limits.largestNumber + 1).contains(standing.first), "`first` is a message number")
        try invariant(standing.delivered <= Limits.largestNumber, "`delivered` is a message number, or 0")
        try invariant(
            (Limits.pongTimeout...Limits.longestSilence).contains(hello.silence), "`silence` is within its bounds")
        try invariant(hello.proof?.data.count ?? 0 <= Limits.proofBytes, "a proof fits the smallest channel")
    }

    // MARK: Packets and units

    private static func packet(_ bytes: ArraySlice<UInt8>) throws {
        guard let packet = HandshakePacket(bytes) else { return }
        let written = packet.bytes
        try invariant(HandshakePacket(written[...]) == packet, "\(packet) is decoded again")
        try invariant(bytes.starts(with: written), "a packet is encoded as it was received")
    }

    private static func unit(_ bytes: ArraySlice<UInt8>) throws {
        guard let unit = MessageUnit(bytes) else { return }
        try invariant((1...Limits.largestNumber).contains(unit.number), "a unit has a number")
        try invariant(unit.body.count <= Limits.messageBytes, "a message has at most 65,535 bytes")
        let written = unit.bytes
        try invariant(written.count <= bytes.count, "a unit is encoded in its shortest form")
        try invariant(MessageUnit(written[...]) == unit, "a unit is decoded again")
    }

    // MARK: Fragments

    /// A unit is reassembled from fragments for rooms of any size. Arbitrary fragments never grow beyond the limit.
    private static func fragments(_ input: ArraySlice<UInt8>) throws {
        var script = Script(input)
        let count = 1 + script.number(below: 256) * script.number(below: 256)
        let unit = Array(([UInt8](repeating: 7, count: count) + script.chunk()).prefix(Limits.unitBytes))
        var fragmenter = Fragmenter(unit, lane: .latest)
        var reassembler = Reassembler()
        var outcome = Reassembler.Outcome.incomplete
        var rooms = 0
        while !fragmenter.isDone {
            // At the script's end the rooms are large enough.
            let room = script.isAtEnd ? Limits.sduBytes : script.number(below: 256) << script.number(below: 4)
            rooms += 1
            guard let frame = fragmenter.next(fitting: room) else {
                try invariant(room < 64, "\(room) bytes have room for a fragment")
                continue
            }
            try invariant(frame.byteCount <= room, "a frame of \(frame.byteCount) bytes was made for \(room)")
            try isReadAgain(frame)
            switch frame {
            case .message(let whole): outcome = .complete(Array(whole))
            case .fragment(let fragment):
                outcome = reassembler.add(fragment)
                try isTakenOnce(fragment, reassembler)
            default: try invariant(false, "a fragmenter makes only messages and fragments")
            }
        }
        try invariant(outcome == .complete(unit), "a unit is complete after \(rooms) rooms")
    }

    /// A repeated fragment overlaps an earlier one, or continues nothing.
    private static func isTakenOnce(_ fragment: Fragment, _ reassembler: Reassembler) throws {
        var again = reassembler
        try invariant(again.add(fragment) == .broken, "the fragment at \(fragment.position) is accepted twice")
    }
}
