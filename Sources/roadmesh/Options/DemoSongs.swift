// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// The songs of a host without a library. `docs/songs.json` contains the same songs.
enum DemoSongs {
    static let songs = [
        Song(id: "s1", title: "Open Road", artist: "The Milestones", duration: 214),
        Song(id: "s2", title: "Tunnel of Lights", artist: "Night Drivers", duration: 187),
        Song(id: "s3", title: "Rest Stop Serenade", artist: "Paper Maps", duration: 241),
        Song(id: "s4", title: "Windows Down", artist: "Coastline", duration: 198),
        Song(id: "s5", title: "Are We There Yet", artist: "Backseat Choir", duration: 176),
        Song(id: "s6", title: "Headlights", artist: "Long Haul", duration: 263),
        Song(id: "s7", title: "Mountain Pass", artist: "The Hairpins", duration: 229),
        Song(id: "s8", title: "Last Exit Home", artist: "Odometer", duration: 252),
    ]
}
