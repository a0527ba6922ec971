// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import MeshProtocol

/// A node's folder: its identity, and a lock, since two processes with one identity would throw each other out.
public final class StateFolder: Sendable {
    /// The node's identity.
    public let identity: Identity
    private let lock: Int32

    /// Opens the folder and makes what is missing in it. The folder belongs to this process until it ends.
    public init(path: String) throws(SetupProblem) {
        try Self.makeFolder(path)
        lock = try Self.lock(path)
        do {
            identity = try Self.identity(path)
        } catch {
            close(lock)
            throw error
        }
    }

    deinit { close(lock) }

    /// The default folder: `$XDG_STATE_HOME/roadmesh`, or `~/.local/state/roadmesh`.
    public static func defaultPath(environment: [String: String]) throws(SetupProblem) -> String {
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/roadmesh" }
        if let home = environment["HOME"], home.hasPrefix("/") { return home + "/.local/state/roadmesh" }
        throw SetupProblem(
            .cannotCreate, "There is no home folder to keep the node's identity in; name one with --state.")
    }

    private static func makeFolder(_ path: String) throws(SetupProblem) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw SetupProblem(
                .cannotCreate, "Cannot make the state folder \(path); name a folder that can be written with --state.")
        }
        guard access(path, R_OK | W_OK | X_OK) == 0 else { throw unwritable(path, errno) }
    }

    private static func lock(_ path: String) throws(SetupProblem) -> Int32 {
        let descriptor = open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw unwritable(path, errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let failure = errno
            close(descriptor)
            guard failure == EWOULDBLOCK else { throw unwritable(path, failure) }
            throw SetupProblem(
                .cannotCreate,
                "Another roadmesh is using the state folder \(path); stop it, or give this one a folder with --state.")
        }
        return descriptor
    }

    private static func identity(_ path: String) throws(SetupProblem) -> Identity {
        let file = path + "/identity"
        if let stored = read(file) {
            guard let identity = Identity(stored: stored) else {
                throw SetupProblem(
                    .cannotCreate,
                    "The identity in \(file) is damaged; move it away, and this node starts anew as somebody else.")
            }
            return identity
        }
        guard errno == ENOENT else { throw unwritable(path, errno) }
        let identity = Identity.make()
        try store(identity.stored, in: file, of: path)
        return identity
    }

    /// Stores a secret so that a power cut leaves all of it or nothing.
    private static func store(_ bytes: [UInt8], in file: String, of path: String) throws(SetupProblem) {
        let draft = file + ".new"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw unwritable(path, errno) }
        defer { close(descriptor) }
        guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0,
            rename(draft, file) == 0
        else { throw unwritable(path, errno) }
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
    }

    /// A small file's bytes, or nil with errno.
    private static func read(_ file: String) -> [UInt8]? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Identity.storedBytes + 1)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        return count < 0 ? nil : Array(bytes.prefix(count))
    }

    private static func unwritable(_ path: String, _ code: Int32) -> SetupProblem {
        SetupProblem(
            .cannotCreate,
            "Cannot use the state folder \(path) (\(String(cString: strerror(code)))); make it writable, or name another "
                + "with --state.")
    }
}
