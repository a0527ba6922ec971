// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// A small file system in memory that a test really fills, empties and makes read-only.
public struct SmallDisk: Sendable {
    /// Its path.
    public let folder: String

    /// Nil if this user may not mount one.
    public init?(bytes: Int) throws {
        folder = newFolder()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        guard mount("roadmesh-test", folder, "tmpfs", 0, "size=\(bytes)") == 0 else {
            rmdir(folder)
            return nil
        }
    }

    private var ballast: String { folder + "/ballast" }

    /// Fills the free space.
    public func fill() {
        let file = open(ballast, O_WRONLY | O_CREAT, 0o600)
        let block = [UInt8](repeating: 0, count: 4_096)
        while write(file, block, block.count) > 0 {}
        close(file)
    }

    /// Frees that space.
    public func makeRoom() { unlink(ballast) }

    /// Makes it read-only. False if the system does not allow this user to.
    public func becomeReadOnly() -> Bool {
        mount("roadmesh-test", folder, "tmpfs", UInt(MS_REMOUNT) | UInt(MS_RDONLY), nil) == 0
    }

    /// Removes the disk with all its content.
    public func remove() {
        umount2(folder, Int32(MNT_DETACH))
        rmdir(folder)
    }
}
