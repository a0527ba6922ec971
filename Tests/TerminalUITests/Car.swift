// SPDX-License-Identifier: Apache-2.0

import NodeCore
import DemocracyDJ
import MeshProtocol

@testable import TerminalUI

/// A car for tests of the terminal.
enum Car {
    static let dad = Peer(id: "dad", name: "Dad's Car")
    static let ana = Peer(id: "ana", name: "Ana")
    static let bob = Peer(id: "bob", name: "Bob")

    static let songs = [
        Song(id: "s1", title: "Open Road", artist: "The Milestones", duration: 214),
        Song(id: "s2", title: "Road Trip", artist: "Night Drivers", duration: 187),
        Song(id: "3", title: "Rest Stop", artist: "Paper Maps", duration: 241),
        Song(id: "s4", title: "Road", artist: "Coastline", duration: 198),
    ]

    static func description(_ role: NodeDescription.Role, _ peer: Peer) -> NodeDescription {
        NodeDescription(role: role, peer: peer, radio: "virtual", service: .democracyDJ)
    }

    /// The first song plays, and the others are queued.
    static func snapshot(
        _ songs: [Song] = songs, guests: [Peer] = [ana], change: (inout HostSnapshot) -> Void = { _ in }
    ) -> HostSnapshot {
        var snapshot = HostSnapshot(
            epoch: 1, revision: 1, nowPlaying: songs.first.map { QueueItem(song: $0, addedBy: dad.id) },
            isPlaying: true, queue: songs.dropFirst().map { QueueItem(song: $0, addedBy: dad.id) },
            connectedPeers: guests)
        change(&snapshot)
        return snapshot
    }

    /// Ana's screen, above a panel, after these events.
    static func anasScreen(_ events: NodeEvent...) -> Screen {
        var screen = Screen(description(.guest, ana), .abovePanel)
        for event in [.peerConnected(dad), .connection(.connected)] + events { _ = screen.show(event, now: .zero) }
        return screen
    }

    static let size = TerminalSize(columns: 80, rows: 24)
}

extension Screen {
    /// The panel's lines.
    func panel(_ size: TerminalSize = Car.size, now: MeshInstant = .zero) -> [String] {
        Panel(self, size, now: now).lines.map(\.text)
    }
}
