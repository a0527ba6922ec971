// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Recognises what operating systems store on a disk for themselves: recycle bins, and data about the file system. It
/// checks names, and for a Mac's AppleDouble files the content. A leading dot does not mark a system file: the names of
/// some bands and albums begin with one.
enum SystemFiles {
    /// Folder names in lower case.
    private static let folders: Set<String> = [
        // Windows.
        "$recycle.bin", "recycler", "recycled", "recycle.bin", "system volume information", "$extend",
        // macOS.
        ".trashes", ".trash", ".spotlight-v100", ".fseventsd", ".temporaryitems", "temporary items",
        ".documentrevisions-v100", ".appledouble", ".appledb", ".appledesktop", "__macosx", "network trash folder",
        ".mobilebackups", ".pkinstallsandboxmanager", ".vol",
        // Linux, Android and other Unix systems.
        "lost+found", ".cache", ".thumbnails", ".snapshots", ".snapshot", ".zfs", ".recycle", "lost.dir", ".lost.dir",
        // Network disks and programs that synchronise folders.
        "@eadir", "#recycle", "#snapshot", "@recycle", "@recently-snapshot", ".@__thumb", "@tmp", "@sharebin",
        ".stversions", ".stfolder", ".dropbox.cache", ".debris", ".sync",
    ]

    /// Prefixes of folder names in lower case: some end with a user's number, others hold a Mac's hard links.
    private static let beginnings = [
        ".trash-", ".hfs+ private directory data", "\u{2400}\u{2400}\u{2400}\u{2400}hfs+ private",
    ]

    /// Whether a folder belongs to an operating system. `path` is relative to the library.
    static func isFolder(_ path: String) -> Bool {
        let name = (path.split(separator: "/").last.map(String.init) ?? path).lowercased()
        return folders.contains(name) || beginnings.contains(where: name.hasPrefix) || isFound(name)
            // The recycle bin of a home folder.
            || name == "trash" && path.lowercased().hasSuffix(".local/share/trash")
    }

    /// Whether a folder holds files that a disk check has saved: `FOUND.000`.
    private static func isFound(_ name: String) -> Bool {
        name.hasPrefix("found.") && name.utf8.count == 9 && Int(name.dropFirst(6)) != nil
    }

    /// Whether a file is deleted or incomplete, judged by its name: Android uses such names instead of a folder.
    static func isFile(_ name: String) -> Bool {
        guard let number = [".trashed-", ".pending-"].first(where: name.hasPrefix).map({ name.dropFirst($0.count) })
        else { return false }
        return number.first?.isNumber == true && number.contains("-")
    }

    /// Whether a file is a Mac's AppleDouble file (RFC 1740), which stores metadata of another file on a foreign file
    /// system. Its name begins with `._`.
    static func isAppleDouble(_ name: String, in folder: Int32) -> Bool {
        guard name.hasPrefix("._") else { return false }
        let file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        // An unreadable file is more likely AppleDouble than music.
        guard file >= 0 else { return true }
        defer { close(file) }
        return withUnsafeTemporaryAllocation(byteCount: 4, alignment: 1) { bytes in
            read(file, bytes.baseAddress, 4) < 4 || Array(bytes) == [0x00, 0x05, 0x16, 0x07]
        }
    }
}
