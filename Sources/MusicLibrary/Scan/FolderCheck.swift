// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Glibc

/// Decides whether a song's file or the folder of all songs is at fault where the song cannot be played: from what came of
/// looking at the folder, at the file and at some others (`FolderProbe`).
///
/// A folder can be away though it is there: its mount point is left, the kernel remembers its entries, or each read fails.
/// So the folder is in order only where some file of it can be read.
struct FolderCheck: Hashable, Sendable {
    /// What came of listing the folder.
    enum Listing: Hashable, Sendable {
        case entries, empty
        case fails(Int32)
    }

    /// What came of reading a file: nothing, or the system's error.
    enum Reading: Hashable, Sendable {
        case works
        case fails(Int32)
    }

    var path: String
    var listing: Listing
    /// Nil where it is not about one song.
    var file: Reading?
    /// Other files of the library, if there are any.
    var others: [Reading] = []

    /// What is wrong with the folder. Nil where it is in order, so that the file is at fault.
    var problem: LibraryProblem? {
        switch listing {
        case .fails(let code): return Self.problem(of: path, code)
        case .empty: return .folderAway(path: path)
        case .entries: break
        }
        let readings = (file.map { [$0] } ?? []) + others
        guard !readings.contains(.works) else { return nil }
        let codes = readings.map(\.code)
        // Nothing else can be asked: a file that is gone or closed is at fault, and one that cannot be read is not.
        if others.isEmpty, codes.allSatisfy(Self.ofOneFile.contains) { return nil }
        guard let code = codes.first(where: { !Self.absent.contains($0) }) else { return .folderAway(path: path) }
        return Self.problem(of: path, code)
    }

    /// What is wrong with a folder that the system says this of.
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
