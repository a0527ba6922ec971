// SPDX-License-Identifier: Apache-2.0

/// The origin of an element in an older list.
@usableFromInline
package enum ListOrigin: Hashable, Sendable {
    /// The element was at this index, in the same order with all others that stay.
    case stays(from: Int)
    /// The element was at this index, and its order with other elements has changed.
    case moves(from: Int)
    /// The element was not in the list.
    case new
}

extension Array {
    /// The origin of each element in an older list, with as many staying as possible. `key` identifies an element, and
    /// `isSame` tests whether it is unchanged. The standard library's difference works on any collection, and took 3 %
    /// of a vote's processor time.
    @inlinable
    package func origins<Key: Hashable>(
        in old: [Element], by key: (Element) -> Key, where isSame: (Element, Element) -> Bool
    ) -> [ListOrigin] {
        var places: [Key: Int] = [:]
        places.reserveCapacity(old.count)
        // If several elements have the same key, the first one is found first, then the next one.
        var following = [Int](repeating: -1, count: old.count)
        for place in old.indices.reversed() {
            following[place] = places.updateValue(place, forKey: key(old[place])) ?? -1
        }
        var origins: [Int] = []
        origins.reserveCapacity(count)
        for element in self {
            let key = key(element)
            guard let place = places[key], place >= 0, isSame(old[place], element) else {
                origins.append(-1)
                continue
            }
            places[key] = following[place]
            origins.append(place)
        }
        return ListOrigin.list(origins)
    }
}

extension ListOrigin {
    /// Finds the longest ascending subsequence of these indexes. -1 means none.
    @usableFromInline
    package static func list(_ places: [Int]) -> [ListOrigin] {
        // For each length, the element that ends an ascending sequence of that length with the lowest index.
        var ends: [Int] = []
        var previous = [Int](repeating: -1, count: places.count)
        for (index, place) in places.enumerated() where place >= 0 {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if places[ends[middle]] < place { low = middle + 1 } else { high = middle }
            }
            previous[index] = low > 0 ? ends[low - 1] : -1
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var origins = places.map { $0 < 0 ? ListOrigin.new : .moves(from: $0) }
        var index = ends.last ?? -1
        while index >= 0 {
            origins[index] = .stays(from: places[index])
            index = previous[index]
        }
        return origins
    }
}
