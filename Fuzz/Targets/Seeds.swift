// SPDX-License-Identifier: Apache-2.0

@testable import DemocracyDJ
@testable import MeshProtocol

/// The initial inputs of each target: what two nodes really send each other. `scripts/fuzz --corpus` writes them.
public enum Seeds {
    /// The inputs for a target.
    public static func make(for target: String) throws -> [[UInt8]] {
        switch target {
        case "frame": try frames()
        case "framing": framings()
        case "record": records()
        case "handshake": handshakes()
        case "message": messages()
        case "resume": resumes()
        default: []
        }
    }

    private static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        bytes.count < 128
            ? [UInt8(bytes.count)] + bytes : [128 | UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes
    }

    // MARK: Streams and chunks

    private static func framings() -> [[UInt8]] {
        let sdus: [[UInt8]] = [[1], Array(1...40), [UInt8](repeating: 7, count: 300)]
        let stream = sdus.flatMap(StreamFraming.framed)
        var writer = ChunkWriter()
        let chunks = sdus.flatMap { writer.chunks(of: $0, room: 60) }
        let streams: [[UInt8]] = [
            chunk(stream), Array(stream.map { [1, $0] }.joined()), chunk(stream + [0, 0, 1]),
            chunk(stream) + chunk([8, 174]) + chunk(stream), chunk([0, 3, 1]),
        ]
        let several: [[UInt8]] = [
            chunks.flatMap { [0] + chunk($0) }, chunks.dropFirst().flatMap { [0] + chunk($0) },
            chunks.reversed().flatMap { [0] + chunk($0) }, chunks.flatMap { [1, 20] + chunk($0) },
            [0] + chunk([0x80, 0, 9, 1]) + [1, 120] + chunk([0x41, 2]), [0] + chunk([0xC0, 9, 9, 1]), [0, 0],
        ]
        let cuts: [[UInt8]] = [[2, 9, 3, 200, 9, 5, 30, 1, 1, 7, 0, 90], [0, 255, 9], [5, 1, 1, 2, 1, 3, 1, 4, 1]]
        // Chunks that are sent, delivered and taken until an acknowledgement is delivered; and forged values.
        let windows: [[UInt8]] = [
            (0..<20).flatMap { _ in [0, 0, 1, 3, 1, 5] } + [0, 3],
            (0..<40).flatMap { _ in [0, 0] as [UInt8] } + [1, 3],
            [0, 7, 1, 0x40, 0, 3], [0, 0, 1, 7, 2, 1, 1, 1, 3, 1, 3, 1, 5],
        ]
        return streams.map { [0] + $0 } + several.map { [2] + $0 } + cuts.flatMap { [[1] + $0, [3] + $0] }
            + windows.map { [4] + $0 }
    }

    // MARK: What a link carries

    private static let standing = Resumption(epoch: 0x7F3A_1C02, first: 2, theirEpoch: 0x1D40_B6E9, delivered: 1)

    private static var someFrames: [Frame] {
        let vote = MessageUnit(.reliable, number: 1, body: Array("vote".utf8)[...])
        let empty = MessageUnit(.latest, number: 300, body: [])
        var full = Hello(
            name: "Dad's Car", resumption: standing, minorVersion: 3, silence: .seconds(30),
            flags: AdvertisedFlags(critical: [.bond, .proof], ignorable: [.gatt]))
        full.proof = Hello.Proof(kind: 1, data: [1, 2, 3])
        var newer = full
        newer.unknownPart = 200
        let open = CircuitOpen(
            circuit: 2, host: String(repeating: "0a", count: 16), hopsLeft: 3, innerMTU: 512,
            passed: ["0badcafe", "c0ffee00"])
        return [
            .appStart(Hello(name: "Ana", resumption: standing)),
            .selfInfo(Hello(name: "Dad's Car", resumption: standing)), .refusal(.full),
            .selfInfo(full), .appStart(newer), .challenge(kind: 1, round: 1, data: [2]),
            .proof(kind: 1, round: 1, data: [3]), .circuitOpen(open), .circuitData(circuit: 2, sdu: [1, 2]),
            .circuitCredit(circuit: 2, credits: 300), .circuitClose(circuit: 2, .loop),
            .air(AirNote(intervals: LinkIntervals(brisk: 11, calm: 31))), .air(AirNote()), .makeRoom,
            .goodbye(),
            .goodbye(.stopped), .ping(1), .pong(1), .acknowledgement(300), .message(vote.bytes[...]),
            .message(empty.bytes[...]),
            .fragment(Fragment(lane: .latest, position: .first(total: 5_000), data: [1, 2])),
            .fragment(Fragment(lane: .reliable, position: .next(offset: 2), data: [3])),
        ]
    }

