// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

// Checks whether the folder is away: when a song cannot be played, and when a file system was mounted or unmounted.

extension MusicLibrary {
    /// Whether the folder is away, so that a song that cannot be played is not at fault. If so, it reports that
    /// (`updates`) and looks for the folder until it is back.
    public func isAway(failing id: Song.ID) async -> Bool {
        if problem?.isAbsence == true { return true }
        let file = try? await index.path(of: id)
        let others = (try? await index.somePaths(except: file ?? "", atMost: limits.checkedFiles)) ?? []
        // A song that is not in the library is at fault, whatever the state of the folder is.
        guard let file, let found = await check(file, others) else { return false }
        tell(found)
        policy.isAway(now: now)
        wake.yield()
        return true
    }

    /// The problem with the folder. Nil if the folder works, even if a file does not.
    func check(_ file: String?, _ others: [String]) async -> LibraryProblem? {
        let probe = FolderProbe(folder: folder, file: file, others: others, limits: limits)
        guard let check = await DiskQuestion.ask(checker, for: limits.checkTime, { probe.look() }) else {
            return .folderUnreadable(path: folder, cause: "no answer")
        }
        return check.problem
    }

    /// A file system was mounted or unmounted.
    func noteMounts() async {
        let place = await DiskQuestion.ask(checker, for: limits.checkTime) { [folder] in
            try? FolderWalk.root(of: folder)
        }
        // If the disk does not answer, the next failing song will show that.
        if let place { policy.mountsChanged(isOther: place != root, now: now) }
    }
}
