// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The difference between two lists: the removed elements, and the inserted ones with their positions. A moved element
/// is named by its old index and not sent again.
struct ListChange<Element: Hashable & Sendable>: Hashable, Sendable {
    /// The source of an inserted element.
    enum Source: Hashable, Sendable {
        /// An index in the old list.
        case moved(from: Int)
        case new(Element)
    }

    struct Insertion: Hashable, Sendable {
        /// An index in the new list, after all earlier insertions.
        var at: Int
        var source: Source
    }

    /// Indices in the old list, in ascending order. Moved elements are not among them.
    var removed: [Int] = []
    /// The inserted elements, in ascending order of index.
    var inserted: [Insertion] = []

    /// Creates an empty change.
    init() {}

    /// Whether the change is empty.
    var isNothing: Bool { removed.isEmpty && inserted.isEmpty }

    init(from old: [Element], to new: [Element]) {
        self.init(from: old, to: new, key: { $0 }, isSame: ==) { $0 }
    }

    /// Diffs two lists. Elements that `isSame` accepts are unchanged; they must have the same `key`. New elements are
    /// stored as their `part`. Only elements between the common ends of the lists are compared.
    init<Whole>(
        from old: [Whole], to new: [Whole], key: (Whole) -> some Hashable, isSame: (Whole, Whole) -> Bool,
        of part: (Whole) -> Element
    ) {
        let (start, end) = old.commonEnds(with: new, by: isSame)
        guard start < max(old.count, new.count) else { return }
        let new = Array(new[start..<new.count - end])
        var isGone = [Bool](repeating: true, count: old.count - end - start)
        let origins = new.origins(in: Array(old[start..<old.count - end]), by: key, where: isSame)
        for (place, origin) in origins.enumerated() {
            switch origin {
            case .stays(let from): isGone[from] = false
            case .moves(let from):
                isGone[from] = false
                inserted.append(Insertion(at: start + place, source: .moved(from: start + from)))
            case .new: inserted.append(Insertion(at: start + place, source: .new(part(new[place]))))
            }
        }
        removed = isGone.indices.filter { isGone[$0] }.map { start + $0 }
    }

    /// The new list; nil if the change does not fit the old one.
    func applied(to old: [Element]) -> [Element]? {
        guard !isNothing else { return old }
        var taken = removed
        for case .moved(let place) in inserted.lazy.map(\.source) { taken.append(place) }
        guard var list = old.without(taken) else { return nil }
        for insertion in inserted {
            guard (0...list.count).contains(insertion.at) else { return nil }
            switch insertion.source {
            case .moved(let place): list.insert(old[place], at: insertion.at)
            case .new(let element): list.insert(element, at: insertion.at)
            }
        }
        return list
    }
}

extension Array {
    /// The array without the elements at some indices, which may repeat; nil if an index is out of bounds. The ranges
    /// between them are copied as a whole, since copying a thousand guests one by one takes longer.
    func without(_ places: [Int]) -> [Element]? {
        guard places.allSatisfy(indices.contains) else { return nil }
        var left: [Element] = []
        left.reserveCapacity(count)
        var start = 0
        for place in places.sorted() where place >= start {
            left += self[start..<place]
            start = place + 1
        }
        left += self[start...]
        return left
    }
}
