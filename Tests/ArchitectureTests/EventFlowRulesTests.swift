// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite("The four rules of the event flow, checked in the sources")
struct EventFlowRulesTests {
    private typealias Line = SourceTree.Line

    private func lines(of module: String, under folder: String = "") throws -> [Line] {
        let lines = try SourceTree.lines(of: module, under: folder)
        try #require(lines.count > 100, "the sources are where this test looks")
        return lines
    }

    private func words(_ line: Line) -> Set<String> {
        Set(line.code.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
    }

    private func modules(_ lines: [Line]) -> Set<String> { Set(lines.compactMap { SourceTree.imported(by: $0.code) }) }

    /// The types that bearers declare.
    private func radioTypes() throws -> Set<String> {
        let declaration = /\b(?:struct|enum|class|actor|protocol) ([A-Z]\w*)/
        let names = try (lines(of: "BLETransport") + lines(of: "Bearers")).compactMap {
            $0.code.firstMatch(of: declaration).map { String($0.1) }
        }
        // Names that any module may use for its own types.
        return Set(names).subtracting([
            "Code", "Entry", "Kind", "State", "Gate", "Interest", "Adapter", "Event", "Action", "Step", "Setting",
            "Link", "Work", "Reason",
        ])
    }

    /// The radio's names, addresses, channels and descriptors, which correspond to an MCPeerID.
    private static let handles: Set<String> = [
        "Peripheral", "Bearer", "BearerEndpoint", "BearerChannel", "BearerEvent", "L2CAPChannel", "VirtualChannel",
        "PacketSocket",
        "AirSocket", "KnownDevice", "BlueZBus", "ScanResult", "bdaddr", "psm", "fileDescriptor", "objectPath",
    ]

    @Test("rule 1: no type or peer name of a radio leaves the module that uses radios")
    func radioStaysBelow() throws {
        let types = try radioTypes()
        try #require(types.isSuperset(of: ["Peripheral", "BearerEndpoint", "L2CAPChannel", "PacketSocket"]))
        for line in try lines(of: "DemocracyDJ") {
            #expect(words(line).isDisjoint(with: types.union(Self.handles)), "\(line.file): \(line.code)")
        }
        let visible = try lines(of: "MeshNode").filter {
            $0.code.hasPrefix("public ") || $0.code.contains(/^case \w+\(/)
        }
        try #require(visible.count > 30)
        for line in visible {
            #expect(words(line).isDisjoint(with: Self.handles.subtracting(["Bearer"])), "\(line.file): \(line.code)")
        }
    }

    @Test("rule 2: the features know peers, messages and events, and import only the module below")
    func featuresSeeEvents() throws {
        #expect(
            modules(try lines(of: "DemocracyDJ")).isSubset(of: [
                "MeshProtocol", "SwiftProtobuf", "Foundation", "FoundationEssentials", "Synchronization",
            ]))
        let features = try lines(of: "DemocracyDJ", under: "Features")
        #expect(modules(features) == ["MeshProtocol"])
        for line in features {
            let isDecision = words(line).isDisjoint(with: [
                "async", "await", "Task", "actor", "ContinuousClock", "SuspendingClock", "Date", "random", "shuffled",
                "print",
            ])
            #expect(isDecision, "a clock, chance or a wait in a decision: \(line.file): \(line.code)")
        }
    }

    @Test("rule 3: bytes become messages in one place, below the features")
    func codingIsInOnePlace() throws {
        for folder in ["Features", "Models", "State", "Notices"] {
            for line in try lines(of: "DemocracyDJ", under: folder) {
                let isFree = words(line).isDisjoint(with: [
                    "UInt8", "Data", "JSONDecoder", "JSONEncoder", "serializedBytes",
                ])
                // The feed compares the size of a change with that of the full state, and reads neither.
                #expect(isFree || line.file == "StateFeed.swift", "\(line.file): \(line.code)")
            }
        }
    }

    @Test("rule 4: an AsyncStream is the only output of code that talks to the network")
    func streamIsTheOutput() throws {
        var outputs: [String] = []
        for module in ["Bearers", "BLETransport", "MeshSession", "MeshNode"] {
            for line in try lines(of: module) where line.code.hasPrefix("public ") {
                #expect(
                    !line.code.contains(/@escaping[^)]*-> Void/) && !line.code.lowercased().contains("delegate"),
                    "a callback: \(line.file): \(line.code)")
                #expect(words(line).isDisjoint(with: ["AsyncChannel", "Publisher"]))
                // The messages for an application end with the reason, so that its loop cannot overlook it.
                let isOfApplication = line.file == "MeshGuest.swift"
                #expect(isOfApplication || !words(line).contains("AsyncThrowingStream"), "\(line.file): \(line.code)")
                if words(line).contains("AsyncStream") { outputs.append(line.file) }
            }
        }
        #expect(outputs.contains("MultipeerClient.swift") && outputs.contains("Node.swift"))
    }
}
