// SPDX-License-Identifier: Apache-2.0

import NodeCore
import Testing

@testable import MeshProtocol

@Suite("The earliest deadline of many links")
struct LinkSlotsTests {
    @Test("the earliest deadline is found after any sequence of changes")
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
