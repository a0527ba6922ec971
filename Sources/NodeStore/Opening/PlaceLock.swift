// SPDX-License-Identifier: Apache-2.0

import Crypto
import FoundationEssentials
import Glibc
import MeshProtocol

/// A lock on a path. Unlike a lock file, it survives the removal of the folder: a folder that is created again under
/// the same path would have a new lock file. The lock is an abstract socket name (unix(7)). The kernel releases it when
/// the process ends or dies.
final class PlaceLock: Sendable {
    private let descriptor: Int32

    /// Locks the path of an existing folder.
    init(_ path: String) throws(FileLock.Failure) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .system(errno) }
        let name = Self.name(path)
        guard Self.with(name, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 1) == 0 else {
            let failure = errno
            close(descriptor)
            guard failure == EADDRINUSE, !Self.isSquatted(name) else {
                // Without a socket, only the lock file is used.
                self.descriptor = -1
                return
            }
            throw .isHeld
        }
        self.descriptor = descriptor
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The lock's name is derived from the path, not from the folder. Symbolic links are resolved, and the path is as
    /// this process sees it (`mount_namespaces(7)`).
    private static func name(_ path: String) -> [UInt8] {
        var whole = path
        if let found = realpath(path, nil) {
            whole = String(cString: found)
            free(found)
        }
        var status = stat()
        let view = stat("/proc/self/ns/mnt", &status) == 0 ? status.st_ino : 0
        let hash = SHA256.hash(data: Data("\(view) \(geteuid()) \(whole)".utf8))
        return Array("\0roadmesh-\(Hex.text(hash.prefix(16)))".utf8)
    }

    /// Whether another user has taken the name in order to block this one.
    private static func isSquatted(_ name: [UInt8]) -> Bool {
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        guard with(name, { connect(descriptor, $0, $1) }) == 0 else { return false }
        // The ucred of unix(7): process, user, group.
        var holder: [UInt32] = [0, 0, 0]
        var length = socklen_t(MemoryLayout<UInt32>.stride * holder.count)
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &holder, &length) == 0 else { return false }
        return holder[1] != geteuid()
    }

    private static func with(_ name: [UInt8], _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let length = MemoryLayout<sockaddr_un>.offset(of: \.sun_path).map { $0 + name.count } ?? 0
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(length)) }
        }
    }
}
