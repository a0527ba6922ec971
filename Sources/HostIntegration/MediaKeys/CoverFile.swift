// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MusicLibrary

/// The file with the cover of the present song, for programs of the same user that show what plays. The folder of the
/// session has it, which is in memory and goes when the user logs out.
struct CoverFile: Sendable {
    private let folder: String
    private let name: String
    private var path: String?

    /// A file in the folder of the session; nil where there is no session.
    init?(_ environment: [String: String], instance: Int32) {
        guard let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") else { return nil }
        self.folder = folder
        name = "roadmesh-cover-\(instance)"
    }

    /// Writes a cover in the place of the one before. Returns its address; nil where it cannot be written.
    mutating func write(_ cover: Cover, turn: Int) -> String? {
        remove()
        let ending = cover.mediaType.split(separator: "/").last.map(String.init) ?? "jpeg"
        // Another name for another cover: programs keep what they have read by its address.
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
