// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// A change that was made, with its undo.
public struct MadeChange: Hashable, Sendable, Codable {
    /// The title of the change, a sentence without its full stop.
    public var title: String
    /// The time of the change, in seconds since 1970.
    public var at: Double
    /// The new bytes of the change, and the former bytes. Nil if the change ran a program.
    public var content: ContentChange?
    /// The program that undoes the change.
    public var undo: [String]?

    /// What must follow the undo for it to take effect.
    public var effect: ContentChange.Effect { content?.effect ?? .atOnce }

    /// The lines that are shown before the change is undone.
    public func lines(number: Int) -> [String] {
        let margin = String(repeating: " ", count: 7)
        let how = content.map { "\($0.path), as it was before" } ?? (undo ?? []).joined(separator: " ")
        return ["  \(number). \(title).", margin + how]
    }
}

/// Stores the former state on disk before each change, so that every change can be undone, even after a power cut. The
/// journal belongs to the user who makes changes, which is root. Another user who could write to it could make root
/// replace any file.
public struct FixJournal: Sendable {
    /// The folder of a device's journal.
    public static let standardFolder = "/var/lib/roadmesh-doctor"

    private struct Stored: Codable {
        var version: Int
        var changes: [MadeChange]
    }

    private static let version = 1

    /// The journal's file.
    public let path: String
    private let folder: String
    private let lock: FolderLock?
    /// The changes that were made and not undone, the first one first.
    public private(set) var changes: [MadeChange]

    /// Reads the journal in a folder. If there is no journal, nothing was changed. Throws if the journal cannot be
    /// trusted or read. With `forChanges`, also throws if another process uses the journal.
    public init(reading folder: String = standardFolder, forChanges: Bool) throws(FixFailure) {
        self.folder = folder
        lock = forChanges ? try FolderLock(folder) : nil
        path = folder + "/changes.json"
        changes = []
        guard let bytes = try Self.bytes(path, in: folder) else { return }
        guard let stored = try? JSONDecoder().decode(Stored.self, from: bytes) else {
            throw FixFailure("the journal of changes in \(path) is damaged")
        }
        guard stored.version == Self.version else {
            throw FixFailure("the journal of changes in \(path) was made by a newer roadmesh")
        }
        changes = stored.changes
    }

    private static func bytes(_ path: String, in folder: String) throws(FixFailure) -> Data? {
        for place in [folder, path] {
            var status = stat()
            guard lstat(place, &status) == 0 else {
                guard errno == ENOENT else {
                    throw FixFailure("\(place) cannot be read: \(FixFailure(code: errno).text)")
                }
                return nil
            }
            guard status.st_mode & S_IFMT != S_IFLNK, status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
                throw FixFailure("\(place) may have been written by another user, so it is not used")
            }
            guard place == folder || Int(status.st_size) <= FixLimits.journalBytes else {
                throw FixFailure("\(place) is too large")
            }
        }
        guard let bytes = FileManager.default.contents(atPath: path) else { throw FixFailure("\(path) cannot be read") }
        return bytes
    }

    /// Stores a change before it is made.
    mutating func add(_ change: MadeChange) throws(FixFailure) {
        guard changes.count < FixLimits.journalEntries else {
            throw FixFailure("the journal in \(path) holds \(changes.count) changes already; undo them first")
        }
        try keep(changes + [change])
    }

    /// Removes a change that was not made after all, or was undone.
    mutating func forget(_ change: MadeChange) throws(FixFailure) {
        var rest = changes
        if let index = rest.lastIndex(of: change) { rest.remove(at: index) }
        try keep(rest)
    }

    private mutating func keep(_ changes: [MadeChange]) throws(FixFailure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let bytes = try? encoder.encode(Stored(version: Self.version, changes: changes)) else {
            preconditionFailure("changes cannot be encoded")
        }
        guard bytes.count <= FixLimits.journalBytes else {
            throw FixFailure("the journal in \(path) has no room for it; undo earlier changes first")
        }
        do throws(FixFailure) {
            if changes.isEmpty {
                try PlainFile.remove(path)
                rmdir(folder)
            } else {
                try PlainFile.makeFolder(folder, mode: 0o700)
                try PlainFile.replace(path, with: bytes, mode: 0o600)
            }
        } catch {
            throw FixFailure("\(path) cannot be written: \(error.text)")
        }
        self.changes = changes
    }
}
