// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import BLETransport

@Suite("A path that root trusts")
struct TrustedPathTests {
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.path + "/roadmesh-\(UInt64.random(in: 0 ... .max))"
        init() throws {
            try FileManager.default.createDirectory(atPath: path + "/etc/bluetooth", withIntermediateDirectories: true)
            try Data("x".utf8).write(to: URL(filePath: file))
            for path in [path, path + "/etc", path + "/etc/bluetooth"] { chmod(path, 0o755) }
            chmod(file, 0o644)
        }
        deinit { try? FileManager.default.removeItem(atPath: path) }

        var file: String { path + "/etc/bluetooth/main.conf" }
        func refusal(_ path: String) -> String? { TrustedPath.refusal(of: path, owner: geteuid(), below: self.path) }
    }

    @Test("is one that only root can change, whether the file is there or not")
    func trusted() throws {
        let folder = try Folder()
        #expect(folder.refusal(folder.file) == nil)
        #expect(folder.refusal(folder.path + "/etc/bluetooth/none.conf") == nil)
        #expect(folder.refusal(folder.path + "/etc/./bluetooth//../bluetooth/main.conf") == nil)
        #expect(TrustedPath.refusal(of: "/etc/passwd") == nil)
    }

    @Test(
        "does not allow others to write to the file or to a folder above it",
        arguments: ["", "/etc", "/etc/bluetooth", "/etc/bluetooth/main.conf"])
    func writable(part: String) throws {
        for mode: mode_t in [0o757, 0o666, 0o1777] {
            let folder = try Folder()
            chmod(folder.path + part, mode)
            #expect(folder.refusal(folder.file)?.contains("others may write to \(folder.path + part)") == true)
        }
    }

    @Test(
        "has no file or folder of another user",
        arguments: ["", "/etc", "/etc/bluetooth", "/etc/bluetooth/main.conf"])
    func owned(part: String) throws {
        let folder = try Folder()
        guard chown(folder.path + part, 4_711, 0) == 0 else { return }
        #expect(folder.refusal(folder.file)?.contains("belongs to another user") == true)
    }

    @Test("is what its links lead to")
    func links() throws {
        let folder = try Folder()
        let files = FileManager.default
        try files.createSymbolicLink(atPath: folder.path + "/inside", withDestinationPath: "etc/bluetooth/main.conf")
        #expect(folder.refusal(folder.path + "/inside") == nil)
        try files.createSymbolicLink(atPath: folder.path + "/outside", withDestinationPath: folder.file)
        // Through the folder for temporary files, which everyone can write to.
        #expect(folder.refusal(folder.path + "/outside") != nil)
        try files.createSymbolicLink(atPath: folder.path + "/round", withDestinationPath: "round")
        #expect(folder.refusal(folder.path + "/round") == "has too many links")
        #expect(TrustedPath.refusal(of: "main.conf") == "is not an absolute path")
        #expect(TrustedPath.refusal(of: NSTemporaryDirectory() + "/main.conf") != nil)
    }
}
