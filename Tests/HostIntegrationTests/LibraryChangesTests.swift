// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MusicLibrary
import Testing

@testable import HostIntegration

@Suite("Reports to a node about its library")
struct LibraryChangesTests {
    @Test("a missing folder is reported once, with one notice at a time, until it is back")
    func away() {
        var changes = LibraryChanges()
        let missing = LibraryProblem.folderMissing(path: "/stick"), empty = LibraryProblem.folderAway(path: "/stick")
        #expect(changes.handle(.problem(missing)) == [.notice(Notice(missing.problem)), .libraryAway(true)])
        #expect(changes.isAway)
        #expect(
            changes.handle(.problem(empty)) == [.cleared(code: "libraryMissing"), .notice(Notice(empty.problem))])
        #expect(changes.handle(.recovered) == [.cleared(code: "libraryAway"), .libraryAway(false)])
        #expect(!changes.isAway)
    }

    @Test("a problem that leaves some songs playable pauses nothing, and ends an absence")
    func lesser() {
        var changes = LibraryChanges()
        let some = LibraryProblem.unreadableFiles(count: 1, example: "a.mp3")
        #expect(changes.handle(.problem(some)) == [.notice(Notice(some.problem))])
        _ = changes.handle(.problem(.folderMissing(path: "/stick")))
        #expect(
            changes.handle(.problem(some))
                == [.cleared(code: "libraryMissing"), .notice(Notice(some.problem)), .libraryAway(false)])
    }
}
