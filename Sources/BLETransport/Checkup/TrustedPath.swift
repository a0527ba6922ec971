// SPDX-License-Identifier: Apache-2.0

import Bearers
import Glibc

/// Decides whether only root can change the target of a path: the file itself and every folder and link on the way.
package enum TrustedPath {
    /// Maximum number of symbolic links that the kernel follows in a path (path_resolution(7)).
    private static let mostLinks = 40

    /// Why a path is not trusted, as the rest of a sentence that begins with the path; nil if only root can change it.
    /// A missing file is trusted if its folder is. `owner` is root and `start` is the root folder, except in tests.
    package static func refusal(of path: String, owner: uid_t = 0, below start: String = "/") -> String? {
        guard path.hasPrefix(start) else { return "is not an absolute path" }
        var rest = parts(of: String(path.dropFirst(start.count)))
        var folder = start
        var links = 0
        if let refusal = refusal(ofEntry: folder, owner: owner).refusal { return refusal }
        while !rest.isEmpty {
            let name = rest.removeFirst()
            if name == ".." {
                folder = parent(of: folder)
                continue
            }
            let entry = folder == "/" ? "/" + name : folder + "/" + name
            let (refusal, target, isThere) = refusal(ofEntry: entry, owner: owner)
            if let refusal { return refusal }
            guard isThere else { return nil }
            guard let target else {
                folder = entry
                continue
            }
            links += 1
            guard links <= mostLinks else { return "has too many links" }
            if target.hasPrefix("/") { folder = "/" }
            rest = parts(of: target) + rest
        }
        return nil
    }

    /// Why an entry is not trusted, its target if it is a link, and whether it exists.
    private static func refusal(ofEntry path: String, owner: uid_t) -> (refusal: String?, target: String?, Bool) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            return errno == ENOENT || errno == ENOTDIR
                ? (nil, nil, false) : ("cannot be inspected (\(SystemError.text(errno)))", nil, false)
        }
        guard status.st_uid == owner || status.st_uid == 0 else {
            return ("is not owned by root alone: \(path) belongs to another user", nil, true)
        }
        guard status.st_mode & S_IFMT != S_IFLNK else {
            let target = SystemFile.link(path)
            return target == nil ? ("cannot be followed", nil, true) : (nil, target, true)
        }
        let othersMayWrite = status.st_mode & S_IWOTH != 0 || status.st_mode & S_IWGRP != 0 && status.st_gid != 0
        return (othersMayWrite ? "is not owned by root alone: others may write to \(path)" : nil, nil, true)
    }

    private static func parts(of path: String) -> [String] {
        path.split(separator: "/").map(String.init).filter { $0 != "." }
    }

    private static func parent(of folder: String) -> String {
        let end = folder.lastIndex(of: "/") ?? folder.startIndex
        return end == folder.startIndex ? "/" : String(folder[..<end])
    }
}
