// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import Glibc
import Logging
import MeshNode
import MusicLibrary
import MusicPlayer
import NodeCore
import ServiceLifecycle

/// The parts of a host around its node: the library, the player, and the desktop's media keys. It forwards their events
/// to each other.
public actor HeadUnit: Service {
    private let node: Node
    private let events: AsyncStream<NodeEvent>
    private let library: MusicLibrary?
    private let player: (any MusicPlayer)?
    private let mediaKeys: MediaKeys?
    private let begun: LibraryStart?
    /// The path of the playlist that the host was started with.
    private let playlist: String?
    /// The name of the playlist that the driver has chosen since. Empty for all songs.
    private var chosenPlaylist: String?
    private let showCount: @Sendable (LibraryCount) async -> Void
    private var changes = LibraryChanges()
    private var playlistSongs: PlaylistSongs?
    private var playlistReport = PlaylistReport()
    private var playback: Playback?
    private var details: SongDetails?
    private var cover = CoverFile(ProcessInfo.processInfo.environment, instance: getpid())

    /// Creates the head unit of a node that does not run yet. The library already runs. `begun` contains the songs that
    /// the node knows already. `showCount` receives the progress of reading the library.
    public init(
        node: Node, library: MusicLibrary?, begun: LibraryStart? = nil, playlist: String? = nil,
        player: (any MusicPlayer)?,
        mediaKeys: MediaKeys?,
        showCount: @escaping @Sendable (LibraryCount) async -> Void = { _ in }
    ) {
        self.node = node
        self.library = library
        self.begun = begun
        self.playlist = playlist
        self.player = player
        self.mediaKeys = mediaKeys
        self.showCount = showCount
        events = node.events()
    }

    /// Runs until the node ends.
    public func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            if let library {
                group.addTask { await self.follow(library) }
            }
            if let player {
                group.addTask { try await player.run() }
                group.addTask { for await report in player.reports { await self.node.send(.player(report)) } }
                group.addTask { for await problem in player.problems { await self.take(problem) } }
            }
            if let mediaKeys {
                group.addTask { try await mediaKeys.run() }
                group.addTask { for await command in mediaKeys.commands { await self.take(command) } }
            }
            for await event in events.cancelOnGracefulShutdown() {
                if case .playback(let playback) = event { await take(playback) }
            }
            cover?.remove()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private func take(_ playback: Playback) async {
        self.playback = playback
        if playback.playlist != chosenPlaylist {
            await choose(playback.playlist)
        }
        await player?.want(playback)
        await mediaKeys?.show(playback, details)
        guard let song = playback.song, song.id != details?.songID, let library, let mediaKeys else { return }
        // Reading the album and the cover takes time, so the song is shown first.
        details = SongDetails(songID: song.id)
        let (album, picture) = (await library.album(of: song.id), await library.cover(of: song.id))
        guard self.playback?.song?.id == song.id else { return }
        let address = picture.flatMap { cover?.write($0, turn: playback.turn) }
        details = SongDetails(songID: song.id, album: album, cover: address)
        if let playback = self.playback { await mediaKeys.show(playback, details) }
    }

    private func follow(_ library: MusicLibrary) async {
        if let begun { _ = changes.begin(begun) }
        await readPlaylist()
        if begun != nil { await showCount(changes.count) }
        for update in begun?.updates ?? [] { await take(update) }
        for await update in library.updates { await take(update) }
    }

    private func take(_ update: MusicLibrary.Update) async {
        for input in changes.handle(update) {
            // The player comes first: it closes the files, and must not report errors about them.
            if case .libraryAway(let isAway) = input { await player?.take(libraryAway: isAway) }
            await node.send(input)
        }
        switch update {
        case .songs, .recovered: await readPlaylist()
        case .progress, .problem: await reportPlaylist()
        }
        await showCount(changes.count)
    }

    /// Looks for the playlist that the driver asks for, and reports to the node whether it exists.
    private func choose(_ wanted: String?) async {
        guard let wanted else {
            chosenPlaylist = nil
            return await readPlaylist()
        }
        // Without a library, the only songs are the demo songs or those of a list.
        let answer =
            await library?.playlist(wanted) ?? PlaylistAnswer(asked: wanted, name: wanted.isEmpty ? "" : nil)
        if let name = answer.name {
            chosenPlaylist = name
            changes.note(playlists: answer.known, chosen: name.isEmpty ? nil : name)
            for input in playlistReport.withdraw() { await node.send(input) }
        }
        await node.send(.playlistFound(answer))
        await showCount(changes.count)
    }

    /// Reads the playlist again after a change of the folder. The playlist may have changed too. A playlist on a USB
    /// stick exists only with the stick.
    private func readPlaylist() async {
        guard let library else { return }
        let known = await library.playlists()
        if let name = chosenPlaylist {
            let songs = name.isEmpty ? [] : await library.songs(ofFoundPlaylist: name)
            changes.note(playlists: known, chosen: songs?.isEmpty == false ? name : nil)
            await node.send(.playlist(songs ?? []))
            for input in playlistReport.withdraw() { await node.send(input) }
            return
        }
        changes.note(
            playlists: known, chosen: playlist.map { path in known.first { path.hasSuffix("/" + $0) } ?? path })
        guard let playlist else { return }
        playlistSongs = await library.songs(ofPlaylist: playlist)
        if let playlistSongs { await node.send(.playlist(playlistSongs.songs)) }
        await reportPlaylist()
    }

    /// Reports the playlist's missing songs, but not while the folder is away or not yet read.
    private func reportPlaylist() async {
        guard chosenPlaylist == nil, let playlist, changes.isComplete else { return }
        for input in playlistReport.handle(playlistSongs, of: playlist) { await node.send(input) }
    }

    private func take(_ problem: PlayerProblem?) async {
        await node.send(problem.map { .notice(Notice($0)) } ?? .cleared(code: PlayerProblem.noSound.problem.code))
    }

    private func take(_ command: MediaCommand) async {
        switch command {
        case .play: await node.send(.host(.play))
        case .pause: await node.send(.host(.pause))
        case .playPause: await node.send(.host(playback?.isPlaying == true ? .pause : .play))
        case .next: await node.send(.host(.skip))
        case .previous: await node.send(.host(.previous))
        case .seek(let place): await node.send(.host(.seek(place / .seconds(1))))
        // The volume needs a player. The command does not come from a person at this device.
        case .volume(let percent): if playback?.volume != nil { await node.send(.host(.volume(percent))) }
        }
    }
}
