// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let mesh: [Target.Dependency] = ["Bearers", "BLETransport", "MeshProtocol", "MeshSession"].map {
    .product(name: $0, package: "RoadMesh")
}

/// Four programs and a bearer on the library (`docs/swift-library.md`). RoadMesh's own tests run their functions over the virtual
/// radio (`Tests`).
let package = Package(
    name: "RoadMeshExamples",
    dependencies: [.package(name: "RoadMesh", path: "..", traits: ["Bearers"])],
    targets: [
        .target(name: "FolderBearer", dependencies: mesh, path: "FolderBearer"),
        .executableTarget(name: "chat", dependencies: mesh + ["FolderBearer"], path: "Chat"),
        .executableTarget(name: "file-transfer", dependencies: mesh + ["FolderBearer"], path: "FileTransfer"),
        .executableTarget(name: "sensor-feed", dependencies: mesh + ["FolderBearer"], path: "SensorFeed"),
        .executableTarget(name: "stops", dependencies: mesh + ["FolderBearer"], path: "Stops"),
    ]
)
