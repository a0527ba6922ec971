// SPDX-License-Identifier: Apache-2.0

extension Array {
    /// How many elements at the beginning are the same in another list, and how many behind those at the end. Of a queue that one vote
    /// has changed little is left between them.
    package func commonEnds(
        with other: [Element], by isSame: (Element, Element) -> Bool
    ) -> (start: Int, end: Int) {
        let most = Swift.min(count, other.count)
        var start = 0
        while start < most, isSame(self[start], other[start]) { start += 1 }
        var end = 0
        while end < most - start, isSame(self[count - 1 - end], other[other.count - 1 - end]) { end += 1 }
        return (start, end)
    }
}
