// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import MeshProtocol

/// Why a node's folder cannot be used.
public enum StateFolderError: Error, Hashable, Sendable {
    /// It is not there and cannot be made.
    case cannotMake(path: String)
    /// It cannot be read or written; `cause` is what the system says.
    case unusable(path: String, cause: String)
    /// Another process uses it.
    case inUse(path: String)
    /// The identity in this file is none.
    case damagedIdentity(file: String)
}

/// A node's folder: its identity, and a lock, since two processes with one identity would throw each other out.
public final class StateFolder: Sendable {
    /// The node's identity.
    public let identity: Identity
    /// Where it is.
    public let path: String
    private let lock: FileLock

    static func lockFile(_ folder: String) -> String { folder + "/lock" }
    static func identityFile(_ folder: String) -> String { folder + "/identity" }

    /// Opens the folder and makes what is missing in it. The folder belongs to this process until it ends.
    public init(opening path: String) throws(StateFolderError) {
        try Self.makeFolder(path)
        lock = try Self.lock(path)
        self.path = path
        identity = try Self.identity(path)
    }

    /// Where a person's state belongs: `$XDG_STATE_HOME/roadmesh`, or `~/.local/state/roadmesh`. Nil where there is no home.
    public static func standardPath(environment: [String: String]) -> String? {
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/roadmesh" }
        if let home = environment["HOME"], home.hasPrefix("/") { return home + "/.local/state/roadmesh" }
        return nil
    }

    private static func makeFolder(_ path: String) throws(StateFolderError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw .cannotMake(path: path)
        }
        guard access(path, R_OK | W_OK | X_OK) == 0 else { throw unusable(path, errno) }
    }

    private static func lock(_ path: String) throws(StateFolderError) -> FileLock {
        do {
            return try FileLock(lockFile(path))
        } catch {
            switch error {
            case .isHeld: throw .inUse(path: path)
            case .system(let code): throw unusable(path, code)
            }
        }
    }

    private static func identity(_ path: String) throws(StateFolderError) -> Identity {
        let file = identityFile(path)
        if let stored = read(file) {
            guard let identity = Identity(stored: stored) else { throw .damagedIdentity(file: file) }
            return identity
        }
        guard errno == ENOENT else { throw unusable(path, errno) }
        let identity = Identity.make()
        try store(identity.stored, in: file, of: path)
        return identity
    }

    /// Stores a secret so that a power cut leaves all of it or nothing.
    private static func store(_ bytes: [UInt8], in file: String, of path: String) throws(StateFolderError) {
        let draft = file + ".new"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw unusable(path, errno) }
        defer { close(descriptor) }
        guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0,
            rename(draft, file) == 0
        else { throw unusable(path, errno) }
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

    private static func unusable(_ path: String, _ code: Int32) -> StateFolderError {
        .unusable(path: path, cause: String(cString: strerror(code)))
    }
}
