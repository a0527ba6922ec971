// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// A small file system in memory, to be filled, emptied and made unwritable in earnest.
public struct SmallDisk: Sendable {
    /// Where it is.
    public let folder: String

    /// Nil where this user may not mount one.
    public init?(bytes: Int) throws {
        folder = newFolder()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        guard mount("roadmesh-test", folder, "tmpfs", 0, "size=\(bytes)") == 0 else {
            rmdir(folder)
            return nil
        }
    }

    private var ballast: String { folder + "/ballast" }

    /// Takes what room there is.
    public func fill() {
        let file = open(ballast, O_WRONLY | O_CREAT, 0o600)
        let block = [UInt8](repeating: 0, count: 4_096)
        while write(file, block, block.count) > 0 {}
        close(file)
    }

    /// Gives it back.
    public func makeRoom() { unlink(ballast) }

    /// Forbids to write. False where the system does not let this user.
    public func becomeReadOnly() -> Bool {
        mount("roadmesh-test", folder, "tmpfs", UInt(MS_REMOUNT) | UInt(MS_RDONLY), nil) == 0
    }

    /// Takes the disk away, with everything on it.
    public func remove() {
        umount2(folder, Int32(MNT_DETACH))
        rmdir(folder)
    }
}
