// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// Recognises folders on file systems that other devices or programs change without the kernel's notice. inotify(7)
/// does not report such changes.
struct RemoteDisks: Sendable {
    /// Whether any of the folders is on such a disk.
    private(set) var isAny = false
    /// The devices of mounted remote disks, as in `stat`.
    private let remote: Set<UInt64>

    /// Reads the current mounts of this process from the kernel.
    init(mounts: String = Self.mounts) {
        remote = Set(mounts.split(separator: "\n").compactMap { Self.remoteDevice($0) })
    }

    private static var mounts: String {
        FileManager.default.contents(atPath: "/proc/self/mountinfo").map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Checks a folder that a walk enters.
    mutating func enter(_ path: String) {
        guard !isAny, !remote.isEmpty else { return }
        var status = stat()
        isAny = stat(path, &status) == 0 && remote.contains(UInt64(status.st_dev))
    }

    /// The device in a line of mountinfo (proc_pid_mountinfo(5)). Nil if it is not a remote disk.
    private static func remoteDevice(_ line: Substring) -> UInt64? {
        let fields = line.split(separator: " ")
        guard fields.count > 2, let end = fields.firstIndex(of: "-"), fields.indices.contains(end + 1),
            isRemote(fields[end + 1])
        else { return nil }
        let numbers = fields[2].split(separator: ":").compactMap { UInt64($0) }
        return numbers.count == 2 ? device(major: numbers[0], minor: numbers[1]) : nil
    }

    /// Combines both numbers as glibc does (makedev(3), a macro).
    private static func device(major: UInt64, minor: UInt64) -> UInt64 {
        (major & 0xFFFF_F000) << 32 | (major & 0xFFF) << 8 | (minor & 0xFFFF_FF00) << 12 | minor & 0xFF
    }

    /// Whether a file system of this type is on a network or is served by a program.
    static func isRemote(_ type: some StringProtocol) -> Bool {
        types.contains(String(type)) || type == "fuse" || type.hasPrefix("fuse.")
    }

    private static let types: Set<String> = [
        "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "afs", "ceph", "coda", "ncpfs", "ocfs2", "gfs2",
        "lustre",
        "orangefs", "vboxsf", "vmhgfs", "prl_fs",
    ]
}
