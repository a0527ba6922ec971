// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite("The import rule, read in the sources")
struct ImportRuleTests {
    /// The rooms from the bottom up: each may import those before it, and none behind it. The field test stands on the
    /// simulator, in which it replays a drive.
    private static let rooms = [
        "MeshProtocol", "BLETransport", "LANRadio", "BrokerRadio", "MeshSession", "DemocracyDJ", "NodeStore",
        "CoverArt", "MeshNode", "MusicLibrary", "MusicPlayer", "Dashboard", "HostIntegration", "Diagnostics",
        "TerminalUI", "MeshSimulator", "FieldTest", "roadmesh",
    ]

    /// What is for tests and measurements alone: no room imports it.
    private static let besideTheRooms: Set<String> = ["DemocracyDJTesting", "broker-load", "mesh-simulator"]

    /// Modules of C, and the one room that each is for.
    private static let shims = [
        "CBlueZ": "BLETransport", "CTagLib": "MusicLibrary", "CQREncode": "Dashboard", "CSystemd": "HostIntegration",
        "CClock": "Diagnostics", "CClockWatch": "MeshNode", "CCapability": "Diagnostics", "CLibCurl": "CoverArt",
        "CEditLine": "TerminalUI",
        "CMediaPlayer": "HostIntegration", "CAvahi": "LANRadio", "CMosquitto": "BrokerRadio", "CSodium": "MeshProtocol",
        "CConfine": "roadmesh",
    ]

    @Test("every module stands in the list, so that a new one says where it belongs")
    func complete() throws {
        let modules = try SourceTree.modules()
        try #require(modules.count > 10, "the sources are where this test looks")
        #expect(modules.subtracting(Self.rooms).subtracting(Self.besideTheRooms) == [])
    }

    @Test("an import points down the list, never up")
    func down() throws {
        for room in try SourceTree.modules().intersection(Self.rooms) {
            let place = try #require(Self.rooms.firstIndex(of: room))
            let above = Self.besideTheRooms.union(Self.rooms[place...])
            for (imported, files) in try SourceTree.imports(of: room) where above.contains(imported) {
                Issue.record("\(room) imports \(imported), which is not below it: \(files.sorted())")
            }
        }
    }

    @Test("each module of C is imported by the one room that it is for, and no room talks to BlueZ but BLETransport")
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
        "the protocol, the sessions and the features import nothing of Linux",
        arguments: ["MeshProtocol", "MeshSession", "DemocracyDJ"])
    func portable(module: String) throws {
        let imports = try SourceTree.imports(of: module)
        try #require(!imports.isEmpty)
        let portable: Set<String> = [
            "CSodium", "MeshProtocol", "Crypto", "DequeModule", "Logging", "SwiftProtobuf", "Synchronization",
            "FoundationEssentials", "Foundation",
        ]
        #expect(Set(imports.keys).subtracting(portable) == [])
        // Apple's systems have no FoundationEssentials: a file that imports it takes all of Foundation there.
        #expect(imports["FoundationEssentials"] == imports["Foundation"])
    }

    @Test(
        "an import is seen however it is written",
        arguments: [
            ("import Glibc", "Glibc"), ("@preconcurrency import Dispatch", "Dispatch"), ("package import GRDB", "GRDB"),
            ("@_spi(Testing) public import struct MeshNode.NodeLimits", "MeshNode"), ("let imports = 1", nil),
            ("important()", nil),
        ] as [(String, String?)])
    func forms(line: String, module: String?) {
        #expect(SourceTree.imported(by: line) == module)
    }
}
