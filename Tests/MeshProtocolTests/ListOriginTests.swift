// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@Suite("Earlier places of a list's elements")
struct ListOriginTests {
    private func origins(_ new: [String], in old: [String]) -> [ListOrigin] {
        new.origins(in: old, by: { $0.first }, where: ==)
    }

    @Test("a song that moves up has moved, and all others have stayed")
    func oneMoves() {
        #expect(
            origins(["d", "a", "b", "c"], in: ["a", "b", "c", "d"])
                == [.moves(from: 3), .stays(from: 0), .stays(from: 1), .stays(from: 2)])
        #expect(
            origins(["b", "c", "d", "a"], in: ["a", "b", "c", "d"])
                == [.stays(from: 1), .stays(from: 2), .stays(from: 3), .moves(from: 0)])
    }

    @Test("a new element, or one with other content under the same key, has no earlier place")
    func new() {
        #expect(origins(["x", "a2", "b"], in: ["a1", "b"]) == [.new, .new, .stays(from: 1)])
        #expect(origins([], in: ["a"]) == [] && origins(["a"], in: []) == [.new])
    }

    @Test("equal elements are each found once")
    func twice() {
        #expect(origins(["a", "a", "a"], in: ["a", "b", "a"]) == [.stays(from: 0), .stays(from: 2), .new])
    }

    /// The longest ascending sequence of places, by trying all.
    private func most(_ places: ArraySlice<Int>, above least: Int = -1) -> Int {
        guard let first = places.first else { return 0 }
        let without = most(places.dropFirst(), above: least)
        return first > least ? max(without, 1 + most(places.dropFirst(), above: first)) : without
    }

    @Test("as many elements stay as possible, in any order", arguments: 0..<200)
    func asManyAsCan(seed: Int) {
        var chance = SeededGenerator(seed: UInt64(seed))
        let old = (0..<9).map { "\($0)" }
        let new = Array(old.shuffled(using: &chance).prefix(Int.random(in: 0...9, using: &chance)))
        let origins = origins(new, in: old)
        let stays = origins.compactMap { if case .stays(let from) = $0 { from } else { nil } }
        let found = origins.compactMap { origin -> Int? in
            switch origin {
            case .stays(let from), .moves(let from): from
            case .new: nil
            }
        }
        #expect(stays == stays.sorted())
        #expect(found.map { old[$0] } == new)
        #expect(stays.count == most(found[...]))
    }
}
