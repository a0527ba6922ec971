// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// Benchmarks of the parts that compute (`docs/benchmarks.md`). `scripts/benchmarks` builds and runs them, without the
/// package's traits: these count allocations with libraries that the benchmarks do not need.
let package = Package(
    name: "RoadMeshBenchmarks",
    dependencies: [
        .package(name: "RoadMesh", path: ".."),
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "Core",
            dependencies: [
                .product(name: "MeshProtocol", package: "RoadMesh"), .product(name: "DemocracyDJ", package: "RoadMesh"),
                .product(name: "NodeStore", package: "RoadMesh"), .product(name: "NodeCore", package: "RoadMesh"),
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Benchmarks/Core",
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)],
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")])
    ]
)
