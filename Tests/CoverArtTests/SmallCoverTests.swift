// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import TestSupport
import Testing

@testable import CoverArt

@Suite("Covers for the air")
struct SmallCoverTests {
    private let folder = newFolder()

    /// A PNG of noise, uncompressed (RFC 2083), which is the most difficult to compress.
    private static func png(side: Int) -> [UInt8] {
        var random = UInt64(7)
        var rows: [UInt8] = []
        for _ in 0..<side {
            rows.append(0)
            for _ in 0..<3 * side {
                random = random &* 6_364_136_223_846_793_005 &+ 1
                rows.append(UInt8(truncatingIfNeeded: random >> 33))
            }
        }
        var data: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: rows.count, by: 65_535) {
            let block = rows[start..<min(start + 65_535, rows.count)]
            let count = UInt16(block.count)
            data.append(start + block.count == rows.count ? 1 : 0)
            for word in [count, ~count] { data += [UInt8(word & 255), UInt8(word >> 8)] }
            data += block
        }
        var (low, high) = (UInt32(1), UInt32(0))
        for byte in rows {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        data += bytes(high << 16 | low)
        let head = bytes(UInt32(side)) + bytes(UInt32(side)) + [8, 2, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", head) + chunk("IDAT", data)
            + chunk("IEND", [])
    }

    private static func bytes(_ word: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) }
    }

    private static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let named = Array(name.utf8) + data
        var crc = ~UInt32(0)
        for byte in named {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return bytes(UInt32(data.count)) + named + bytes(~crc)
    }

    @Test("a large picture becomes a JPEG that is sent over the air in at most twelve pieces", .timeLimit(.minutes(5)))
    func scales() async throws {
        let scaler = CoverScaler(drafts: folder + "/drafts")
        let large = Self.png(side: 700)
        let small = try #require(await scaler.small(large))
        #expect(ArtworkKind(head: small.bytes) == .jpeg && small.version != 0)
        #expect(small.bytes.count <= DJLimits.coverBytes)
        print("small cover: \(large.count) bytes of noise became \(small.bytes.count)")
        #expect(!FileManager.default.fileExists(atPath: folder + "/drafts"), "nothing is left on the disk")
        // A small picture stays unchanged.
        #expect(await scaler.small(small.bytes) == small)
        let file = newFolder()
        try Data(large).write(to: URL(filePath: file))
        #expect(await scaler.small(file: file) == small)
        try FileManager.default.removeItem(atPath: file)
    }

    @Test("data that are not a picture, or only begin like one, have no small cover", .timeLimit(.minutes(5)))
    func rubbish() async {
        let scaler = CoverScaler(drafts: folder + "/drafts")
        #expect(await scaler.small([]) == nil)
        #expect(await scaler.small(Array("#EXTM3U\nhttp://127.0.0.1/".utf8)) == nil)
        let cut = Array(Self.png(side: 60).prefix(40))
        #expect(await scaler.small(cut) == nil)
        #expect(await scaler.small([0xFF, 0xD8, 0xFF] + [UInt8](repeating: 7, count: 20_000)) == nil)
        #expect(await scaler.small(file: folder + "/nowhere") == nil)
    }

    @Test("without mpv, only small pictures are sent over the air", .timeLimit(.minutes(5)))
    func noPlayer() async throws {
        let scaler = CoverScaler(drafts: folder + "/drafts", mpv: "/nowhere/mpv")
        #expect(await scaler.small(Self.png(side: 100)) == nil)
        let small = [0xFF, 0xD8, 0xFF] + [UInt8](repeating: 7, count: 2_000)
        #expect(await scaler.small(small)?.bytes == small)
    }

    @Test("a guest stores the last covers that it got, and nothing of an earlier run")
    func shelf() async throws {
        let picture = [0xFF, 0xD8, 0xFF] + [UInt8](repeating: 7, count: 100)
        let former = try #require(await CoverShelf(folder: folder).keep(picture, of: "former"))
        let shelf = CoverShelf(folder: folder)
        var paths: [String] = []
        for number in 0..<DJLimits.keptCovers + 3 {
            paths.append(try #require(await shelf.keep(picture, of: "s\(number)")))
        }
        #expect(Set(paths).count == paths.count)
        let there = paths.filter { FileManager.default.fileExists(atPath: $0) }
        #expect(there == paths.suffix(DJLimits.keptCovers))
        #expect(!FileManager.default.fileExists(atPath: former))
        #expect(await shelf.keep([1, 2, 3], of: "a") == nil)
        #expect(try Data(contentsOf: URL(filePath: paths[10])) == Data(picture))
        try FileManager.default.removeItem(atPath: folder)
    }
}
