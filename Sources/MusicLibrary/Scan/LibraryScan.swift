// SPDX-License-Identifier: Apache-2.0

/// Compares a folder's files with the index and decides what to read.
///
/// A file with the same path, size and time is not read. A moved file is recognised by inode, size and time, if no
/// other file matches. If it was copied instead, its content decides (`MusicIndex.write`).
struct LibraryScan: Sendable {
    /// A file in the folder.
    struct Found: Hashable, Sendable {
        /// Relative to the folder, without a leading slash.
        var path: String
        var bytes: Int64
        /// Since 1970.
        var modifiedNanoseconds: Int64
        var inode: UInt64
    }

    /// A row of the index.
    struct Known: Hashable, Sendable {
        var number: Int64
        var file: Found
        /// Whether the file was missing already.
        var isGone: Bool
        /// Whether the title comes from the file name, so that a new name is a new title.
        var isNamedByFile: Bool
    }

    /// A row that only needs a new path and new dates.
    struct Placed: Hashable, Sendable {
        var number: Int64
        var file: Found
    }

    /// A file to read. `number` is the row that it belongs to. Without one, the content decides.
    struct ToRead: Hashable, Sendable {
        var file: Found
        var number: Int64?
    }

    /// Rows with files that are missing since the last scan.
    private(set) var gone: [Int64] = []
    /// Rows with files that were moved. The other lists have the actions for them.
    private(set) var moved: [Int64] = []
    /// Rows with files that were moved or are back.
    private(set) var placed: [Placed] = []
    /// New or changed files.
    private(set) var toRead: [ToRead] = []
    /// The number of unchanged files.
    private(set) var unchanged = 0

    /// Whether there is nothing to do.
    var isEmpty: Bool { gone.isEmpty && placed.isEmpty && toRead.isEmpty }

    /// Compares the index with the folder. `written` are files that were written since the last scan: they are read,
    /// whatever their size and time are. `growing` are files that are still being written: they are skipped. Paths are
    /// relative to the folder.
    init(known: [Known], found: [Found], written: Set<String> = [], growing: Set<String> = []) {
        var rows = Rows(known)
        var open: [Found] = []
        for file in found {
            if growing.contains(file.path) {
                rows.settle(file.path)
            } else if let row = rows.here[file.path], row.file.isLike(file), !written.contains(file.path) {
                rows.settle(file.path)
                if row.file == file { unchanged += 1 } else { placed.append(Placed(number: row.number, file: file)) }
            } else {
                open.append(file)
            }
        }
        let sources = rows.moved(to: open)
        // A path that now belongs to a moved file no longer belongs to the old row.
        for file in open.sorted(by: { sources[$0.path] != nil && sources[$1.path] == nil }) {
            place(file, movedFrom: sources[file.path], &rows)
        }
        gone = rows.unsettled
    }

    /// Handles a file that is new or changed at its path.
    private mutating func place(_ file: Found, movedFrom row: Known?, _ rows: inout Rows) {
        if let row {
            moved.append(row.number)
            settle(file, as: row, isRead: row.isNamedByFile, &rows)
        } else if let row = rows.here[file.path], !rows.isSettled(row) {
            settle(file, as: row, isRead: true, &rows)
        } else if let row = rows.goneAt[file.path], row.file.isLike(file), !rows.isSettled(row) {
            settle(file, as: row, isRead: false, &rows)
        } else {
            toRead.append(ToRead(file: file, number: nil))
        }
    }

    private mutating func settle(_ file: Found, as row: Known, isRead: Bool, _ rows: inout Rows) {
        rows.settle(row)
        if isRead {
            toRead.append(ToRead(file: file, number: row.number))
        } else {
            placed.append(Placed(number: row.number, file: file))
        }
    }
}

extension LibraryScan.Found {
    /// Whether size and time are equal. The inode does not count: a stick gets new ones each time that it is plugged
    /// in.
    fileprivate func isLike(_ other: LibraryScan.Found) -> Bool {
        bytes == other.bytes && modifiedNanoseconds == other.modifiedNanoseconds
    }
}

/// The index's rows, and which of them have been found.
private struct Rows {
    /// Identifies a moved file.
    private struct Identity: Hashable {
        var inode: UInt64
        var bytes: Int64
        var modifiedNanoseconds: Int64

        init(_ file: LibraryScan.Found) {
            (inode, bytes, modifiedNanoseconds) = (file.inode, file.bytes, file.modifiedNanoseconds)
        }
    }

    private(set) var here: [String: LibraryScan.Known] = [:]
    private(set) var goneAt: [String: LibraryScan.Known] = [:]
    private var settled: Set<Int64> = []

    init(_ known: [LibraryScan.Known]) {
        here.reserveCapacity(known.count)
        // If several rows had the same path one after the other, the last one counts.
        for row in known { if row.isGone { goneAt[row.file.path] = row } else { here[row.file.path] = row } }
    }

    mutating func settle(_ row: LibraryScan.Known) { settled.insert(row.number) }
    mutating func settle(_ path: String) { if let row = here[path] { settle(row) } }
    func isSettled(_ row: LibraryScan.Known) -> Bool { settled.contains(row.number) }

    /// The rows of files that were moved since the last scan, by their new paths. A row and a file must match uniquely.
    func moved(to files: [LibraryScan.Found]) -> [String: LibraryScan.Known] {
        let sources = Dictionary(grouping: here.values.filter { !isSettled($0) }) { Identity($0.file) }
        var moved: [String: LibraryScan.Known] = [:]
        for (identity, targets) in Dictionary(grouping: files, by: Identity.init) {
            guard let rows = sources[identity], rows.count == 1, targets.count == 1 else { continue }
            if rows[0].file.path != targets[0].path { moved[targets[0].path] = rows[0] }
        }
        return moved
    }

    /// Present rows that were not found.
    var unsettled: [Int64] { here.values.filter { !isSettled($0) }.map(\.number).sorted() }
}
