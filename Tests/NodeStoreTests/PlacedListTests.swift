// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import NodeStore

extension StoreTests {
    @Suite("Lists with positions for their elements")
    struct PlacedListTests {
        /// A table that applies a list's changes.
        private struct Table {
            var list = PlacedList<Int>()
            var rows: [Int64: Int] = [:]

            mutating func become(_ new: [Int]) throws -> Int {
                let changes = list.become(new)
                for row in changes.removed { #expect(rows.removeValue(forKey: row.place) == row.element) }
                for row in changes.inserted { #expect(rows.updateValue(row.element, forKey: row.place) == nil) }
                #expect(rows.sorted { $0.key < $1.key }.map(\.value) == new)
                #expect(list.elements == new)
                return changes.removed.count + changes.inserted.count
            }
        }

        @Test("rows in the order of their positions equal the list after any change", arguments: 1...20)
        func any(seed: UInt64) throws {
            var dice = Dice(seed: seed)
            var table = Table()
            for _ in 0..<60 {
                // Some elements occur twice.
                _ = try table.become((0..<dice.below(30)).map { _ in dice.below(40) })
            }
        }

        @Test("an element at either end or in between is one row, even after there was no room left in between")
        func between() throws {
            var table = Table()
            var list = [0, 1]
            #expect(try table.become(list) == 2)
            var anew = 0
            for number in 2..<200 {
                list.insert(number, at: 1)
                if try table.become(list) > 1 { anew += 1 }
            }
            // 32 elements fit before all get new positions.
            #expect(anew == 198 / 32)
            list.append(-1)
            #expect(try table.become(list) == 1)
            list.insert(-2, at: 0)
            #expect(try table.become(list) == 1)
        }

        @Test("positions at the limits of a row's range are assigned again")
        func farthest() throws {
            for place in [Int64.max, .min] {
                var list = PlacedList(rows: [PlacedList.Row(place: place, element: 1)])
                _ = list.become([0, 1, 2])
                #expect(list.elements == [0, 1, 2])
                #expect(list.rows[0].place < list.rows[1].place && list.rows[1].place < list.rows[2].place)
            }
            var wide = PlacedList(rows: [.init(place: .min, element: 1), .init(place: .max, element: 2)])
            #expect(wide.become([1, 5, 2]).inserted.count == 1)
        }
    }
}