    private static func bytes(_ frame: Frame) -> [UInt8] {
        var writer = WireWriter()
        frame.write(into: &writer)
        return writer.bytes
    }

    private static func frames() throws -> [[UInt8]] {
        let plaintexts = someFrames.map(bytes)
        let units = [MessageUnit(.reliable, number: 1, body: [1]), MessageUnit(.latest, number: 1 << 62, body: [])]
        return plaintexts.map { [0] + $0 } + [[0] + plaintexts.flatMap(\.self), [0, 200, 2, 1, 2]]
            + (try packets().map { [1] + $0 }) + units.map { [2] + $0.bytes }
            + [[3, 0, 0] + chunk([1, 2, 3]), [3, 200, 200, 0, 90, 0, 255, 3, 40, 1, 17, 0]]
    }

    /// The packets of both handshakes, as on the air.
    private static func packets() throws -> [[UInt8]] {
        var packets: [[UInt8]] = [HandshakePacket.clearRefusal(major: ProtocolVersion.major, .busy).bytes]
        var known: [ConversationKey: MeshCore.Remembered] = [:]
        for _ in 0..<2 {
            var guest = try LinkedNode(.initiator, seed: 2, remembered: known)
            var host = try LinkedNode(.responder, seed: 1)
            try host.open(entropy: 11)
            try guest.open(expecting: host.core.local.id, entropy: 12)
            while guest.peer == nil {
                for sdu in try guest.drain() {
                    packets.append(sdu)
                    try host.receive(sdu)
                }
                for sdu in try host.drain() {
                    packets.append(sdu)
                    try guest.receive(sdu)
                }
            }
            known = guest.core.remembered
        }
        return packets
    }

    // MARK: Scripts

    /// Steps of `ConnectedPair`: the effect of each frame on a link that is up, and what nodes do without input.
    private static func records() -> [[UInt8]] {
        let chunks = someFrames.map { chunk(bytes($0)) }
        let said: [[UInt8]] = chunks.map { [0] + $0 } + chunks.map { [0x80] + $0 }
        let talk: [UInt8] = [7, 3, 1, 2, 3, 0, 11, 1, 0x8A, 11, 1, 7, 2, 1, 1, 1, 11, 1, 9, 50, 11, 1, 9, 50]
        let long: [UInt8] = [8, 200, 0, 8, 255, 1, 11, 1, 4, 255, 255, 0, 1, 0, 4, 20, 0, 1, 1, 0]
        let hostile: [UInt8] = [5, 0, 5, 1, 1, 5, 2, 1, 5, 3, 1, 6, 3, 1, 2, 3]
        let built: [[UInt8]] = (0..<21).map { [1, 0, $0, 1, 0, 3, 1, 2, 3, 11, 1] }
        let silence: [UInt8] = [9, 200, 9, 200, 11, 1]
        let leaving: [UInt8] = [7, 1, 1, 0, 11, 0]
        return said + built + [talk, long, hostile, silence, leaving]
    }

