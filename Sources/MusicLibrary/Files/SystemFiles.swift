// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What systems keep on a disk for themselves: recycle bins, and data about the file system. It is known by its name, and a Mac's
/// file next to another one by its content. A dot at the beginning of a name says nothing: there are bands and albums with one.
enum SystemFiles {
    /// Names of folders, in small letters.
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

    /// Beginnings of names of folders, in small letters: with a user's number, and a Mac's hard links.
    private static let beginnings = [
        ".trash-", ".hfs+ private directory data", "\u{2400}\u{2400}\u{2400}\u{2400}hfs+ private",
    ]

    /// Whether a folder belongs to a system. `path` is that in the library.
    static func isFolder(_ path: String) -> Bool {
        let name = (path.split(separator: "/").last.map(String.init) ?? path).lowercased()
        return folders.contains(name) || beginnings.contains(where: name.hasPrefix) || isFound(name)
            // The recycle bin of a home folder.
            || name == "trash" && path.lowercased().hasSuffix(".local/share/trash")
    }

    /// The folder of files that a check of the disk saved: `FOUND.000`.
    private static func isFound(_ name: String) -> Bool {
        name.hasPrefix("found.") && name.utf8.count == 9 && Int(name.dropFirst(6)) != nil
    }

    /// Whether a file's name is one of a recycle bin that has no folder, or of a file that is not there yet: Android gives such.
    static func isFile(_ name: String) -> Bool {
        guard let number = [".trashed-", ".pending-"].first(where: name.hasPrefix).map({ name.dropFirst($0.count) })
        else { return false }
        return number.first?.isNumber == true && number.contains("-")
    }

    /// Whether a file is what a Mac keeps of another on a disk of another system: AppleDouble (RFC 1740). Its name begins with
    /// `._`.
    static func isAppleDouble(_ name: String, in folder: Int32) -> Bool {
        guard name.hasPrefix("._") else { return false }
        let file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        // One that cannot be read is more likely such a file than music.
        guard file >= 0 else { return true }
        defer { close(file) }
        return withUnsafeTemporaryAllocation(byteCount: 4, alignment: 1) { bytes in
            read(file, bytes.baseAddress, 4) < 4 || Array(bytes) == [0x00, 0x05, 0x16, 0x07]
        }
    }
}
