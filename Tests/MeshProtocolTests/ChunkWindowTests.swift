// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

@Suite("The window of unacknowledged chunks")
struct ChunkWindowTests {
    private let chunk: [UInt8] = [0x80, 0, 1]

    @Test("no more chunks than the window are sent, and acknowledgements make room, for as long as a link lasts")
    func room() {
        var (one, other) = (ChunkWindow(), ChunkWindow())
        var told = 0
        for _ in 0..<Limits.chunkWindow { one.sent() }
        #expect(!one.hasRoom)
        for _ in 0..<500 {
            #expect(other.arrived(chunk) == .chunk)
            guard let acknowledgement = other.taken(chunk) else { continue }
            told += 1
            #expect(acknowledgement.count == 1)
            #expect(one.arrived(acknowledgement) == .acknowledgement)
            for _ in 0..<Limits.chunkAcknowledgements {
                #expect(one.hasRoom)
                one.sent()
            }
            #expect(!one.hasRoom)
        }
        #expect(told == 500 / Limits.chunkAcknowledgements)
    }

    @Test("the bytes are those of the document")
    func bytes() {
        var window = ChunkWindow()
        for _ in 0..<8 { #expect(window.arrived(chunk) == .chunk) }
        #expect((0..<8).map { _ in window.taken(chunk) } == Array(repeating: nil, count: 7) + [[0x47]])
    }

    @Test("a peer that sends more than the window without waiting ends the link")
    func flood() {
        var window = ChunkWindow()
        for _ in 0..<Limits.chunkWindow { #expect(window.arrived(chunk) == .chunk) }
        // The end of the link needs no room.
        #expect(window.arrived([0x03]) == .chunk)
        #expect(window.taken([0x03]) == nil)
        #expect(window.arrived(chunk) == .broken)
    }

    @Test(
        "chunks after the end of the link end it, because they would otherwise be queued without a limit",
        arguments: [[0x03], [0xC3], [0x80, 0, 1]])
    func behindTheEnd(_ value: [UInt8]) {
        var window = ChunkWindow()
        #expect(window.arrived([0x03]) == .chunk)
        #expect(window.arrived(value) == .broken)
        #expect(window.arrived([0x40]) == .broken, "an acknowledgement is looked at as before")
    }

    @Test("an acknowledgement of an unsent chunk ends the link, a repeated one does not")
    func forged() {
        var window = ChunkWindow()
        #expect(window.arrived([0x40]) == .broken)
        window.sent()
        window.sent()
        #expect(window.arrived([0x41]) == .acknowledgement)
        #expect(window.arrived([0x41]) == .acknowledgement)
        #expect(window.arrived([0x42]) == .broken)
        #expect(window.arrived([0x40]) == .broken)
    }

    @Test("a chunk that the radio has not accepted is not counted")
    func unsent() {
        var window = ChunkWindow()
        window.sent()
        window.sent()
        window.unsent()
        #expect(window.arrived([0x41]) == .broken)
        #expect(window.arrived([0x40]) == .acknowledgement)
    }
}
