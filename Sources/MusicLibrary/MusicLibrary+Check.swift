// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

// Whether the folder is away: asked when a song cannot be played, and when something was mounted or unmounted.

extension MusicLibrary {
    /// Whether the folder is away, so that a song that cannot be played is not at fault. Then that is told (`updates`), and
    /// the folder is looked for until it is back.
    public func isAway(failing id: Song.ID) async -> Bool {
        if problem?.isAbsence == true { return true }
        let file = try? await index.path(of: id)
        let others = (try? await index.somePaths(except: file ?? "", atMost: limits.checkedFiles)) ?? []
        // A song that is not in the library is at fault, whatever the folder is.
        guard let file, let found = await check(file, others) else { return false }
        tell(found)
        policy.isAway(now: now)
        wake.yield()
        return true
    }

    /// What is wrong with the folder. Nil where it is in order, whatever a file is.
    func check(_ file: String?, _ others: [String]) async -> LibraryProblem? {
        let probe = FolderProbe(folder: folder, file: file, others: others, limits: limits)
        guard let check = await DiskQuestion.ask(checker, for: limits.checkTime, { probe.look() }) else {
            return .folderUnreadable(path: folder, cause: "no answer")
        }
        return check.problem
    }

    /// Something was mounted or unmounted.
    func noteMounts() async {
        let place = await DiskQuestion.ask(checker, for: limits.checkTime) { [folder] in
            try? FolderWalk.root(of: folder)
        }
        // A disk that does not answer is found out about when a song fails.
        if let place { policy.mountsChanged(isOther: place != root, now: now) }
    }
}
