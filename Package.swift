// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// The settings of all targets: Swift 6, and warnings are errors.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
]

/// The settings of modules that compute. `ROADMESH_OPTIMIZE` optimizes them in a debug build and keeps their assertions, so tests
/// take less than half of the processor time. SwiftPM accepts no dependency with unsafe flags, so only scripts set it.
let computing =
    Context.environment["ROADMESH_OPTIMIZE"] == nil
    ? strict : strict + [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))]

/// Every product needs these packages.
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let collections: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")

/// A product of a package that only some of our products need. SwiftPM does not resolve that package for an application that
/// disables the trait.
func only(_ trait: String, _ product: String, of package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: [trait]))
}

let asyncAlgorithms = only("Bearers", "AsyncAlgorithms", of: "swift-async-algorithms")
/// A lock that the thread sanitizer supports.
let locks = only("Bearers", "NIOConcurrencyHelpers", of: "swift-nio")
let networking = only("Bearers", "NIOPosix", of: "swift-nio")
let networkTypes = only("Bearers", "NIOCore", of: "swift-nio")
let subprocess = only("Bearers", "Subprocess", of: "swift-subprocess")

let protobuf = only("DemocracyDJ", "SwiftProtobuf", of: "swift-protobuf")

let arguments = only("Node", "ArgumentParser", of: "swift-argument-parser")
let database = only("Node", "GRDB", of: "GRDB.swift")
/// SQLite's C interface, for the system's error number behind an error of SQLite.
let sqlite = only("Node", "GRDBSQLite", of: "GRDB.swift")
let differences = only("Node", "CustomDump", of: "swift-custom-dump")
let http = only("Node", "NIOHTTP1", of: "swift-nio")
let hummingbird = only("Node", "Hummingbird", of: "hummingbird")
let lifecycle = only("Node", "ServiceLifecycle", of: "swift-service-lifecycle")
let signals = only("Node", "UnixSignals", of: "swift-service-lifecycle")

