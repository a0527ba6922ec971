// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// Why a change cannot be made, or why a file is left alone.
public struct FixFailure: Error, Hashable, Sendable {
    /// The reason, as the end of a sentence.
    public var text: String

    init(_ text: String) { self.text = text }

    /// Makes a failure from errno.
    init(code: Int32) {
        text =
            [EOPNOTSUPP, ENOSYS].contains(code)
            ? "its file system does not support that" : String(cString: strerror(code)).lowercasedFirst
    }
}

extension String {
    /// The text with a lowercase first letter, unless it begins with a name in capitals.
    var lowercasedFirst: String {
        guard let first, dropFirst().first?.isUppercase != true else { return self }
        return first.lowercased() + dropFirst()
    }

    /// The text with an uppercase first letter.
    var uppercasedFirst: String { prefix(1).uppercased() + dropFirst() }
}

/// A system file that is read and replaced completely.
///
/// Symbolic links are refused, because the real file is elsewhere, and its owner may overwrite it. Files with a second
/// hard link are refused too, because a replacement would separate the two names.
enum PlainFile {
    /// A file's bytes; nil if it does not exist.
    static func read(_ path: String) throws(FixFailure) -> Data? {
        guard path.hasPrefix("/") else { throw FixFailure("is not an absolute path") }
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw FixFailure(code: errno) }
            return nil
        }
        try check(status)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw FixFailure("cannot be read (\(String(cString: strerror(errno))))") }
        defer { close(descriptor) }
        var bytes = Data()
        var block = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &block, block.count)
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw FixFailure("cannot be read (\(String(cString: strerror(errno))))")
            }
            guard count > 0 else { return bytes }
            bytes += block.prefix(count)
            guard bytes.count <= FixLimits.fileBytes else {
                throw FixFailure("has more than \(FixLimits.fileBytes >> 10) KiB")
            }
        }
    }

    private static func check(_ status: stat) throws(FixFailure) {
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFLNK: throw FixFailure("is a symbolic link")
        default: throw FixFailure("is not a file")
        }
        guard status.st_nlink == 1 else { throw FixFailure("has a hard link") }
    }

    /// Replaces the file, or creates it, so that a power cut leaves either the old or the new bytes. Mode and owner
    /// stay; a new file gets `mode`. A missing folder is created.
    static func replace(_ path: String, with bytes: Data, mode: mode_t = 0o644) throws(FixFailure) {
        let folder = self.folder(of: path)
        try makeFolder(folder)
        var status = stat()
        let exists = lstat(path, &status) == 0
        if exists { try check(status) }
        let draft = path + ".roadmesh-new"
        if unlink(draft) != 0, errno != ENOENT { throw FixFailure(code: errno) }
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FixFailure(code: errno) }
        var isDone = false
        defer {
            close(descriptor)
            if !isDone { unlink(draft) }
        }
        try writeAll(bytes, to: descriptor)
        // The owner is changed before the mode, because a change of owner clears mode bits. Some file systems store no
        // owner.
        if exists, fchown(descriptor, status.st_uid, status.st_gid) != 0, status.st_uid != geteuid() {
            throw FixFailure(code: errno)
        }
        guard fchmod(descriptor, exists ? status.st_mode & 0o7777 : mode) == 0, fsync(descriptor) == 0,
            rename(draft, path) == 0
        else { throw FixFailure(code: errno) }
        isDone = true
        sync(folder)
    }

    /// Removes a file. Also removes its folder if that is an empty folder for drop-in files (`bluetooth.service.d`).
    static func remove(_ path: String) throws(FixFailure) {
        if unlink(path) != 0, errno != ENOENT { throw FixFailure(code: errno) }
        let folder = self.folder(of: path)
        sync(folder)
        if folder.hasSuffix(".d") { rmdir(folder) }
    }

    /// Writes to a file of the kernel, which applies the value at once.
    static func write(_ bytes: Data, toKernel path: String) throws(FixFailure) {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FixFailure(code: errno) }
        defer { close(descriptor) }
        try writeAll(bytes, to: descriptor)
    }

    private static func writeAll(_ bytes: Data, to descriptor: Int32) throws(FixFailure) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { throw FixFailure(code: count == 0 ? ENOSPC : errno) }
            rest = rest.dropFirst(max(count, 0))
        }
    }

    static func makeFolder(_ path: String, mode: mode_t = 0o755) throws(FixFailure) {
        guard mkdir(path, mode) != 0, errno != EEXIST else { return }
        guard errno == ENOENT, path != "/" else { throw FixFailure(code: errno) }
        try makeFolder(folder(of: path))
        guard mkdir(path, mode) == 0 || errno == EEXIST else { throw FixFailure(code: errno) }
    }

    private static func sync(_ folder: String) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private static func folder(of path: String) -> String {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        return folder.isEmpty ? "/" : folder
    }
}

/// A lock on a folder for one process, as long as this object lives.
final class FolderLock: Sendable {
    private let descriptor: Int32

    /// Locks the folder, and creates it if it is missing.
    init(_ folder: String) throws(FixFailure) {
        try PlainFile.makeFolder(folder, mode: 0o700)
        descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FixFailure(code: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw FixFailure("another roadmesh doctor is changing this device")
        }
    }

    deinit { close(descriptor) }
}
