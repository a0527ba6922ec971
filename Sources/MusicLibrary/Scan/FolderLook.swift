// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// The content of a music folder according to file names. It opens no file.
public struct FolderLook: Hashable, Sendable {
    /// Number of playable files.
    public var songs = 0
    /// Number of files and folders in the music folder that this user may not read.
    public var unreadable = 0
    /// The reason why the folder cannot be used; nil if it can.
    public var problem: Problem?

    /// The reason why a folder cannot be used.
    public enum Problem: Hashable, Sendable {
        /// The path does not exist, or is not a folder.
        case missing
        /// The folder cannot be read. Carries the system's error text.
        case unreadable(String)
    }

    /// Creates a result.
    public init(songs: Int = 0, unreadable: Int = 0, problem: Problem? = nil) {
        (self.songs, self.unreadable, self.problem) = (songs, unreadable, problem)
    }

    /// Looks through a folder. It blocks for as long as the disk does.
    public init(at path: String) {
        do throws(LibraryProblem) {
            let walk = try FolderWalk(path, limits: .standard)
            self.init(songs: walk.files.count, unreadable: walk.unreadable.count)
        } catch {
            if case .folderUnreadable(_, let cause) = error {
                self.init(problem: .unreadable(cause))
            } else {
                self.init(problem: .missing)
            }
        }
    }
}
