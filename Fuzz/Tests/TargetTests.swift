// SPDX-License-Identifier: Apache-2.0

import Testing

/// The targets themselves: a script reaches its steps, and a broken invariant is noticed.
@Suite("The fuzzers' targets")
struct TargetTests {
    @Test("an input of any length is a script", arguments: FuzzTarget.all.map(\.name))
    func anyInput(name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        for first in UInt8(0)...15 {
            try target.run([])
            try target.run([first])
            try target.run([first] + [UInt8](repeating: 0xFF, count: 40))
        }
    }

    @Test("real messages of two nodes break no invariant", arguments: FuzzTarget.all.map(\.name))
    func seeds(name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let seeds = try Seeds.make(for: name)
        #expect(seeds.count >= 10)
        for (number, seed) in seeds.enumerated() {
            #expect(throws: Never.self, "seed \(number)") { try target.run(seed) }
        }
    }

    @Test("slightly mutated messages break no invariant", arguments: FuzzTarget.all.map(\.name))
    func changed(name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let seeds = try Seeds.make(for: name)
        var state: UInt64 = 1
        func dice(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        for round in 0..<300 {
            var input = seeds[dice(seeds.count)] + seeds[dice(seeds.count)].dropFirst(dice(3))
            for _ in 0...dice(6) { input[dice(input.count)] = UInt8(dice(256)) }
            for _ in 0..<dice(3) { input.insert(UInt8(dice(256)), at: dice(input.count)) }
            do { try target.run(input) } catch {
                Issue.record("round \(round): \(error) in \(input)")
                return
            }
        }
    }
}
