// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NodeCore
import Testing

@testable import FieldTest

@Suite("Positions from gpsd")
struct GPSDReaderTests {
    private static let fix =
        #"{"class":"TPV","device":"/dev/ttyACM0","mode":3,"time":"2026-11-28T09:00:01.000Z","lat":46.5571234,"#
        + #""lon":8.3311111,"altHAE":1200.1,"epx":3.1,"epy":4.9,"eph":5.72,"speed":22.04}"# + "\r\n"

    @Test("a position is read with its speed and its estimated error, in pieces of any size", arguments: [1, 7, 4_096])
    func fix(size: Int) {
        var reader = GPSDReader()
        let bytes = Array((#"{"class":"VERSION","release":"3.22"}"# + "\n" + Self.fix).utf8)
        let positions = stride(from: 0, to: bytes.count, by: size).flatMap {
            reader.take(bytes[$0..<min($0 + size, bytes.count)])
        }
        #expect(positions == [PositionRow(latitude: 46.557123, longitude: 8.331111, speed: 22, accuracy: 5.7)])
    }

    @Test("an older gpsd reports the error to the east and to the north, and the larger of them counts")
    func olderErrors() {
        var reader = GPSDReader()
        let positions = reader.take(Self.fix.replacing(#""eph":5.72,"#, with: "").utf8)
        #expect(positions.map(\.accuracy) == [4.9])
    }

    @Test(
        "what is no position is skipped, and the next one is read",
        arguments: [
            "", "{", "\u{0}", #"{"class":"TPV"}"#, #"{"class":"TPV","mode":1,"lat":1,"lon":2}"#,
            #"{"class":"TPV","mode":3,"lat":91,"lon":2}"#, #"{"class":"TPV","mode":3,"lat":1,"lon":1e999}"#,
            #"{"class":"TPV","mode":3,"lat":"1","lon":2}"#, #"{"class":"SKY","mode":3,"lat":1,"lon":2}"#,
            #"{"class":"ERROR","message":"no device"}"#,
            #"{"class":"TPV","mode":3,"lat":1,"lon":2,"device":""# + String(repeating: "x", count: 20_000) + #""}"#,
        ])
    func skipped(line: String) {
        var reader = GPSDReader()
        #expect(reader.take((line + "\n").utf8).isEmpty)
        #expect(reader.take(Self.fix.utf8).count == 1)
    }

    @Test("a line without an end takes no more memory than the longest line")
    func endless() {
        var reader = GPSDReader()
        for _ in 0..<100 { #expect(reader.take(repeatElement(UInt8(ascii: "x"), count: 10_000)).isEmpty) }
        #expect(MemoryLayout.size(ofValue: reader) < 100)
        #expect(reader.take(("\n" + Self.fix).utf8).count == 1)
    }

    @Test(
        "mutated lines give positions on Earth or none, and a valid line after them is read",
        arguments: 0..<40 as Range<UInt64>)
    func mutated(seed: UInt64) {
        var chances = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            var reader = GPSDReader()
            let positions = reader.take(Mutation.of(Array((Self.fix + Self.fix).utf8), using: &chances))
            #expect(positions.allSatisfy { abs($0.latitude) <= 90 && abs($0.longitude) <= 180 })
            // The first line may have lacked only its end.
            let next = reader.take(("\n" + Self.fix.replacing("09:00:01", with: "09:00:59")).utf8)
            #expect(next.last == PositionRow(latitude: 46.557123, longitude: 8.331111, speed: 22, accuracy: 5.7))
        }
    }

    @Test("a second report of the same measurement is not a new position")
    func repeated() {
        var reader = GPSDReader()
        #expect(reader.take((Self.fix + Self.fix).utf8).count == 1)
        #expect(reader.take(Self.fix.replacing("09:00:01", with: "09:00:02").utf8).count == 1)
    }

    @Test(
        "the address of gpsd is a port, or a host and a port",
        arguments: [
            ("2947", "localhost 2947"), ("car.local:1", "car.local 1"), ("", nil), ("host", nil), (":5", nil),
            ("a:0", nil), ("a:65536", nil), ("a:b:1", nil),
        ] as [(String, String?)])
    func address(text: String, meaning: String?) {
        #expect(GPSDAddress(text).map { "\($0.host) \($0.port)" } == meaning)
    }
}

@Suite("Positions in a recording")
struct RecordedPositionTests {
    private let origin = ContinuousClock.now

    private func recorded(_ positions: [(Double, PositionRow)], isShared: Bool = false) -> [DriveRow] {
        var recorder = Recorder(.guest, origin: origin, isShared: isShared)
        return positions.flatMap { recorder.take($0.1, now: origin + .seconds($0.0)) }
    }

    @Test("a receiver that measures ten times a second is recorded once a second")
    func pace() throws {
        // 0.1 s and 0.8 s are no binary fractions, so these are eighths.
        let rows = recorded(try (0...32).map { (Double($0) / 8, try Tracks.north(of: $0)) })
        #expect(rows.map(\.at) == [0, 0.875, 1.75, 2.625, 3.5])
    }

    @Test("a device that stands still is recorded every ten seconds")
    func standing() throws {
        let rows = recorded(try (0...35).map { (Double($0), try Tracks.north(of: 0)) })
        #expect(rows.map(\.at) == [0, 10, 20, 30])
    }

    @Test("a position is read as it was written, and one that is not on Earth is not read")
    func file() throws {
        let drive = Drives.drive([(1, .position(try Tracks.north(of: 3))), (2, .end("quit"))])
        #expect(try Drive(file: drive.file) == drive)
        let odd = drive.file.replacing(#""latitude":46.0"#, with: #""latitude":146.0"#)
        #expect(odd != drive.file)
        #expect(try Drive(file: odd).rows.count == 1)
    }

    @Test("a shared recording has no position of the first and last 200 m, and all between")
    func shared() throws {
        // 11 m in each second, for 1,100 m.
        let rows = recorded(try (0...100).map { (Double($0), try Tracks.north(of: $0 * 11)) }, isShared: true)
        #expect(rows.map(\.at) == (19...81).map(Double.init))
    }

    @Test("a shared recording of a device that goes less than 200 m has no position, and takes bounded memory")
    func yard() throws {
        let rows = recorded(try (0...10_000).map { (Double($0), try Tracks.north(of: $0 % 190)) }, isShared: true)
        #expect(rows.isEmpty)
    }

    @Test("a device that stands for hours after its drive shares no position of that place")
    func parked() throws {
        let road = try (0...100).map { (Double($0), try Tracks.north(of: $0 * 11)) }
        let place = try (101...4_000).map { (Double($0), try Tracks.north(of: 1_100 - $0 % 7)) }
        let rows = recorded(road + place, isShared: true)
        #expect(rows.map(\.at) == (19...81).map(Double.init))
    }

    @Test("an exported drive for sharing has the same positions, and all other rows")
    func exported() throws {
        let positions = try (0...100).map { (Double($0), Happening.position(try Tracks.north(of: $0 * 11))) }
        let drive = Drives.drive(positions + [(50.5, .mark("bridge")), (101, .end("quit"))])
        let shared = drive.withoutTrackEnds
        #expect(shared.rows.count == 63 + 2)
        #expect(shared.rows.first?.at == 19 && shared.rows.map(\.at) == shared.rows.map(\.at).sorted())
        #expect(shared.rows.contains { $0.what == .mark("bridge") })
    }
}