let package = Package(
    name: "RoadMesh",
    // Phone apps use MeshProtocol, MeshSession and DemocracyDJ (docs/phones.md). All other products are for Linux.
    platforms: [.iOS(.v18), .macOS(.v15)],
    products: [
        .library(name: "MeshProtocol", targets: ["MeshProtocol"]),
        .library(name: "Bearers", targets: ["Bearers"]),
        .library(name: "BLETransport", targets: ["BLETransport"]),
        .library(name: "LANBearer", targets: ["LANBearer"]),
        .library(name: "BrokerBearer", targets: ["BrokerBearer"]),
        .library(name: "MeshSession", targets: ["MeshSession"]),
        .library(name: "DemocracyDJ", targets: ["DemocracyDJ"]),
        .library(name: "DemocracyDJTesting", targets: ["DemocracyDJTesting"]),
        .library(name: "NodeCore", targets: ["NodeCore"]),
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
    // All are enabled unless an application names its own (docs/swift-library.md). Without any, MeshProtocol and MeshSession
    // can be used.
    traits: [
        .trait(name: "Bearers", description: "Bearers, BLETransport, LANBearer and BrokerBearer"),
        .trait(name: "DemocracyDJ", description: "DemocracyDJ, NodeCore and MeshSimulator"),
        .trait(
            name: "Node", description: "All other products and the programs", enabledTraits: ["Bearers", "DemocracyDJ"]),
        .default(enabledTraits: ["Node"]),
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
        // One connection to a message bus, for all C code that uses D-Bus. Swift code does not import it.
        .systemLibrary(name: "CLibDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
        .target(name: "CDBus", dependencies: ["CLibDBus"]),
        // The headers of libbluetooth. The program calls none of its functions. pkgConfig would link the library, so it
        // is left out.
        .systemLibrary(
            name: "CLibBluetooth", path: "CBlueZ/libbluetooth", providers: [.apt(["libbluetooth-dev"])]),
        // The C shim. Only BLETransport imports it.
        .target(name: "CBlueZ", dependencies: ["CDBus", "CLibBluetooth", "CLibDBus"], path: "CBlueZ/shim"),

        // The targets from the bottom up: a target imports only targets above it in this list.
        // The prime-order group for proofs of a PIN.
        .target(name: "CSodium", linkerSettings: [.linkedLibrary("sodium")]),
        .target(name: "MeshProtocol", dependencies: ["CSodium", crypto, collections], swiftSettings: computing),
        // System calls of Linux that Swift's Glibc leaves out.
        .target(name: "CLinux"),
        // Bearers of every kind: the protocol, channels and framing, the manager, combined and virtual bearers.
        .target(
            name: "Bearers", dependencies: ["CLinux", "MeshProtocol", asyncAlgorithms, locks, logging],
            swiftSettings: strict),
        // Bluetooth LE through BlueZ.
        .target(
            name: "BLETransport",
            dependencies: ["Bearers", "CBlueZ", "MeshProtocol", collections, locks, logging, subprocess],
            swiftSettings: strict),
        // Wi-Fi and Ethernet as another radio. avahi-daemon discovers the other nodes.
        .target(name: "CAvahi", dependencies: ["CDBus", "CLibDBus"]),
        .target(
            name: "LANBearer",
            dependencies: ["CAvahi", "Bearers", "MeshProtocol", locks, logging, networking, networkTypes],
            swiftSettings: strict),
        // An MQTT broker as another radio, for cars out of each other's radio range.
        .target(name: "CMosquitto"),
        .target(
            name: "BrokerBearer", dependencies: ["CMosquitto", "Bearers", "MeshProtocol", locks, logging],
            swiftSettings: strict),
        .target(name: "MeshSession", dependencies: ["MeshProtocol", logging], swiftSettings: strict),
        .target(
            name: "DemocracyDJ",
            dependencies: ["MeshProtocol", protobuf],
            exclude: ["Wire/democracy_dj.proto", "Wire/democracy_dj.sha256"],
            resources: [.embedInCode("Texts")],
            swiftSettings: computing),
        // A complete node as one struct, with the commands and views of the people who use it. Nothing of Linux.
        .target(name: "NodeCore", dependencies: ["DemocracyDJ", "MeshProtocol"], swiftSettings: computing),
        .target(
            name: "NodeStore", dependencies: ["NodeCore", "MeshProtocol", crypto, database, sqlite, locks, logging],
            swiftSettings: strict),
        // Cover art from the web and on the disk. The C code contains no state and no decisions.
        .target(name: "CLibCurl"),
        .target(
            name: "CoverArt",
            dependencies: [
                "CLibCurl", "DemocracyDJ", "MeshProtocol", crypto, locks, logging, networking, subprocess,
            ],
            swiftSettings: strict),
        .target(
            name: "MeshNode",
            dependencies: [
                "Bearers", "CLinux", "CoverArt", "MeshSession", "DemocracyDJ", "NodeCore", "NodeStore", asyncAlgorithms,
                lifecycle, locks, logging,
            ],
            swiftSettings: strict),
        // The parts around a host, each a module with the C code that only it needs. The C code makes no decisions.
        .target(name: "CTagLib", linkerSettings: [.linkedLibrary("tag"), .linkedLibrary("uchardet")]),
        .target(
            name: "MusicLibrary",
            dependencies: [
                "CLinux", "CTagLib", "CoverArt", "MeshNode", "NodeCore", "DemocracyDJ", "MeshProtocol", crypto,
                database,
                locks, logging,
            ],
            swiftSettings: strict,
            // Foundation's copy of ICU. GRDB imports Foundation, so the program contains it anyway.
            linkerSettings: [.linkedLibrary("_FoundationICU")]),
        .target(
            name: "MusicPlayer",
            dependencies: [
                "MeshNode", "NodeCore", "DemocracyDJ", "MeshProtocol", lifecycle, logging, networking, networkTypes,
                subprocess,
            ],
            swiftSettings: strict),
        .target(name: "CQREncode", linkerSettings: [.linkedLibrary("qrencode")]),
        .target(
            name: "Dashboard",
            dependencies: [
                "CQREncode", "CoverArt", "MeshNode", "NodeCore", "MeshSession", "DemocracyDJ", "MeshProtocol", crypto,
                hummingbird,
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
                "CMediaPlayer", "CSystemd", "MusicLibrary", "MusicPlayer", "MeshNode", "NodeCore", "DemocracyDJ",
                "MeshProtocol",
                lifecycle,
                locks, logging,
            ],
            swiftSettings: strict),
        // Checks of a device: what works, what is notable, what is broken, and the changes that repair it.
        .target(
            name: "Diagnostics",
            dependencies: [
                "CLinux", "Bearers", "BLETransport", "NodeStore", "MeshNode", "NodeCore",
                subprocess,
            ],
            swiftSettings: strict),
        // Records a drive, reports on it, and replays it in the simulator.
        .target(
            name: "FieldTest",
            dependencies: [
                "Bearers", "BLETransport", "BrokerBearer", "DemocracyDJ", "MeshNode", "NodeCore", "MeshProtocol",
                "MeshSimulator", "NodeStore",
                collections, crypto, lifecycle, logging, networking, networkTypes,
            ],
            swiftSettings: strict),
        .target(name: "CEditLine", linkerSettings: [.linkedLibrary("edit")]),
        // The terminal's input and output for people, and the equivalent for programs.
        .target(
            name: "TerminalUI",
            dependencies: [
                "CEditLine", "Bearers", "BLETransport", "MeshNode", "NodeCore", "MeshSession", "DemocracyDJ",
                "MeshProtocol", "NodeStore", asyncAlgorithms,
                lifecycle, locks, logging, networking, networkTypes,
                signals,
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "roadmesh",
            dependencies: [
                "Bearers", "BLETransport", "BrokerBearer", "CLinux", "CoverArt", "Dashboard", "Diagnostics",
                "FieldTest",
                "HostIntegration", "LANBearer",
                "MeshNode", "MeshProtocol", "MeshSession", "NodeCore", "MusicLibrary",
                "MusicPlayer", "NodeStore", "TerminalUI", lifecycle,
                arguments,
                subprocess,
                signals,
                logging,
            ],
            swiftSettings: strict),

        // Simulated nodes in virtual time, for tests.
        .target(
            name: "MeshSimulator", dependencies: ["DemocracyDJ", "NodeCore", "MeshProtocol"], swiftSettings: computing),
        .executableTarget(
            name: "mesh-simulator",
            dependencies: [
                "MeshSimulator",
                arguments,
            ],
            swiftSettings: strict),

        // Thousands of nodes at one broker, for scripts/bench.
        .executableTarget(
            name: "broker-load",
            dependencies: [
                "Bearers", "BLETransport", "BrokerBearer", "DemocracyDJ", "MeshNode", "NodeCore", "MeshProtocol",
                "NodeStore", logging,
            ],
            swiftSettings: strict),

        // For tests of features: a store that makes a test list every change and every effect.
        .target(name: "DemocracyDJTesting", dependencies: ["DemocracyDJ", differences], swiftSettings: strict),

        // Shared code of the tests of several modules.
        .target(
            name: "TestSupport", dependencies: ["BrokerBearer", "CLinux", "DemocracyDJ", "MeshProtocol"],
            path: "Tests/Support", swiftSettings: strict),
        // Checks the source text against architecture rules.
        .testTarget(name: "ArchitectureTests", swiftSettings: strict),
        .testTarget(
            name: "MeshProtocolTests", dependencies: ["MeshProtocol", "MeshSimulator"], swiftSettings: strict),
        .testTarget(
            name: "BLETransportTests",
            dependencies: [
                "Bearers", "BLETransport", "BrokerBearer", "CLinux", "ExampleBearer", "LANBearer", "MeshProtocol",
                "MeshSession", "NodeCore", "TestSupport", locks, logging, networkTypes,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "MeshSessionTests",
            dependencies: ["MeshSession", "Bearers", "BLETransport", "NodeCore", "TestSupport"],
            swiftSettings: strict),
        // The bearer of the tutorial "Write a bearer". The package of the examples calls it FolderBearer. One build cannot have two
        // modules of one name.
        .target(
            name: "ExampleBearer", dependencies: ["Bearers", "MeshProtocol"], path: "Examples/FolderBearer",
            swiftSettings: strict),
        // The programs in Examples, which is a package of its own.
        .testTarget(
            name: "ExampleTests",
            dependencies: ["Bearers", "MeshProtocol", "MeshSession", "TestSupport"],
            path: "Examples",
            exclude: [
                "Package.swift", "FolderBearer", "Chat/main.swift", "FileTransfer/main.swift", "SensorFeed/main.swift",
                "Stops/main.swift",
            ],
            sources: ["Chat", "FileTransfer", "SensorFeed", "Stops", "Tests"],
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
            name: "MeshSimulatorTests", dependencies: ["MeshSimulator", "DemocracyDJ", "MeshProtocol", "NodeCore"],
            exclude: ["PlantedBugs"], swiftSettings: strict),
        .testTarget(
            name: "CoverArtTests", dependencies: ["CoverArt", "TestSupport", http, networking, networkTypes],
            swiftSettings: strict),
        .testTarget(
            name: "MeshNodeTests",
            dependencies: ["MeshNode", "Bearers", "BLETransport", "NodeCore", "NodeStore", "TestSupport", logging],
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
            dependencies: [
                "HostIntegration", "Bearers", "BLETransport", "CLinux", "NodeStore", "TestSupport", locks, networking,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "DiagnosticsTests",
            dependencies: [
                "Diagnostics", "Bearers", "BLETransport", "MusicLibrary", "NodeStore", "MeshNode", "NodeCore",
                "MeshProtocol",
                locks,
            ],
            swiftSettings: strict),
        // Runs the fuzz targets on inputs that were found before. For libFuzzer, Fuzz is a package of its own.
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
                "FieldTest", "BrokerBearer", "MeshNode", "NodeCore", "NodeStore", "MeshSimulator", "TestSupport",
                logging,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "TerminalUITests", dependencies: ["TerminalUI", "Bearers", "BLETransport", "MeshNode", "NodeCore"],
            swiftSettings: strict),
        // The documents, and what the program itself has.
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "Bearers", "BLETransport", "BrokerBearer", "CoverArt", "Dashboard", "DemocracyDJ", "Diagnostics",
                "FieldTest",
                "HostIntegration", "LANBearer", "MeshNode", "NodeCore", "MeshProtocol", "MeshSession", "MusicLibrary",
                "MusicPlayer",
                "NodeStore", "TerminalUI", "TestSupport", "roadmesh",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "roadmeshTests", dependencies: ["roadmesh", "FieldTest", "TestSupport", logging],
            swiftSettings: strict),
    ],
    cxxLanguageStandard: .cxx17
)

/// Targets and products that a build omits, by name. With a sanitizer, scripts/test builds only what it runs with it.
let leftOut = Set((Context.environment["ROADMESH_LEAVE_OUT"] ?? "").split(separator: " ").map(String.init))
package.targets.removeAll { leftOut.contains($0.name) }
package.products.removeAll { leftOut.contains($0.name) }
