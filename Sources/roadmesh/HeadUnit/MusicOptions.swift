// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dashboard
import DemocracyDJ
import FoundationEssentials
import HostIntegration
import MeshNode
import MusicLibrary
import MusicPlayer
import TerminalUI

/// What plays.
enum PlayerChoice: String, CaseIterable, ExpressibleByArgument {
    /// mpv, on this box's loudspeakers.
    case mpv
    /// Nothing: the host keeps time as if it played.
    case none
}

/// A host's music, as the command line says it.
struct MusicOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A folder of music, or a JSON list of songs.", valueName: "path"))
    var library: String?

    @Option(help: "What plays a folder's music; none keeps time without sound. A list has nothing to play.")
    var player: PlayerChoice?

    @Option(
        help: ArgumentHelp(
            "Where mpv plays: a name of \"mpv --audio-device=help\"; null/ for nowhere.", valueName: "name"))
    var audioDevice: String?

    /// What the options name, looked at: whatever is wrong with them is said before anything is opened.
    func source() throws(SetupProblem) -> MusicSource {
        guard let library else { return try list(DemoSongs.songs) }
        guard NodeOptions.isThere(library) else {
            throw SetupProblem(
                .data, "There is nothing at \(library); name a folder of music or a JSON list of songs with --library.")
        }
        guard NodeOptions.isFolder(library) else { return try list(SongListFile.load(library)) }
        return .folder(
            NodeOptions.absolute(library), mpv: player == PlayerChoice.none ? nil : try MPVPlayer.find(),
            audioDevice: audioDevice)
    }

    private func list(_ songs: [Song]) throws(SetupProblem) -> MusicSource {
        guard player != .mpv else {
            throw SetupProblem(
                .usage, "A list of songs has no files that mpv could play; name a folder of music with --library.")
        }
        return .list(songs)
    }
}

/// Where a host's songs come from.
enum MusicSource {
    /// A list of songs that are nowhere.
    case list([Song])
    /// A folder, and where mpv is that plays from it; nil for silence.
    case folder(String, mpv: String?, audioDevice: String?)

    /// The songs, as a host begins with them.
    func open(_ parts: NodeOptions.Node, showsProgress: Bool) async throws(SetupProblem) -> Music {
        guard let kept = parts.kept else { preconditionFailure("a host keeps what it knows") }
        do throws(LibraryProblem) {
            switch self {
            case .list(let songs):
                return Music(
                    songs: songs, opens: DJLimits.openingSongs, search: try ListSearch(songs, logger: parts.logger))
            case .folder(let folder, let mpv, let audioDevice):
                let library = try MusicLibrary(
                    folder: folder, database: kept.libraryIndex, logger: parts.logger)
                var start = LibraryStart(isComplete: kept.hasSession)
                let running = Task { await library.run() }
                await start.wait(for: library) { done, all in
                    if showsProgress { StandardError.write("Reading the music folder: \(done) of \(all)") }
                }
                // The queue is the guests': a library's songs are there to be chosen.
                return Music(
                    songs: start.songs, opens: 0, search: library, library: library, start: start, running: running,
                    mpv: mpv, audioDevice: audioDevice, logger: parts.logger)
            }
        } catch {
            throw SetupProblem(.cannotCreate, "\(error.message) \(error.suggestion)")
        }
    }
}
