// SPDX-License-Identifier: Apache-2.0

/// Returns a sequence's elements one at a time, so that a stream over it buffers none between its source and its
/// listener. Use it for sequences whose iterators share their elements, such as streams and channels.
package actor PulledEvents<Iterator: AsyncIteratorProtocol>
where Iterator.Element: Sendable, Iterator.Failure == Never {
    private var iterator: Iterator

    /// Takes over a sequence that has no other listener.
    package init<Source: AsyncSequence & Sendable>(_ source: Source) where Source.AsyncIterator == Iterator {
        iterator = source.makeAsyncIterator()
    }

    /// The next element, or nil at the end.
    package func next() async -> Iterator.Element? {
        var iterator = iterator
        return await iterator.next(isolation: self)
    }
}
