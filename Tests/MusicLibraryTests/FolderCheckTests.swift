// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Glibc
import Testing

@testable import MusicLibrary

@Suite("Whether a song or its folder is faulty")
struct FolderCheckTests {
    private func check(
        _ listing: FolderCheck.Listing = .entries, file: FolderCheck.Reading? = nil, _ others: FolderCheck.Reading...
    ) -> LibraryProblem? {
        FolderCheck(path: "/stick", listing: listing, file: file, others: others).problem
    }

    @Test("a folder that does not exist, is empty or cannot be listed is missing")
    func listing() {
        #expect(check(.fails(ENOENT)) == .folderMissing(path: "/stick"))
        #expect(check(.fails(ENOTDIR)) == .folderMissing(path: "/stick"))
        #expect(check(.empty) == .folderAway(path: "/stick"))
        for code in [EIO, ENOTCONN, ESTALE, EACCES, ENODEV] {
            #expect(
                check(.fails(code))
                    == .folderUnreadable(path: "/stick", cause: String(cString: strerror(code))))
        }
    }

    @Test("if the file or another one can be read, the folder is in order")
    func oneWorks() {
        #expect(check(file: .works) == nil)
        #expect(check(file: .fails(EIO), .fails(EIO), .works) == nil)
        #expect(check(file: .fails(ENOENT), .works) == nil)
        #expect(check(file: nil) == nil)
    }

    @Test("if no file can be read, the folder is missing, whatever the kernel has cached of it")
    func noneWorks() {
        #expect(check(file: .fails(ENOENT), .fails(ENOENT), .fails(ENOENT)) == .folderAway(path: "/stick"))
        let dead = LibraryProblem.folderUnreadable(path: "/stick", cause: "Input/output error")
        #expect(check(file: .fails(EIO), .fails(EIO)) == dead)
        #expect(check(file: .fails(ENOENT), .fails(EIO)) == dead)
        #expect(check(file: nil, .fails(EIO)) == dead)
    }

    @Test("the only song of a folder is faulty if it is gone, and not if the disk fails")
    func onlySong() {
        #expect(check(file: .fails(ENOENT)) == nil)
        #expect(check(file: .fails(EACCES)) == nil)
        #expect(check(file: .fails(EIO)) == .folderUnreadable(path: "/stick", cause: "Input/output error"))
    }
}
