// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import roadmesh

@Suite("One stream of a pipe")
struct PipeStreamTests {
    private func stream(window: Int = 10) -> PipeStream { PipeStream(3, window: window) }

    @Test("it reads no more than the other side has room for, and goes on when there is room")
    func window() {
        var stream = stream()
        #expect(stream.readable == 10)
        #expect(stream.read([1, 2, 3, 4, 5, 6]) == [.send(.data(3, [1, 2, 3, 4, 5, 6]))])
        #expect(stream.readable == 4)
        _ = stream.read([1, 2, 3, 4])
        #expect(stream.readable == 0)
        #expect(stream.received(.credit(3, 5)) == [.read])
        #expect(stream.readable == 5)
    }

    @Test("a direction is confirmed when the destination has all bytes and is closed, not when they have arrived")
    func confirmed() {
        var stream = stream()
        #expect(stream.received(.data(3, [1, 2])) == [.write([1, 2])])
        #expect(stream.received(.end(3, count: 2)) == [])
        #expect(stream.wrote(2) == [.closeOutput])
        #expect(stream.closedOutput() == [.send(.done(3))])
        #expect(!stream.isComplete)
        #expect(stream.endInput() == [.send(.end(3, count: 0))])
        #expect(stream.received(.done(3)) == [.complete])
        #expect(stream.isComplete)
    }

    @Test("one direction can end while the other goes on")
    func halfClosed() {
        var stream = stream()
        _ = stream.endInput()
        _ = stream.received(.done(3))
        #expect(stream.readable == 0)
        #expect(stream.received(.data(3, [7])) == [.write([7])])
        _ = stream.wrote(1)
        #expect(stream.received(.end(3, count: 1)) == [.closeOutput])
        #expect(stream.closedOutput() == [.send(.done(3)), .complete])
    }

    @Test("half of the window is returned at once, and no frame is sent for less")
    func credit() {
        var stream = stream()
        _ = stream.received(.data(3, [1, 2, 3, 4, 5, 6]))
        #expect(stream.wrote(4) == [])
        #expect(stream.wrote(2) == [.send(.credit(3, 6))])
    }

    @Test(
        "what breaks the rules breaks the stream, since bytes may be missing",
        arguments: [
            [PipeFrame.data(3, Array(repeating: 0, count: 11))], [.end(3, count: 1)],
            [.data(3, [1]), .end(3, count: 2)], [.done(3)], [.credit(3, 1)], [.reset(3)],
            [.end(3, count: 0), .data(3, [1])], [.end(3, count: 0), .end(3, count: 0)],
        ])
    func broken(frames: [PipeFrame]) {
        var stream = stream()
        var actions: [PipeStream.Action] = []
        for frame in frames { actions += stream.received(frame) }
        #expect(actions.last == .broken)
        #expect(stream.isBroken && !stream.isComplete)
        // Nothing makes it whole again.
        #expect(stream.closedOutput() == [] && stream.received(.done(3)) == [] && stream.readable == 0)
    }

    @Test("credits that were on their way when the source ended are ignored")
    func lateCredit() {
        var stream = stream()
        _ = stream.read([1, 2, 3, 4, 5])
        _ = stream.endInput()
        #expect(stream.received(.credit(3, 5)) == [])
        #expect(!stream.isBroken)
    }

    @Test("a failed file is reported to the other side once")
    func fails() {
        var stream = stream()
        #expect(stream.fail() == [.send(.reset(3)), .broken])
        #expect(stream.fail() == [])
    }
}

@Suite("The frames of a pipe")
struct PipeFrameTests {
    private static let name = Array(UInt8(0)..<16)
    static let frames: [PipeFrame] = [
        .hello(session: name, carries: .standard), .hello(session: name, carries: .socket), .refuse(.busy),
        .open(1), .data(7, [1, 2, 3]), .data(7, []), .end(.max, count: .max), .credit(2, 1 << 20), .done(9), .reset(9),
        .over, .abort,
    ]

    @Test("each frame is read as it was written, also with bytes of a later version behind it", arguments: frames)
    func sameAgain(frame: PipeFrame) {
        #expect(PipeFrame(frame.bytes) == frame)
        if case .data = frame { return }
        #expect(PipeFrame(frame.bytes + [1, 2]) == frame)
    }

    @Test("a frame that is cut off is none", arguments: frames)
    func cutOff(frame: PipeFrame) {
        let bytes = frame.bytes
        let least =
            switch frame {
            case .data: 5
            default: bytes.count
            }
        for count in 0..<least { #expect(PipeFrame(Array(bytes.prefix(count))) == nil) }
    }

    @Test("an unknown kind and an unknown version are no frames, and an unknown refusal is one")
    func unknown() {
        #expect(PipeFrame([200, 0, 0, 0, 0]) == nil)
        var hello = PipeFrame.hello(session: Self.name, carries: .standard).bytes
        hello[5] = 9
        #expect(PipeFrame(hello) == nil)
        #expect(PipeFrame([2, 0, 0, 0, 0, 99]) == .refuse(.other))
    }
}
