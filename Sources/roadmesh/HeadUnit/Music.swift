// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import Dashboard
import HostIntegration
import MusicLibrary
import MusicPlayer
import Logging
import MeshNode

/// A host's music, opened.
struct Music: Sendable {
    /// The songs that are known so far.
    let songs: [Song]
    /// How many of them a new session queues by itself.
    let opens: Int
    /// Who looks through them.
    let search: any SongSearch
    // Of a folder.
    var library: MusicLibrary?
    var start: LibraryStart?
    var running: Task<Void, Never>?
    var mpv: String?
    var audioDevice: String?
    var logger = Logger(label: "roadmesh")

    /// What a node hosts with.
    func hosting(_ fairness: Fairness) -> Hosting {
        Hosting(
            SongLibrary(songs), fairness, hasPlayer: mpv != nil, opens: opens, search: search,
            wallClockSeconds: UInt32(clamping: Int(Date().timeIntervalSince1970)))
    }

    /// The covers in the files of a folder.
    var art: (@Sendable (Song.ID) async -> [UInt8]?)? {
        guard let library else { return nil }
        return { await library.cover(of: $0)?.bytes }
    }

    /// What plays around a node.
    func headUnit(around node: DJNode, showing dashboard: Dashboard) -> HeadUnit {
        HeadUnit(
            node: node, library: library, begun: start, player: player, mediaKeys: MediaKeys(logger: logger)
        ) { await dashboard.show($0) }
    }

    private var player: MPVPlayer? {
        guard let mpv, let library else { return nil }
        return MPVPlayer(
            executable: mpv, audioDevice: audioDevice, file: { await library.file(of: $0) }, logger: logger)
    }

    /// Nothing of it is needed any more.
    func close() { running?.cancel() }
}
