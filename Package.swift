// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// Every target of ours is Swift 6, and a warning fails the build.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
]

let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let asyncAlgorithms: Target.Dependency = .product(name: "AsyncAlgorithms", package: "swift-async-algorithms")
let collections: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let database: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
/// What SQLite has been told by the system.
let sqlite: Target.Dependency = .product(name: "GRDBSQLite", package: "GRDB.swift")
let differences: Target.Dependency = .product(name: "CustomDump", package: "swift-custom-dump")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let http: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let subprocess: Target.Dependency = .product(name: "Subprocess", package: "swift-subprocess")
let networking: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
/// A lock that the thread sanitizer knows.
let locks: Target.Dependency = .product(name: "NIOConcurrencyHelpers", package: "swift-nio")
let networkTypes: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let protobuf: Target.Dependency = .product(name: "SwiftProtobuf", package: "swift-protobuf")

let package = Package(
    name: "RoadMesh",
    // An app for phones is built on MeshProtocol, MeshSession and DemocracyDJ (docs/phones.md); the rest is for Linux.
    platforms: [.iOS(.v18), .macOS(.v15)],
    products: [
        .library(name: "MeshProtocol", targets: ["MeshProtocol"]),
        .library(name: "BLETransport", targets: ["BLETransport"]),
        .library(name: "LANRadio", targets: ["LANRadio"]),
        .library(name: "BrokerRadio", targets: ["BrokerRadio"]),
        .library(name: "MeshSession", targets: ["MeshSession"]),
        .library(name: "DemocracyDJ", targets: ["DemocracyDJ"]),
        .library(name: "DemocracyDJTesting", targets: ["DemocracyDJTesting"]),
        .library(name: "NodeStore", targets: ["NodeStore"]),
        .library(name: "MeshNode", targets: ["MeshNode"]),
        .library(name: "MusicLibrary", targets: ["MusicLibrary"]),
        .library(name: "MusicPlayer", targets: ["MusicPlayer"]),
        .library(name: "Dashboard", targets: ["Dashboard"]),
        .library(name: "HostIntegration", targets: ["HostIntegration"]),
        .library(name: "Diagnostics", targets: ["Diagnostics"]),
        .library(name: "FieldTest", targets: ["FieldTest"]),
        .library(name: "MeshSimulator", targets: ["MeshSimulator"]),
        .executable(name: "roadmesh", targets: ["roadmesh"]),
        .executable(name: "mesh-simulator", targets: ["mesh-simulator"]),
        .executable(name: "broker-load", targets: ["broker-load"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.1.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0", traits: []),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.20.0", traits: []),
        .package(url: "https://github.com/pointfreeco/swift-custom-dump", from: "1.7.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.0", traits: []),
    ],
    targets: [
        // One connection to a message bus, for all C that speaks D-Bus; no Swift imports it.
        .systemLibrary(name: "CLibDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
        .target(name: "CDBus", dependencies: ["CLibDBus"]),
        // The headers of libbluetooth. No function of it is used, so there is no pkgConfig, which would link it.
        .systemLibrary(
            name: "CLibBluetooth", path: "CBlueZ/libbluetooth", providers: [.apt(["libbluetooth-dev"])]),
        // The C shim. It is imported by BLETransport alone.
        .target(name: "CBlueZ", dependencies: ["CDBus", "CLibBluetooth", "CLibDBus"], path: "CBlueZ/shim"),

        // From the bottom up: an import points up this list, never down it.
        // A group of prime order, for what is proved with a PIN.
        .target(name: "CSodium", linkerSettings: [.linkedLibrary("sodium")]),
        .target(name: "MeshProtocol", dependencies: ["CSodium", crypto, collections], swiftSettings: strict),
        .target(
            name: "BLETransport",
            dependencies: [
                "MeshProtocol", "CBlueZ", asyncAlgorithms, locks, logging,
                subprocess,
            ],
            swiftSettings: strict),
        // Wi-Fi and Ethernet as one more radio. Who is there, avahi-daemon tells.
        .target(name: "CAvahi", dependencies: ["CDBus", "CLibDBus"]),
        .target(
            name: "LANRadio",
            dependencies: ["CAvahi", "BLETransport", "MeshProtocol", locks, logging, networking, networkTypes],
            swiftSettings: strict),
        // Cars out of each other's reach, through an MQTT broker, as one more radio.
        .target(name: "CMosquitto"),
        .target(
            name: "BrokerRadio", dependencies: ["CMosquitto", "BLETransport", "MeshProtocol", locks, logging],
            swiftSettings: strict),
        .target(name: "MeshSession", dependencies: ["MeshProtocol", logging], swiftSettings: strict),
        .target(
            name: "DemocracyDJ",
            dependencies: ["MeshProtocol", protobuf],
            exclude: ["Wire/democracy_dj.proto", "Wire/democracy_dj.sha256"],
            resources: [.embedInCode("Texts")],
            swiftSettings: strict),
        .target(
            name: "NodeStore", dependencies: ["MeshProtocol", crypto, database, sqlite, locks, logging],
            swiftSettings: strict),
        // Covers of songs, from the web and on the disk. What is in C has neither state nor decisions.
        .target(name: "CLibCurl"),
        .target(
            name: "CoverArt",
            dependencies: [
                "CLibCurl", "DemocracyDJ", "MeshProtocol", crypto, locks, logging, networking, subprocess,
            ],
            swiftSettings: strict),
        // Whether the clock is set.
        .target(name: "CClockWatch"),
        .target(
            name: "MeshNode",
            dependencies: [
                "BLETransport", "BrokerRadio", "CClockWatch", "CoverArt", "LANRadio", "MeshSession", "DemocracyDJ",
                "NodeStore", asyncAlgorithms,
                lifecycle, locks, logging,
            ],
            swiftSettings: strict),
        // Around a host, each a room of its own, with the C that it alone needs. No decisions in the C.
        .target(name: "CTagLib", linkerSettings: [.linkedLibrary("tag"), .linkedLibrary("uchardet")]),
        .target(
            name: "MusicLibrary",
            dependencies: [
                "CTagLib", "CoverArt", "MeshNode", "DemocracyDJ", "MeshProtocol", crypto, database, locks, logging,
            ],
            swiftSettings: strict,
            // Foundation's copy of ICU, which is in the program in any case: GRDB imports Foundation.
            linkerSettings: [.linkedLibrary("_FoundationICU")]),
        .target(
            name: "MusicPlayer",
            dependencies: [
                "MeshNode", "DemocracyDJ", "MeshProtocol", lifecycle, logging, networking, networkTypes,
                .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            swiftSettings: strict),
        .target(name: "CQREncode", linkerSettings: [.linkedLibrary("qrencode")]),
        .target(
            name: "Dashboard",
            dependencies: [
                "CQREncode", "CoverArt", "MeshNode", "MeshSession", "DemocracyDJ", "MeshProtocol", crypto, hummingbird,
                lifecycle,
                locks, logging, networking, networkTypes,
            ],
            resources: [.embedInCode("Page")],
            swiftSettings: strict),
        .target(name: "CSystemd", linkerSettings: [.linkedLibrary("systemd")]),
        .target(name: "CMediaPlayer", dependencies: ["CDBus", "CLibDBus"]),
        .target(
            name: "HostIntegration",
            dependencies: [
                "CMediaPlayer", "CSystemd", "MusicLibrary", "MusicPlayer", "MeshNode", "DemocracyDJ", "MeshProtocol",
                lifecycle,
                locks, logging,
            ],
            swiftSettings: strict),
        // The kernel's word on the clock.
        .target(name: "CClock"),
        // The capabilities of a program's file.
        .target(name: "CCapability"),
        // Rights that the programs that this one starts do without.
        .target(name: "CConfine"),
        // What is good about a box, what is worth knowing and what is broken, and the changes that repair it.
        .target(
            name: "Diagnostics",
            dependencies: [
                "CCapability", "CClock", "BLETransport", "NodeStore", "MeshNode",
                .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            swiftSettings: strict),
        // A drive recorded, reported, and driven again in the simulator.
        .target(
            name: "FieldTest",
            dependencies: [
                "BLETransport", "BrokerRadio", "DemocracyDJ", "MeshNode", "MeshProtocol", "MeshSimulator", "NodeStore",
                crypto, lifecycle, logging,
            ],
            swiftSettings: strict),
        .target(name: "CEditLine", linkerSettings: [.linkedLibrary("edit")]),
        // What a person at a terminal sees and types, and what a program reads and writes in its place.
        .target(
            name: "TerminalUI",
            dependencies: [
                "CEditLine", "BLETransport", "MeshNode", "MeshSession", "DemocracyDJ", "MeshProtocol", asyncAlgorithms,
                lifecycle, locks, logging,
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "roadmesh",
            dependencies: [
                "BLETransport", "CConfine", "CoverArt", "Dashboard", "Diagnostics", "FieldTest", "HostIntegration",
                "MeshNode", "MusicLibrary",
                "MusicPlayer", "NodeStore", "TerminalUI", lifecycle,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                logging,
            ],
            swiftSettings: strict),

        // A car full of nodes in virtual time, for tests.
        .target(
            name: "MeshSimulator",
            dependencies: ["BLETransport", "DemocracyDJ", "MeshNode", "MeshProtocol", "NodeStore"],
            swiftSettings: strict),
        .executableTarget(
            name: "mesh-simulator",
            dependencies: [
                "MeshSimulator",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),

        // Thousands of nodes at one broker, for scripts/bench.
        .executableTarget(
            name: "broker-load",
            dependencies: [
                "BLETransport", "BrokerRadio", "DemocracyDJ", "MeshNode", "MeshProtocol", "NodeStore", logging,
            ],
            swiftSettings: strict),

        // For tests of features: a store that holds a test to every change and every effect.
        .target(name: "DemocracyDJTesting", dependencies: ["DemocracyDJ", differences], swiftSettings: strict),

        // What tests of several modules have in common.
        .target(
            name: "TestSupport", dependencies: ["BrokerRadio", "DemocracyDJ", "MeshProtocol"], path: "Tests/Support",
            swiftSettings: strict),
        // Rules that the sources keep, read as text.
        .testTarget(name: "ArchitectureTests", swiftSettings: strict),
        .testTarget(
            name: "MeshProtocolTests", dependencies: ["MeshProtocol", "MeshSimulator"], swiftSettings: strict),
        .testTarget(
            name: "BLETransportTests",
            dependencies: [
                "BLETransport", "BrokerRadio", "LANRadio", "MeshProtocol", "TestSupport", locks, logging, networkTypes,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "MeshSessionTests", dependencies: ["MeshSession", "BLETransport", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "DemocracyDJTests",
            dependencies: ["DemocracyDJ", "DemocracyDJTesting", "MeshSimulator", "TestSupport", locks],
            swiftSettings: strict),
        .testTarget(
            name: "NodeStoreTests",
            dependencies: ["NodeStore", "MeshProtocol", "MeshSimulator", "TestSupport", database],
            swiftSettings: strict),
        .testTarget(
            name: "MeshSimulatorTests", dependencies: ["MeshSimulator", "DemocracyDJ", "MeshProtocol", "NodeStore"],
            exclude: ["PlantedBugs"], swiftSettings: strict),
        .testTarget(
            name: "CoverArtTests", dependencies: ["CoverArt", "TestSupport", http, networking, networkTypes],
            swiftSettings: strict),
        .testTarget(
            name: "MeshNodeTests", dependencies: ["MeshNode", "NodeStore", "TestSupport", logging],
            swiftSettings: strict),
        .testTarget(
            name: "MusicLibraryTests",
            dependencies: ["MusicLibrary", "MusicPlayer", "TestSupport", database, subprocess],
            exclude: ["Fixtures"], swiftSettings: strict),
        .testTarget(
            name: "MusicPlayerTests", dependencies: ["MusicPlayer", "TestSupport", networkTypes],
            swiftSettings: strict),
        .testTarget(
            name: "DashboardTests",
            dependencies: ["Dashboard", "NodeStore", "TestSupport", http, hummingbird, networking, networkTypes],
            swiftSettings: strict),
        .testTarget(
            name: "HostIntegrationTests",
            dependencies: ["HostIntegration", "BLETransport", "NodeStore", "TestSupport", locks, networking],
            swiftSettings: strict),
        .testTarget(
            name: "DiagnosticsTests",
            dependencies: ["Diagnostics", "BLETransport", "NodeStore", "MeshNode", "MeshProtocol", locks],
            swiftSettings: strict),
        // What is fuzzed, on what was found: Fuzz is a package of its own, for libFuzzer.
        .testTarget(
            name: "FuzzTests",
            dependencies: ["MeshProtocol", "DemocracyDJ"],
            path: "Fuzz",
            exclude: ["CLibFuzzer", "Corpus", "Failures", "Package.swift", "Program"],
            sources: ["Targets", "Tests"],
            swiftSettings: strict),
        .testTarget(
            name: "FieldTestTests",
            dependencies: [
                "FieldTest", "BrokerRadio", "MeshNode", "NodeStore", "MeshSimulator", "TestSupport", logging,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "TerminalUITests", dependencies: ["TerminalUI", "BLETransport", "MeshNode"], swiftSettings: strict),
        // The documents, and what the program itself has.
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "BLETransport", "BrokerRadio", "CoverArt", "Dashboard", "DemocracyDJ", "Diagnostics", "FieldTest",
                "HostIntegration", "LANRadio", "MeshNode", "MeshProtocol", "MeshSession", "MusicLibrary", "MusicPlayer",
                "NodeStore", "TerminalUI", "TestSupport", "roadmesh",
            ],
            swiftSettings: strict),
        .testTarget(name: "roadmeshTests", dependencies: ["roadmesh", "FieldTest"], swiftSettings: strict),
    ],
    cxxLanguageStandard: .cxx17
)

/// What a build need not have, by name: with a sanitizer, scripts/test builds what it runs with it.
let leftOut = Set((Context.environment["ROADMESH_LEAVE_OUT"] ?? "").split(separator: " ").map(String.init))
package.targets.removeAll { leftOut.contains($0.name) }
package.products.removeAll { leftOut.contains($0.name) }
