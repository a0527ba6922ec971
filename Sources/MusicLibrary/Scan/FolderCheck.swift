// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Glibc

/// Decides whether a song's file or the folder is at fault if the song cannot be played. It uses the results of
/// examining the folder, the file and some others (`FolderProbe`).
///
/// A folder can be away although it seems to be there: its mount point stays, the kernel caches its entries, or every
/// read fails. So the folder works only if at least one of its files can be read.
struct FolderCheck: Hashable, Sendable {
    /// The result of listing the folder.
    enum Listing: Hashable, Sendable {
        case entries, empty
        case fails(Int32)
    }

    /// The result of reading a file: success, or the system's error.
    enum Reading: Hashable, Sendable {
        case works
        case fails(Int32)
    }

    var path: String
    var listing: Listing
    /// Nil if the check is not about one song.
    var file: Reading?
    /// Other files of the library, if there are any.
    var others: [Reading] = []

    /// The problem with the folder. Nil if it works, so that the file is at fault.
    var problem: LibraryProblem? {
        switch listing {
        case .fails(let code): return Self.problem(of: path, code)
        case .empty: return .folderAway(path: path)
        case .entries: break
        }
        let readings = (file.map { [$0] } ?? []) + others
        guard !readings.contains(.works) else { return nil }
        let codes = readings.map(\.code)
        // Without other files to read: a missing or inaccessible file is at fault, and for other errors the folder is.
        if others.isEmpty, codes.allSatisfy(Self.ofOneFile.contains) { return nil }
        guard let code = codes.first(where: { !Self.absent.contains($0) }) else { return .folderAway(path: path) }
        return Self.problem(of: path, code)
    }

    /// The problem for this error of the system.
    static func problem(of path: String, _ code: Int32) -> LibraryProblem {
        absent.contains(code)
            ? .folderMissing(path: path) : .folderUnreadable(path: path, cause: FolderWalk.text(code))
    }

    private static let absent: [Int32] = [ENOENT, ENOTDIR]
    private static let ofOneFile = absent + [EACCES, EPERM, ELOOP, EISDIR]
}

extension FolderCheck.Reading {
    fileprivate var code: Int32 { if case .fails(let code) = self { code } else { 0 } }
}
