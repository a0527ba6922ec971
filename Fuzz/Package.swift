// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// The fuzzers (`docs/fuzzing.md`). `scripts/fuzz` builds them and passes the flags for the sanitizers and libFuzzer,
/// since these apply to RoadMesh's own modules too.
let package = Package(
    name: "RoadMeshFuzz",
    dependencies: [.package(name: "RoadMesh", path: "..")],
    targets: [
        .systemLibrary(name: "CLibFuzzer", path: "CLibFuzzer"),
        // RoadMesh's own tests run the same targets on the corpus and the failures (`Tests`).
        .target(
            name: "FuzzTargets",
            dependencies: [
                .product(name: "MeshProtocol", package: "RoadMesh"), .product(name: "DemocracyDJ", package: "RoadMesh"),
            ],
            path: "Targets",
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        .executableTarget(
            name: "fuzz",
            dependencies: ["FuzzTargets", "CLibFuzzer"],
            path: "Program",
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
    ]
)
