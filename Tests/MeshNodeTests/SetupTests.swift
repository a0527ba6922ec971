// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import Glibc
import Logging
import MeshNode
import MeshProtocol
import NodeStore
import TestSupport
import Testing

@Suite("Starting a node")
struct SetupTests {
    private let folder = FileManager.default.temporaryDirectory.path + "/rm-state-\(UInt64.random(in: 0 ... .max))"

    @Test("a node keeps its identity after a restart, and only its owner can read its key")
    func identity() throws {
        var first: StateFolder? = try StateFolder(path: folder + "/a/b")
        let peerID = first?.identity.peerID
        #expect(peerID?.count == 32)
        first = nil
        let again = try StateFolder(path: folder + "/a/b")
        #expect(again.identity.peerID == peerID)
        var status = stat()
        #expect(stat(folder + "/a/b/identity", &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test("a second node with the same state folder is refused, with the reason")
    func locked() throws {
        let first = try StateFolder(path: folder)
        #expect { try StateFolder(path: folder) } throws: { error in
            let problem = error as? SetupProblem
            return problem?.exitCode == .cannotCreate && problem?.sentence.contains("--state") == true
        }
        withExtendedLifetime(first) {}
    }

    @Test("on a full disk, a new node says to make room")
    func fullDisk() throws {
        guard let disk = try SmallDisk(bytes: 1 << 20) else { return print("No disk can be mounted here.") }
        defer { disk.remove() }
        disk.fill()
        #expect { try StateFolder(path: disk.folder) } throws: { error in
            let sentence = (error as? SetupProblem)?.sentence ?? ""
            return sentence.contains("make room on its disk") && !sentence.contains("writable")
        }
    }

    @Test("a state folder that cannot be made is reported with its reason")
    func unwritable() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        _ = FileManager.default.createFile(atPath: folder + "/file", contents: nil)
        #expect { try StateFolder(path: folder + "/file/state") } throws: { error in
            (error as? SetupProblem)?.exitCode == .cannotCreate
        }
    }

    @Test("a damaged identity is reported, not silently replaced")
    func damaged() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        _ = FileManager.default.createFile(atPath: folder + "/identity", contents: Data([1, 2, 3]))
        #expect { try StateFolder(path: folder) } throws: { error in
            (error as? SetupProblem)?.sentence.contains("identity") == true
        }
    }

    private func load(_ json: String) throws -> [Song] {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        _ = FileManager.default.createFile(atPath: folder + "/songs.json", contents: Data(json.utf8))
        return try SongListFile.load(folder + "/songs.json")
    }

    @Test("a song list is read in its order")
    func songs() throws {
        let songs = try load(
            """
            [{"id": "b", "title": "B", "artist": "X", "duration": 3}, {"id": "a", "title": "A", "artist": "Y",
              "duration": 2.5, "albumArtURL": "https://example.org/a.jpg"}]
            """)
        #expect(songs.map(\.id) == ["b", "a"])
        #expect(songs[1].albumArtURL == "https://example.org/a.jpg")
    }

    static let song = "\"id\": \"s\", \"title\": \"T\", \"artist\": \"A\""

    @Test(
        "an error in a song list is reported with its song and field, and with what to do",
        arguments: [
            ("[]", "add at least one"), ("{}", "not a JSON list"), ("[", "not a JSON list"), ("[1]", "entry 1"),
            ("[{\(song)}]", "lacks \"duration\" in song 1"),
            ("[{\(song), \"duration\": \"3:20\"}]", "wrong \"duration\" in song 1"),
            ("[{\(song), \"duration\": -1}]", "wrong \"duration\""),
            ("[{\(song), \"duration\": 1e99}]", "wrong \"duration\""),
            ("[{\"id\": \"\", \"title\": \"T\", \"artist\": \"A\", \"duration\": 1}]", "wrong \"id\""),
            ("[{\"id\": \"a b\", \"title\": \"T\", \"artist\": \"A\", \"duration\": 1}]", "without spaces"),
            ("[{\(song), \"duration\": 1}, {\"titel\": \"T\"}]", "unknown field \"titel\" in song 2"),
            ("[{\(song), \"duration\": 1}, {\(song), \"duration\": 1}]", "\"s\" a second time in song 2"),
        ])
    func badSongs(json: String, words: String) {
        #expect { try load(json) } throws: { error in
            let problem = error as? SetupProblem
            return problem?.exitCode == .data && problem?.sentence.contains(words) == true
        }
    }

    @Test("a missing song list is reported")
    func missing() {
        #expect { try SongListFile.load("/nowhere/songs.json") } throws: { ($0 as? SetupProblem)?.exitCode == .data }
    }

    @Test("the song list that comes with the program can be read")
    func shipped() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().path + "/../../docs/songs.json"
        #expect(try SongListFile.load(path).count == 8)
    }

    @Test("two adapters are one radio, and other lists are refused with the allowed values")
    func twoAdapters() throws {
        func made(_ adapter: String) throws -> RadioChoice.Chosen {
            try RadioChoice.virtual.make(
                adapter: adapter, air: newFolder(), peer: Peer(id: Identity.make().peerID, name: "x"),
                logger: Logger(label: "test"))
        }
        #expect(try made("up,down").radio.name == "virtual up and virtual down")
        #expect(try made("up").radio.name == "virtual up")
        for wrong in ["up,up", "up,", ",", "a,b,c"] {
            let problem = #expect(throws: SetupProblem.self) { try made(wrong) }
            #expect(problem?.exitCode == .usage)
            #expect(problem?.sentence.contains("two different ones") == true)
        }
    }

    @Test(
        "a host that requires bonds refuses to start on the virtual radio, which has none")
    func virtualBonds() throws {
        let identity = Identity.make()
        let problem = #expect(throws: SetupProblem.self) {
            try RadioChoice.virtual.make(
                adapter: nil, air: newFolder(), peer: Peer(id: identity.peerID, name: "x"), demands: [.bond],
                logger: Logger(label: "test"))
        }
        #expect(problem?.exitCode == .unavailable)
        #expect(problem?.sentence.contains("has no bonds") == true)
        let another = #expect(throws: SetupProblem.self) { try RadioChoice.virtual.checkBonds(adapter: nil) }
        #expect(another?.sentence.contains("has no bonds") == true)
    }
}
