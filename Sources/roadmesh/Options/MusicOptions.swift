// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dashboard
import DemocracyDJ
import FoundationEssentials
import Glibc
import HostIntegration
import MeshNode
import MusicLibrary
import MusicPlayer
import TerminalUI

/// The player of a host.
enum PlayerChoice: String, CaseIterable, ExpressibleByArgument {
    /// mpv, on this device's loudspeakers.
    case mpv
    /// No player. The host keeps time as if it played.
    case none
}

extension Loudness: ExpressibleByArgument {}

/// The music of a host, from the command line.
struct MusicOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A folder of music, a playlist (M3U, PLS) in one, or a JSON list of songs; without it, eight demo songs.",
            valueName: "path"),
        completion: .file())
    var library: String?

    @Option(
        help: ArgumentHelp(
            "The player for a folder's music, by default mpv; none keeps time without sound.",
            valueName: "mpv|none"))
    var player: PlayerChoice?

    @Option(
        help: ArgumentHelp(
            "Where mpv plays: a name from \"mpv --audio-device=help\", or null/ for nowhere; without it, mpv's own choice.",
            valueName: "name"))
    var audioDevice: String?

    @Option(
        help: ArgumentHelp(
            "The playlist (M3U, PLS) to play while the queue is empty. Without it, any song of the folder.",
            valueName: "file"),
        completion: .file(extensions: ["m3u", "m3u8", "pls"]))
    var playlist: String?

    @Option(
        help: ArgumentHelp(
            "Which songs are made equally loud: all songs (track), all albums (album), or none (off).",
            valueName: "track|album|off"))
    var loudness: Loudness = .track

    @Flag(
        inversion: .prefixedNo,
        help: "While the queue is empty, play songs in random order, or sorted by artist and album.")
    var shuffle = true

    func validate() throws { try refuseEmpty([("--library <path>", library), ("--playlist <file>", playlist)]) }

    /// Checks the options before anything is opened, and returns the music that they name. The player must not read
    /// `stateFolder`.
    func source(stateFolder: String) throws(SetupProblem) -> MusicSource {
        guard let library else {
            guard playlist == nil else { throw Self.noFolder }
            return try list(DemoSongs.songs)
        }
        let isPlaylist = MusicSource.isPlaylist(library)
        guard isPlaylist || Self.isFolder(library) else {
            guard playlist == nil else { throw Self.noFolder }
            return try list(SongListFile.load(library))
        }
        let wanted = playlist ?? (isPlaylist ? library : nil)
        let folder = NodeOptions.absolute(isPlaylist ? Self.folder(of: library) : library)
        if let wanted, !MusicSource.isPlaylist(wanted) || !Self.isReadable(wanted) && !Self.mayCome(to: folder) {
            throw SetupProblem(
                .data, "\(wanted) cannot be read as a playlist; name a file that ends in .m3u, .m3u8 or .pls.")
        }
        let launcher = Confinement.launcher(
            stateFolder: stateFolder, allowed: [folder],
            hasNetwork: Confinement.playsOverNetwork(ProcessInfo.processInfo.environment))
        let reading = Confinement.readingLauncher(stateFolder: stateFolder, folder: folder)
        // The music that plays comes first. With the lowest priority, a host on a busy machine would not start for minutes,
        // because a first scan waits for the lengths that only the player knows.
        let measurer = reading + ["nice", "-n", "10"]
        return .folder(
            folder, mpv: player == PlayerChoice.none ? nil : try MPVPlayer.find(), launcher: launcher,
            reader: reading + ["/proc/self/exe", FileReaderProgram.argument], measurer: measurer,
            loudness: loudness, audioDevice: audioDevice, playlist: wanted.map(NodeOptions.absolute))
    }

    /// Whether a path is a folder. A missing path counts as a folder on a stick that is not plugged in, unless it has
    /// the name of a song list.
    private static func isFolder(_ path: String) -> Bool {
        NodeOptions.isFolder(path) || !NodeOptions.isThere(path) && !path.lowercased().hasSuffix(".json")
    }

    private static func isReadable(_ file: String) -> Bool { access(file, R_OK) == 0 }

    /// Whether a folder may get files later: it is missing or empty, for example without its stick.
    private static func mayCome(to folder: String) -> Bool {
        (try? FileManager.default.contentsOfDirectory(atPath: folder))?.isEmpty ?? true
    }

    private static let noFolder = SetupProblem(
        .usage, "A playlist plays songs of a folder of music; name the folder with --library.")

    /// The folder of a file.
    private static func folder(of file: String) -> String {
        file.lastIndex(of: "/").map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? "."
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
    /// Opens the music of a node, and shows the progress of reading it.
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
