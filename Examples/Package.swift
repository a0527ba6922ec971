// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let mesh: [Target.Dependency] = ["Bearers", "BLETransport", "MeshProtocol", "MeshSession"].map {
    .product(name: $0, package: "RoadMesh")
}

/// Three programs on the library (`docs/swift-library.md`). RoadMesh's own tests run their functions over the virtual
/// radio (`Tests`).
let package = Package(
    name: "RoadMeshExamples",
    dependencies: [.package(name: "RoadMesh", path: "..")],
    targets: [
        .executableTarget(name: "chat", dependencies: mesh, path: "Chat"),
        .executableTarget(name: "file-transfer", dependencies: mesh, path: "FileTransfer"),
        .executableTarget(name: "sensor-feed", dependencies: mesh, path: "SensorFeed"),
    ]
)
