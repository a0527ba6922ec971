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
    /// mpv, on this device's loudspeakers.
    case mpv
    /// Nothing: the host keeps time as if it played.
    case none
}

/// A host's music, as the command line says it.
struct MusicOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A folder of music, or a JSON list of songs; without it, eight made-up songs.", valueName: "path"),
        completion: .file())
    var library: String?

    @Option(help: "What plays a folder's music, mpv where nothing is said; none keeps time without sound.")
    var player: PlayerChoice?

    @Option(
        help: ArgumentHelp(
            "Where mpv plays: a name of \"mpv --audio-device=help\", null/ for nowhere; without it, mpv's own choice.",
            valueName: "name"))
    var audioDevice: String?

    func validate() throws { try refuseEmpty([("--library <path>", library)]) }

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

extension MusicSource {
    /// Opens the music of a node, and says how far it has been read.
    func open(_ parts: NodeOptions.Node, showsProgress: Bool) async throws(SetupProblem) -> Music {
        guard let kept = parts.kept else { preconditionFailure("a host keeps what it knows") }
        do throws(LibraryProblem) {
            return try await open(index: kept.libraryIndex, isComplete: kept.hasSession, logger: parts.logger) {
                if showsProgress { StandardError.write("Reading the music folder: \($0) of \($1)") }
            }
        } catch {
            throw SetupProblem(.cannotCreate, "\(error.problem.sentence) \(error.problem.suggestion ?? "")")
        }
    }
}
