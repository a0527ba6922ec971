// SPDX-License-Identifier: Apache-2.0

import FieldTest
import FoundationEssentials

/// A message between the two programs of `fieldtest bench`. All but the bulk data is JSON.
enum BenchMessage: Codable, Hashable {
    /// The sender's machine. The listener adds the largest number of callers that it has had at once. A caller leaves it
    /// out the first time.
    case hello(BenchMachine, callers: Int?)
    /// A question that the listener answers with the same number.
    case echo(Int)
    /// The listener is to send bulk data for this many milliseconds, and then `end`.
    case request(milliseconds: Int)
    /// Both sides are to send nothing for this many milliseconds. Then the listener answers with `load`.
    case idle(milliseconds: Int)
    /// The load of the listener in the idle session.
    case load(LoadRate)
    /// The bulk data of one direction is complete. The listener answers with the bytes that it has received.
    case end(bytes: Int)

    /// The first byte of bulk data. JSON never begins with it.
    static let bulkMark: UInt8 = 0
    /// A message of bulk data.
    static let bulk = [UInt8](repeating: bulkMark, count: BenchLimits.chunk)

    /// Decodes a message of the other side. Nil for anything else.
    init?(_ body: [UInt8]) {
        guard body.count <= BenchLimits.messageBytes,
            let message = try? JSONDecoder().decode(Self.self, from: Data(body))
        else { return nil }
        self = message
    }

    /// The message as bytes.
    var body: [UInt8] { (try? JSONEncoder().encode(self)).map { [UInt8]($0) } ?? [] }
}
