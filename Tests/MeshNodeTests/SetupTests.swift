// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import MeshNode
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
}