    /// Steps of `HandshakeTarget.Scene`, from each phase.
    private static func handshakes() -> [[UInt8]] {
        let introduced: [UInt8] = [9, 1, 0, 0, 3] + Array("Ana".utf8)
        let hello: [UInt8] = [2, 0, 0, 0, 3, 1] + introduced + [4, 0, 2, 7, 0]
        let known: [UInt8] = [2, 1, 1] + introduced + [4, 0, 2, 7, 1]
        let answer: [UInt8] = [3, 2] + introduced + [4, 0, 3, 7, 1, 7]
        let late: [UInt8] = [3, 0, 0, 4, 2] + introduced
        let damaged: [UInt8] = [5, 1] + introduced + [40, 3]
        let noise: [UInt8] = [1, 0, 32] + [UInt8](repeating: 9, count: 32)
        let talks: [[UInt8]] = [
            hello, known, answer, late, damaged, noise, [3, 1] + introduced, [4, 0, 3, 7, 1, 1], [0, 3, 6, 1, 6],
            [6, 0, 2, 6, 0, 1, 3], [7, 255], [2, 1, 4] + introduced + [4, 0], [3, 4] + introduced,
        ]
        return (UInt8(0)..<6).flatMap { scene in talks.map { [scene] + $0 } }
    }

    private static func messages() -> [[UInt8]] {
        let car = MessageTarget.car
        var next = car
        next.revision += 1
        next.queue.swapAt(0, 3)
        next.queue[1].voters.append("somebody else")
        next.connectedPeers.removeFirst()
        next.nowPlaying?.voters.removeFirst()
        next.skipVoters = []
        var later = next
        later.revision += 1
        later.nowPlaying = later.queue.removeFirst()
        later.isPlaying = false
        // A queue with the same song twice is invalid.
        var twice = car
        twice.revision += 1
        twice.queue.append(twice.queue[0])
        let pairs = [(car, next), (next, later), (car, twice)]
        let changes = pairs.compactMap { HostChange(from: $0, to: $1) }.map { MeshMessage.stateChange($0).encoded }
        let states = [car, next, later].map { MeshMessage.stateUpdate($0).encoded }
        let others: [MeshMessage] = [
            .intent(.vote(songID: "song-1")), .intent(.suggestSong(songID: "song-9")), .stateRequest,
            .intent(.takeBackVote(songID: "song-1")), .intent(.skip(songID: "song-0")),
            .stateHeartbeat(epoch: 7, revision: 3), .search(SearchRequest(number: 1, words: "title 1")),
            .searchResults(SearchResults(number: 1, songs: [MessageTarget.car.queue[0].song])),
            .rejection(.vote(songID: "song-1"), .alreadyVoted), .rejection(.suggestSong(songID: "x"), .unknownSong),
        ]
        let bodies = others.map(\.encoded) + changes + states
        return bodies.map { [0] + $0 } + changes.map { [1] + chunk($0) } + [[1] + changes.flatMap(chunk)]
            + [[2] + chunk(states[0]) + chunk(states[1]), [2] + chunk(states[2]) + chunk(states[0])]
    }

    /// Steps of `TwoConversations`, and disks.
    private static func resumes() -> [[UInt8]] {
        let link: [UInt8] = [4, 5]
        let stories: [[UInt8]] = [
            link + [0, 5, 6, 9, 0x89, 0, 0x8A], [0, 5, 0, 6] + link + [6, 6, 0x89, 1, 0x8A, 13, 0] + link,
            link + [0, 1, 6, 0x89, 0, 0x8A, 0x8D, 1] + link + [0, 2, 6],
            link + [0, 1, 11, 1] + link + [6, 0x89, 0, 12] + link, link + [0, 1, 6, 13, 1, 0, 2] + link + [6],
            link + [0, 1, 6, 0x8C] + link + [6],
            [14, 0, 1] + link + [6, 0x89, 0, 0x8A, 15, 0, 2] + link + [6, 0x89, 0, 0x8A],
            link + [0, 1, 6, 0x8E, 0x89, 0, 0x8F] + link, link + [3, 8, 3, 3, 8, 0x83, 0x88],
            link + [2, 255, 2, 200, 2, 9, 6, 6],
        ]
        let disks: [[UInt8]] = [
            [0, 1, 4, 5, 3, 0, 1, 2, 1, 0, 1, 2, 1, 0, 9], [0, 0, 1, 190, 128, 1, 0, 1, 1, 190, 129, 1],
            [1, 0, 1, 5, 3, 0, 2, 1, 4, 1, 5, 3, 2], [1, 2, 9, 9, 1, 1, 2, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 3, 0, 11, 1],
        ]
        return stories.map { [2] + $0 } + disks
    }
}
