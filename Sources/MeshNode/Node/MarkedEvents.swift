// SPDX-License-Identifier: Apache-2.0

import NodeCore

/// A node's events with marks between them. A listener that sends an input puts a mark after it. At the mark it has
/// received all earlier events.
package struct MarkedEvents: Sendable {
    /// An event or a mark.
    package enum Item: Sendable {
        case event(NodeEvent)
        case mark(Int)
    }

    /// The events and marks, in order. It ends with the node.
    package let stream: AsyncStream<Item>
    private let continuation: AsyncStream<Item>.Continuation

    init(_ stream: AsyncStream<Item>, _ continuation: AsyncStream<Item>.Continuation) {
        (self.stream, self.continuation) = (stream, continuation)
    }

    /// Puts a mark after all events so far.
    package func mark(_ number: Int) { continuation.yield(.mark(number)) }
}
