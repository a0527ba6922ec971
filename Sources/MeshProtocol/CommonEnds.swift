// SPDX-License-Identifier: Apache-2.0

extension Array {
    /// Number of equal elements at the start of two lists, and of equal ones after that at their end. If one vote has
    /// changed a queue, few elements are left in between.
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
