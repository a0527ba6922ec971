// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MusicLibrary
import Testing

@testable import HostIntegration

@Suite("A host's music at its start")
struct LibraryStartTests {
    private static let song = Song(id: "s1", title: "Home", artist: "Kin", duration: 200)

    @Test("a missing folder does not keep a host from starting, and is reported", arguments: [false, true])
    func missing(isComplete: Bool) {
        var start = LibraryStart(isComplete: isComplete)
        let begins = start.take(.problem(.folderMissing(path: "/media/stick")))
        #expect(begins && start.songs.isEmpty && start.updates == [.problem(.folderMissing(path: "/media/stick"))])
    }

    @Test("a new session starts with the known songs, and a resumed one waits for all")
    func reading() {
        for isComplete in [false, true] {
            var start = LibraryStart(isComplete: isComplete)
            let begins = [
                .progress(done: 0, of: 2), .songs([Self.song]), .progress(done: 2, of: 2), .songs([Self.song]),
            ]
            .map { start.take($0) }
            #expect(begins == [false, !isComplete, false, true] && start.songs == [Self.song])
        }
    }
}
