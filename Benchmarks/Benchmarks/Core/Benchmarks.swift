// SPDX-License-Identifier: Apache-2.0

import Benchmark

// package-benchmark looks for a variable of this name.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .throughput], warmupIterations: 3, scalingFactor: .one, maxDuration: .milliseconds(600),
        maxIterations: 20_000)
    wireBenchmarks()
    stateBenchmarks()
    nodeBenchmarks()
    storeBenchmarks()
}
