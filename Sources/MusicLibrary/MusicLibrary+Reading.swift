// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

// Reads tags with TagLib, and uses the player for files with insufficient tags.

extension MusicLibrary {
    /// Files that were read, and files that could not be opened. Nil if the reader program does not start.
    typealias Batch = (files: [SongFile], failed: [LibraryScan.ToRead])?

    /// Reads the tags of some files.
    func reading(_ batch: [LibraryScan.ToRead]) -> Task<Batch, Never> {
        Task { [scanner, reader, folder, limits] in
            await scanner.run {
                let paths = batch.map { folder + "/" + $0.file.path }
                var contents: [String?] = []
                let tags = try? reader.tags(of: paths) { contents.append(ContentID.read(paths[$0], limits: limits)) }
                guard let tags else { return nil }
                var files: [SongFile] = []
                var failed: [LibraryScan.ToRead] = []
                for (place, wanted) in batch.enumerated() {
                    if let content = contents[place] {
                        files.append(SongFile(wanted, content: content, tags: tags[place], limits: limits))
                    } else {
                        failed.append(wanted)
                    }
                }
                return (files, failed)
            }
        }
    }

    /// The files of a batch, unless the folder is away.
    func checked(
        _ batch: Batch, _ samples: [String]
    ) async throws(LibraryProblem) -> ([SongFile], [LibraryScan.ToRead]) {
        guard let (files, failed) = batch else { throw .readerFailed }
        // If the stick was pulled, the files are not at fault.
        if !failed.isEmpty || files.contains(where: { !$0.isMusic }), let problem = await check(nil, samples) {
            throw problem
        }
        return (files, failed)
    }

    // MARK: The player

    /// Adds the player's findings about files that TagLib could not read. The log names those that cannot be played.
    func played(_ files: [SongFile], _ samples: [String]) async throws(LibraryProblem) -> [SongFile] {
        guard let player else { return files }
        var played = files
        for place in played.indices {
            let path = folder + "/" + played[place].file.path
            let outcome = await scanner.run { try? player.play(path) }
            guard !Task.isCancelled else { break }
            guard let outcome else {
                logger.warning("the player does not start, so \(files.count) files are not checked")
                break
            }
            played[place].take(outcome, limits: limits)
            guard case .fails(let why)? = played[place].played else { continue }
            if let problem = await check(nil, samples) { throw problem }
            logUnplayable(played[place].file.path, why)
        }
        return played
    }

    private func logUnplayable(_ path: String, _ why: String) {
        loggedFiles += 1
        guard loggedFiles <= limits.loggedFiles else { return }
        logger.notice("\(UntrustedText.shown(path)) cannot be played: \(UntrustedText.shown(why))")
    }
}
