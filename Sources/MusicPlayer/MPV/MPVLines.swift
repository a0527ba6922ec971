// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// Splits mpv's output into lines. A line that is too long ends the conversation, since a working mpv sends none.
struct MPVLines: NIOSingleStepByteToMessageDecoder {
    typealias InboundOut = [UInt8]

    /// A line was longer than the limit.
    struct TooLong: Error {}

    let limit: Int

    mutating func decode(buffer: inout ByteBuffer) throws -> [UInt8]? {
        let bytes = buffer.readableBytesView
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
            if bytes.count > limit { throw TooLong() }
            return nil
        }
        let length = end - bytes.startIndex
        guard length <= limit, let line = buffer.readBytes(length: length) else { throw TooLong() }
        buffer.moveReaderIndex(forwardBy: 1)
        return line
    }

    // An incomplete line at the end is ignored.
    mutating func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) throws -> [UInt8]? { try decode(buffer: &buffer) }
}
