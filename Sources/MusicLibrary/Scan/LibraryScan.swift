// SPDX-License-Identifier: Apache-2.0

/// Decides what has become of a folder's files: from what the index knows and what is there.
///
/// A file that is as it was, by place, size and time, is not read. One that is elsewhere now is known by inode, size and
/// time, where no other could be meant; where it was copied and not moved, its content has to tell (`MusicIndex.write`).
struct LibraryScan: Sendable {
    /// A file in the folder.
    struct Found: Hashable, Sendable {
        /// In the folder, without a slash before it.
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
        /// Whether it was gone already.
        var isGone: Bool
        /// Whether its file's name is its title's: a new name is a new title.
        var isNamedByFile: Bool
    }

    /// A row of which only the file's place and dates are to be written.
    struct Placed: Hashable, Sendable {
        var number: Int64
        var file: Found
    }

    /// A file that is to be read. `number` is the row that it is known to be; the content decides where there is none.
    struct ToRead: Hashable, Sendable {
        var file: Found
        var number: Int64?
    }

    /// Rows whose files are gone since the last scan.
    private(set) var gone: [Int64] = []
    /// Rows whose files were moved; what is to be done about them is among the others.
    private(set) var moved: [Int64] = []
    /// Rows whose files are elsewhere, or back.
    private(set) var placed: [Placed] = []
    /// Files that are new, or changed.
    private(set) var toRead: [ToRead] = []
    /// How many files are as they were.
    private(set) var unchanged = 0

    /// Whether there is nothing to do.
    var isEmpty: Bool { gone.isEmpty && placed.isEmpty && toRead.isEmpty }

    /// Compares. `written` are files that were written since the last scan: they are read, whatever size and time say.
    /// `growing` are files that are still written: they are left as they are. Paths are those in the folder.
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
        // A place that is taken by a moved file is not for its old row.
        for file in open.sorted(by: { sources[$0.path] != nil && sources[$1.path] == nil }) {
            place(file, movedFrom: sources[file.path], &rows)
        }
        gone = rows.unsettled
    }

    /// A file that is not as it was at its place.
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
    /// Whether it is as another was. Not by inode: a stick gets new ones each time that it is plugged in.
    fileprivate func isLike(_ other: LibraryScan.Found) -> Bool {
        bytes == other.bytes && modifiedNanoseconds == other.modifiedNanoseconds
    }
}

/// The index's rows, and which of them are found again.
private struct Rows {
    /// What tells a file that was moved.
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
        // Of those that were at one place one after the other, the last counts.
        for row in known { if row.isGone { goneAt[row.file.path] = row } else { here[row.file.path] = row } }
    }

    mutating func settle(_ row: LibraryScan.Known) { settled.insert(row.number) }
    mutating func settle(_ path: String) { if let row = here[path] { settle(row) } }
    func isSettled(_ row: LibraryScan.Known) -> Bool { settled.contains(row.number) }

    /// By their new paths, the rows of files that were moved there since the last scan: one row and one file that are
    /// alike.
    func moved(to files: [LibraryScan.Found]) -> [String: LibraryScan.Known] {
        let sources = Dictionary(grouping: here.values.filter { !isSettled($0) }) { Identity($0.file) }
        var moved: [String: LibraryScan.Known] = [:]
        for (identity, targets) in Dictionary(grouping: files, by: Identity.init) {
            guard let rows = sources[identity], rows.count == 1, targets.count == 1 else { continue }
            if rows[0].file.path != targets[0].path { moved[targets[0].path] = rows[0] }
        }
        return moved
    }

    /// The rows that were there and are not found again.
    var unsettled: [Int64] { here.values.filter { !isSettled($0) }.map(\.number).sorted() }
}
