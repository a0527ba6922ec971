// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The length of raw AAC (ISO/IEC 13818-7, ADTS). TagLib 1.13 does not know the format, and the format does not store
/// its length. It is estimated from the length of the first frames and the length of the file.
struct ADTSLength: Hashable, Sendable {
    var milliseconds: Int

    private static let headBytes = 64 << 10
    private static let frames = 2...200
    private static let rates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]

    /// Reads the first frames of a file.
    init?(of path: String) {
        guard path.lowercased().hasSuffix(".aac"), let file = ReadFile(path) else { return nil }
        let tag = Self.id3Bytes(file.block(at: 0, count: 10))
        self.init(head: file.block(at: Int64(tag), count: Self.headBytes), bytes: file.bytes - Int64(tag))
    }

    /// `head` is the beginning of the frames, and `bytes` the length of all of them.
    init?(head: [UInt8], bytes: Int64) {
        var offset = 0, count = 0, samples = 0, rate = 0
        while count < Self.frames.upperBound, let frame = Self.frame(head[offset...]) {
            guard count == 0 || frame.rate == rate else { break }
            (rate, samples, count) = (frame.rate, samples + frame.samples, count + 1)
            offset += frame.bytes
            if offset >= head.count { break }
        }
        // A single frame may be a coincidence.
        guard count >= Self.frames.lowerBound || (count == 1 && Int64(offset) == bytes) else { return nil }
        let seconds = Double(samples) / Double(rate) * Double(bytes) / Double(offset)
        milliseconds = Int(seconds * 1_000)
    }

    private static func frame(_ bytes: ArraySlice<UInt8>) -> (bytes: Int, samples: Int, rate: Int)? {
        let head = Array(bytes.prefix(7))
        // The sync word and layer 0.
        guard head.count == 7, head[0] == 0xFF, head[1] & 0xF6 == 0xF0 else { return nil }
        let rate = Int(head[2] >> 2 & 0x0F)
        let length = Int(head[3] & 0x03) << 11 | Int(head[4]) << 3 | Int(head[5] >> 5)
        guard rates.indices.contains(rate), length > 7 else { return nil }
        return (length, 1_024 * (Int(head[6] & 0x03) + 1), rates[rate])
    }

    /// The length of the ID3 tag, from its first ten bytes.
    private static func id3Bytes(_ head: [UInt8]) -> Int {
        guard head.count == 10, head.starts(with: Array("ID3".utf8)), head[6...].allSatisfy({ $0 < 0x80 }) else {
            return 0
        }
        return 10 + head[6...].reduce(0) { $0 << 7 | Int($1) }
    }
}
