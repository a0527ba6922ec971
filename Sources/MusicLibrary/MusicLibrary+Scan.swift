// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Glibc

extension MusicLibrary {
    /// Scans the folder once and applies the changes.
    func scan(_ watch: FolderWatch?) async -> RescanPolicy.Outcome {
        var outcome = RescanPolicy.Outcome.failed
        do throws(LibraryProblem) {
            let (walk, found, problems) = try await perform(watch)
            root = walk.root
            tell(problems.first)
            let isWatched = !problems.contains(where: \.isOfWatching)
            outcome = found == 0 ? .away : !isWatched ? .unwatched : walk.isRemote ? .remote : .watched
        } catch {
            root = nil
            // A cancelled task may leave work undone, which is not a problem to report.
            if !Task.isCancelled { tell(error) }
            switch error {
            case .indexUnusable, .readerFailed: break
            default: outcome = .away
            }
        }
        return outcome
    }

    /// Returns the folder's identity, the number of files, and the problems, worst first.
    private func perform(
        _ watch: FolderWatch?
    ) async throws(LibraryProblem) -> (FolderWalk, Int, [LibraryProblem]) {
        let (written, growing) = policy.begin(now: now)
        let (walk, watchFailure) = try await walk(watch)
        try await index.begin(folder: folder)
        if walk.files.isEmpty, try await index.hadSongs() { throw .folderAway(path: folder) }
        let samples = walk.files.shuffled().prefix(limits.checkedFiles).map(\.path)
        // The kernel may list the folder from its cache, so read a file too.
        if problem?.isAbsence == true, let problem = await check(nil, samples) { throw problem }
        let known = try await index.known(hasPlayer: player != nil)
        let scan = await scanner.run {
            LibraryScan(known: known, found: walk.files, written: written, growing: growing)
        }
        defer {
            scanner.start { [reader, player] in
                reader.close()
                player?.close()
            }
        }
        let closed = walk.unreadable + (try await perform(scan, samples))
        let result = try await index.end(folder: folder, place: walk.root)
        var problems: [LibraryProblem] = []
        if walk.isTooMuch { problems.append(.tooMuch(path: folder)) }
        let unplayable = (closed + walk.unplayable + result.firstUnreadable).sorted().prefix(limits.namedFiles)
        if !unplayable.isEmpty {
            let count = closed.count + walk.unplayable.count + result.unreadable
            problems.append(.unreadableFiles(count: count, example: unplayable.joined(separator: ", ")))
        }
        if !result.hasSongs { problems.append(.noSongs(path: folder)) }
        if let watchFailure {
            problems.append(.notWatched(path: folder, cause: FolderWalk.text(watchFailure)))
        }
        return (walk, walk.files.count, problems)
    }

    private func walk(_ watch: FolderWatch?) async throws(LibraryProblem) -> (FolderWalk, Int32?) {
        try await scanner.run { [folder, limits] () throws(LibraryProblem) in
            watch?.begin()
            let walk = try FolderWalk(folder, limits: limits) { watch?.enter($0) }
            // The watch is missing because this user has as many as the system allows.
            guard let watch else { return (walk, EMFILE) }
            return (walk, watch.end())
        }
    }

    /// Returns the files that could not be opened.
    private func perform(_ scan: LibraryScan, _ samples: [String]) async throws(LibraryProblem) -> [String] {
        var given = Given(hasChanged: !scan.gone.isEmpty || !scan.moved.isEmpty)
        try await index.leave(scan.gone + scan.moved)
        for batch in scan.placed.batches(of: limits.batch) {
            if try await index.write(batch) { given.hasChanged = true }
        }
        var unreadable: [String] = []
        var silent: [SongFile] = []
        var done = 0
        // Reads a batch while the previous one is being written.
        var batches = scan.toRead.batches(of: limits.batch).makeIterator()
        var ahead = batches.next().map(reading)
        while let reading = ahead {
            guard !Task.isCancelled else { return unreadable }
            let batch = await reading.value
            ahead = batches.next().map(self.reading)
            let (files, failed) = try await checked(batch, samples)
            // The player may find a length that TagLib does not find, but it is slower.
            let isForPlayer = { (file: SongFile) in file.isForPlayer && self.player != nil }
            silent += files.filter(isForPlayer)
            if try await index.write(files.filter { !isForPlayer($0) }) { given.hasChanged = true }
            try await index.leave(failed.compactMap(\.number))
            if failed.contains(where: { $0.number != nil }) { given.hasChanged = true }
            // A file that is gone is not broken. The next scan handles it.
            unreadable += failed.map(\.file.path).filter { access(folder + "/" + $0, F_OK) == 0 }
            done += files.filter { !isForPlayer($0) }.count + failed.count
            mailbox.tell(.progress(done: done, of: scan.toRead.count))
            if given.isDue(done) { mailbox.tell(.songs(try await index.songs())) }
        }
        for batch in silent.batches(of: limits.playedBatch) {
            guard !Task.isCancelled else { return unreadable }
            let batch = try await played(batch, samples)
            guard !Task.isCancelled else { return unreadable }
            if try await index.write(batch) { given.hasChanged = true }
            done += batch.count
            mailbox.tell(.progress(done: done, of: scan.toRead.count))
            if given.isDue(done) { mailbox.tell(.songs(try await index.songs())) }
        }
        if given.hasChanged || !hasGivenSongs {
            mailbox.tell(.songs(try await index.songs()))
            hasGivenSongs = true
        }
        return unreadable
    }

    // MARK: Problems

    func tell(_ new: LibraryProblem?) {
        guard new != problem else { return }
        // The program that reads covers may only open files of the folder that existed at its start.
        if problem?.isAbsence == true { closeCoverReader() }
        problem = new
        mailbox.tell(new.map { .problem($0) } ?? .recovered)
        if let new { logger.notice("\(new.problem.sentence)") }
    }
}

extension LibraryProblem {
    fileprivate var isOfWatching: Bool { if case .notWatched = self { true } else { false } }
}

/// The songs that were published during the scan. With more songs it publishes less often, so that this costs no more
/// than reading.
private struct Given {
    var hasChanged: Bool
    private var next = 256

    init(hasChanged: Bool) {
        self.hasChanged = hasChanged
    }

    mutating func isDue(_ done: Int) -> Bool {
        guard hasChanged, done >= next else { return false }
        next = done * 2
        return true
    }
}

extension Array {
    /// The elements in slices of this size.
    fileprivate func batches(of size: Int) -> some Sequence<[Element]> {
        stride(from: 0, to: count, by: size).lazy.map { Array(self[$0..<Swift.min($0 + size, self.count)]) }
    }
}
