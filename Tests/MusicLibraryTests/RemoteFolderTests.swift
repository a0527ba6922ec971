// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

@testable import MusicLibrary

@Suite("A folder that other devices change")
struct RemoteFolderTests {
    @Test(
        "is one on a network or of a program, and no disk of this device",
        arguments: [
            ("nfs", true), ("nfs4", true), ("cifs", true), ("smb3", true), ("fuse", true), ("fuse.sshfs", true),
            ("fuse.rclone", true), ("9p", true), ("ceph", true), ("ext4", false), ("tmpfs", false), ("vfat", false),
            ("btrfs", false), ("fuseblk", false), ("overlay", false), ("nfsd", false), ("fusectl", false),
        ])
    func types(type: String, isRemote: Bool) { #expect(RemoteDisks.isRemote(type) == isRemote) }

    @Test("is not a local folder")
    func local() throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("One.mp3", title: "One")
        #expect(try !FolderWalk(shelf.folder, limits: .standard).isRemote)
    }

    private static let canMount =
        geteuid() == 0 && access("/usr/bin/bindfs", X_OK) == 0 && access("/dev/fuse", F_OK) == 0

    @Test(
        "is scanned now and then: the kernel says nothing about what comes into it",
        .enabled(if: canMount, "it takes root, and bindfs: sudo apt-get install bindfs"))
    func rescans() async throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        // A file that changes in this folder changes behind the mount, as on a server.
        let server = shelf.place + "/server"
        try FileManager.default.createDirectory(atPath: server, withIntermediateDirectories: true)
        try Data(MP3(title: "One").bytes).write(to: URL(filePath: server + "/One.mp3"))
        let options = "attr_timeout=0,entry_timeout=0,negative_timeout=0"
        try Self.run("/usr/bin/bindfs", "-o", options, server, shelf.folder)
        defer { try? Self.run("/usr/bin/umount", "-l", shelf.folder) }
        var limits = MusicShelf.limits
        limits.unwatchedPause = .milliseconds(50)
        try await shelf.withLibrary(limits) { _, updates in
            try await updates.songs { $0.count == 1 }
            try Data(MP3(title: "Two").bytes).write(to: URL(filePath: server + "/Two.mp3"))
            try await updates.songs { $0.count == 2 }
            try FileManager.default.removeItem(atPath: server + "/One.mp3")
            try await updates.songs { $0.map(\.title) == ["Two"] }
        }
    }

    private static func run(_ program: String, _ arguments: String...) throws {
        // bindfs continues in the background. Foundation would wait for its process until the background process closes
        // the inherited descriptors.
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var (child, status): (pid_t, Int32) = (0, -1)
        try #require(posix_spawn(&child, program, nil, nil, &words, environ) == 0)
        #expect(waitpid(child, &status, 0) == child && status == 0)
    }
}
