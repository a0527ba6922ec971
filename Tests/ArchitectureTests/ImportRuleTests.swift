// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite("The import rule, checked in the sources")
struct ImportRuleTests {
    /// The modules from the bottom up: each may import those before it, and none after it. The field test is above the
    /// simulator, in which it replays a drive.
    private static let rooms = [
        "MeshProtocol", "DemocracyDJ", "NodeCore", "MeshSimulator", "Bearers", "BLETransport", "LANBearer",
        "BrokerBearer",
        "MeshSession", "NodeStore", "CoverArt", "MeshNode", "MusicLibrary", "MusicPlayer", "Dashboard",
        "HostIntegration", "Diagnostics", "TerminalUI", "FieldTest", "roadmesh",
    ]

    /// Modules for tests and measurements only. No other module imports them.
    private static let besideTheRooms: Set<String> = ["DemocracyDJTesting", "broker-load", "mesh-simulator"]

    /// C modules, and the one module that may import each.
    private static let shims = [
        "CBlueZ": "BLETransport", "CTagLib": "MusicLibrary", "CQREncode": "Dashboard", "CSystemd": "HostIntegration",
        "CLibCurl": "CoverArt",
        "CEditLine": "TerminalUI",
        "CMediaPlayer": "HostIntegration", "CAvahi": "LANBearer", "CMosquitto": "BrokerBearer",
        "CSodium": "MeshProtocol",
    ]

    @Test("every module is in the list, so that a new one gets a position")
    func complete() throws {
        let modules = try SourceTree.modules()
        try #require(modules.count > 10, "the sources are where this test looks")
        #expect(modules.subtracting(Self.rooms).subtracting(Self.besideTheRooms) == [])
    }

    @Test("imports only go down the list, never up")
    func down() throws {
        for room in try SourceTree.modules().intersection(Self.rooms) {
            let place = try #require(Self.rooms.firstIndex(of: room))
            let above = Self.besideTheRooms.union(Self.rooms[place...])
            for (imported, files) in try SourceTree.imports(of: room) where above.contains(imported) {
                Issue.record("\(room) imports \(imported), which is not below it: \(files.sorted())")
            }
        }
    }

    @Test("each C module is imported by its one module, and only BLETransport talks to BlueZ")
    func shims() throws {
        var seen: Set<String> = []
        for module in try SourceTree.modules() {
            for (imported, files) in try SourceTree.imports(of: module) {
                guard let room = Self.shims[imported] else {
                    #expect(!imported.hasPrefix("CLib"), "\(module): \(files.sorted())")
                    continue
                }
                seen.insert(imported)
                #expect(module == room, "\(module) imports \(imported): \(files.sorted())")
            }
        }
        #expect(seen == Set(Self.shims.keys))
    }

    @Test(
        "the protocol, the features, the node's core and the sessions import no Linux modules",
        arguments: ["MeshProtocol", "DemocracyDJ", "NodeCore", "MeshSession"])
    func portable(module: String) throws {
        let imports = try SourceTree.imports(of: module)
        try #require(!imports.isEmpty)
        let portable: Set<String> = [
            "CSodium", "MeshProtocol", "DemocracyDJ", "Crypto", "DequeModule", "Logging", "SwiftProtobuf",
            "Synchronization",
            "FoundationEssentials", "Foundation",
        ]
        #expect(Set(imports.keys).subtracting(portable) == [])
        // Apple's systems have no FoundationEssentials, so a file that imports it imports Foundation there.
        #expect(imports["FoundationEssentials"] == imports["Foundation"])
    }

    @Test(
        "an import is found in any notation",
        arguments: [
            ("import Glibc", "Glibc"), ("@preconcurrency import Dispatch", "Dispatch"), ("package import GRDB", "GRDB"),
            ("@_spi(Testing) public import struct MeshNode.NodeLimits", "MeshNode"), ("let imports = 1", nil),
            ("important()", nil),
        ] as [(String, String?)])
    func forms(line: String, module: String?) {
        #expect(SourceTree.imported(by: line) == module)
    }
}
