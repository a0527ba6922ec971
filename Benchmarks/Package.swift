// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// What the parts that compute cost (`docs/benchmarks.md`). `scripts/benchmarks` builds and runs them. Without the traits:
/// they count allocations by means that are not needed here.
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
                .product(name: "NodeStore", package: "RoadMesh"), .product(name: "MeshNode", package: "RoadMesh"),
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Benchmarks/Core",
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)],
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")])
    ]
)
