// SPDX-License-Identifier: Apache-2.0

import Benchmark

/// A complete host as a struct: it receives a vote, counts it, and sends each guest its update. The guests' protocol
/// takes part; disks, sockets and clocks do not.
func nodeBenchmarks() {
    for (guests, songs) in [(1, 10), (16, 10), (1, 100), (16, 100)] {
        let party = guests == 1 ? "1 guest" : "\(guests) guests"
        Benchmark(
            "vote, \(party), \(songs) songs", configuration: .init(scalingFactor: .kilo, maxIterations: 20)
        ) { benchmark in
            var party = Party(guests: guests, songs: songs)
            benchmark.startMeasurement()
            for number in benchmark.scaledIterations { party.vote(number) }
            benchmark.stopMeasurement()
            precondition(party.unacknowledged == 0, "every vote has been counted")
            blackHole(party.sentBytes)
        }
    }
}
