// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MusicLibrary

/// A file with the cover of the current song, for other programs of the same user. It is in the session's runtime
/// folder, which is in memory and disappears when the user logs out.
struct CoverFile: Sendable {
    private let folder: String
    private let name: String
    private var path: String?

    /// A file in the session's runtime folder. Nil without a session.
    init?(_ environment: [String: String], instance: Int32) {
        guard let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") else { return nil }
        self.folder = folder
        name = "roadmesh-cover-\(instance)"
    }

    /// Replaces the cover. Returns the file's URL. Nil if it cannot be written.
    mutating func write(_ cover: Cover, turn: Int) -> String? {
        remove()
        let ending = cover.mediaType.split(separator: "/").last.map(String.init) ?? "jpeg"
        // Each cover has a new name, because programs cache covers by URL.
        let path = "\(folder)/\(name)-\(turn).\(ending)"
        guard (try? Data(cover.bytes).write(to: URL(filePath: path))) != nil else { return nil }
        self.path = path
        return URL(filePath: path).absoluteString
    }

    /// Removes the file.
    mutating func remove() {
        if let path { try? FileManager.default.removeItem(atPath: path) }
        path = nil
    }
}
