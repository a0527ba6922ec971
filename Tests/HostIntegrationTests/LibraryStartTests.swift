// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MusicLibrary
import Testing

@testable import HostIntegration

@Suite("What a host has of its music when it begins")
struct LibraryStartTests {
    private static let song = Song(id: "s1", title: "Home", artist: "Kin", duration: 200)

    @Test("a folder that is not there keeps no host from beginning, and is told", arguments: [false, true])
    func missing(isComplete: Bool) {
        var start = LibraryStart(isComplete: isComplete)
        let begins = start.take(.problem(.folderMissing(path: "/media/stick")))
        #expect(begins && start.songs.isEmpty && start.updates == [.problem(.folderMissing(path: "/media/stick"))])
    }

    @Test("a new session begins with what is known, and one that goes on waits for all of it")
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
