// SPDX-License-Identifier: Apache-2.0

/// Gives out a sequence's elements one at a time, so that a stream over it holds none between its source and its
/// listener. For sequences whose iterators share what they iterate over, as those of streams and channels do.
package actor PulledEvents<Iterator: AsyncIteratorProtocol>
where Iterator.Element: Sendable, Iterator.Failure == Never {
    private var iterator: Iterator

    /// Takes over a sequence. Nobody else listens to it.
    package init<Source: AsyncSequence & Sendable>(_ source: Source) where Source.AsyncIterator == Iterator {
        iterator = source.makeAsyncIterator()
    }

    /// The next element, or nil at the end.
    package func next() async -> Iterator.Element? {
        var iterator = iterator
        return await iterator.next(isolation: self)
    }
}
