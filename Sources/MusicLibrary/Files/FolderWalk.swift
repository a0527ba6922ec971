// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Glibc

/// Lists a folder and its subfolders. Links are followed last, and each folder is entered once: so a loop of links
/// ends, and a song that is reachable as a file and through a link is listed once.
struct FolderWalk: Sendable {
    /// The identity of a folder or a file, whatever its path is.
    struct Place: Hashable, Sendable {
        var device: UInt64
        var inode: UInt64
    }

    /// The music files, by path.
    private(set) var files: [LibraryScan.Found] = []
    /// The folder itself.
    private(set) var root: Place
    /// Whether the folder has more entries than the limits allow.
    private(set) var isTooMuch = false
    /// Folders and files that could not be read.
    private(set) var unreadable: [String] = []
    /// Music of types that cannot be played.
    private(set) var unplayable: [String] = []

    /// Whether other devices or programs can change parts of the folder without the kernel's notice.
    var isRemote: Bool { disks.isAny }
    private var disks = RemoteDisks()

    private let path: String
    private let limits: LibraryLimits
    private var folders: [(path: String, depth: Int)] = [("", 0)]
    private var links: [(path: String, depth: Int)] = []
    private var entered: Set<Place> = []
    /// The index in `files` by the file's identity.
    private var seen: [Place: Int] = [:]

    /// Walks through a folder. It blocks for as long as the disk does. It calls `entering` for each folder before it
    /// reads it, so that later changes in that folder are not missed. Paths are relative to the folder.
    init(
        _ path: String, limits: LibraryLimits, entering: (_ path: String) -> Void = { _ in }
    ) throws(LibraryProblem) {
        self.path = path
        self.limits = limits
        root = try Self.root(of: path)
        entered.insert(root)
        while true {
            if let folder = folders.popLast() {
                entering(folder.path)
                disks.enter(absolute(folder.path))
                try read(folder.path, folder.depth)
            } else if let link = links.popLast() {
                try follow(link.path, link.depth)
            } else {
                break
            }
        }
        // If the stick was pulled during the walk, the list is incomplete.
        guard try Self.root(of: path) == root else { throw .folderMissing(path: path) }
        (entered, seen) = ([], [:])
        files.sort { $0.path < $1.path }
    }

    /// The folder at a path.
    static func root(of path: String) throws(LibraryProblem) -> Place {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw FolderCheck.problem(of: path, errno)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .folderMissing(path: path) }
        return Place(status)
    }

    private mutating func read(_ folder: String, _ depth: Int) throws(LibraryProblem) {
        guard let directory = opendir(absolute(folder)) else {
            return try failed(folder)
        }
        defer { closedir(directory) }
        var left = limits.entries
        while true {
            errno = 0
            guard let entry = readdir(directory) else { break }
            left -= 1
            guard left >= 0, files.count < limits.songs else {
                isTooMuch = true
                return
            }
            try look(at: entry, in: folder, depth, of: dirfd(directory))
        }
        if errno != 0 { try failed(folder) }
    }

    /// Skips a subfolder without permission. If the disk fails, or the folder itself, the walk fails.
    private mutating func failed(_ folder: String) throws(LibraryProblem) {
        let code = errno
        guard !folder.isEmpty, Self.ofOneEntry.contains(code) else {
            throw .folderUnreadable(path: path, cause: Self.text(code))
        }
        if [EACCES, EPERM].contains(code) { unreadable.append(folder) }
    }

    /// Skips an entry that is gone or not accessible. If the disk fails, the walk fails.
    private func missed() throws(LibraryProblem) {
        let code = errno
        guard Self.ofOneEntry.contains(code) else { throw .folderUnreadable(path: path, cause: Self.text(code)) }
    }

    private static let ofOneEntry: [Int32] = [EACCES, EPERM, ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG]

    private mutating func look(
        at entry: UnsafeMutablePointer<dirent>, in folder: String, _ depth: Int, of descriptor: Int32
    ) throws(LibraryProblem) {
        guard let field = entry.pointer(to: \.d_name) else { return }
        let bytes = UnsafeRawPointer(field).assumingMemoryBound(to: CChar.self)
        guard strcmp(bytes, ".") != 0, strcmp(bytes, "..") != 0 else { return }
        let type = Int(entry.pointee.d_type)
        guard let name = String(validatingCString: bytes) else {
            // The player cannot be given a name that is not UTF-8.
            let shown = String(cString: bytes)
            if AudioFormat.isMusic(shown) { unreadable.append(joined(folder, shown)) }
            return
        }
        let isMusic = AudioFormat.isMusic(name)
        if type == Int(DT_REG), !isMusic {
            if AudioFormat.isUnplayable(name) { unplayable.append(joined(folder, name)) }
            return
        }
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return try missed() }
        let path = joined(folder, name)
        switch status.st_mode & S_IFMT {
        case S_IFDIR: if !SystemFiles.isFolder(path) { enter(path, depth, Place(status)) }
        case S_IFREG where isMusic: if !SystemFiles.isAppleDouble(name, in: descriptor) { add(path, status) }
        case S_IFLNK:
            if links.count < limits.entries { links.append((path, depth)) } else { isTooMuch = true }
        default: break
        }
    }

    private mutating func enter(_ path: String, _ depth: Int, _ place: Place) {
        guard depth < limits.depth, entered.count < limits.folders else {
            isTooMuch = true
            return
        }
        if entered.insert(place).inserted { folders.append((path, depth + 1)) }
    }

    private mutating func add(_ path: String, _ status: stat) {
        guard files.count < limits.songs, Int64(status.st_size) <= limits.fileBytes else {
            isTooMuch = true
            return
        }
        let nanoseconds = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
        let file = LibraryScan.Found(
            path: path, bytes: Int64(status.st_size), modifiedNanoseconds: nanoseconds, inode: UInt64(status.st_ino))
        if status.st_nlink == 1, let index = seen[Place(status)] {
            // A file with only one name was moved here after the walk saw it in its old place.
            files[index] = file
        } else {
            seen[Place(status)] = files.count
            files.append(file)
        }
    }

    private mutating func follow(_ link: String, _ depth: Int) throws(LibraryProblem) {
        var status = stat()
        guard stat(absolute(link), &status) == 0 else { return try missed() }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: if !SystemFiles.isFolder(link) { enter(link, depth, Place(status)) }
        case S_IFREG where AudioFormat.isMusic(link.split(separator: "/").last.map(String.init) ?? link):
            if seen[Place(status)] == nil { add(link, status) }
        default: break
        }
    }

    private func absolute(_ folder: String) -> String { folder.isEmpty ? path : joined(path, folder) }

    private func joined(_ folder: String, _ name: String) -> String { folder.isEmpty ? name : folder + "/" + name }

    static func text(_ code: Int32) -> String { String(cString: strerror(code)) }
}

extension FolderWalk.Place {
    init(_ status: stat) { self.init(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)) }
}
