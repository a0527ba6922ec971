// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import Logging
import MeshNode
import MeshProtocol
import TestSupport
import Testing

@testable import roadmesh

@Suite("The radio and the songs that options name")
struct SetupChoiceTests {
    private let folder = newFolder()

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
