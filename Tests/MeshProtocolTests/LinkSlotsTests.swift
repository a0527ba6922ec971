// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

@Suite("When the first of many links is due")
struct LinkSlotsTests {
    @Test("what is due first is found whatever was changed before")
    func dueHeap() {
        var (heap, random) = (DueHeap(), SeededGenerator(seed: 5))
        var times: [Int: MeshInstant] = [:]
        for _ in 0..<3_000 {
            let item = random.below(60)
            times[item] = random.chance(25) ? nil : MeshInstant.milliseconds(random.below(100))
            heap.set(times[item], for: item)
            #expect(heap.first == times.values.min())
            let now = MeshInstant.milliseconds(random.below(100))
            #expect(heap.items(by: now).sorted() == times.filter { $0.value <= now }.keys.sorted())
        }
    }
}
