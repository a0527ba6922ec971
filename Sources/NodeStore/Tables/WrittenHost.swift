// SPDX-License-Identifier: Apache-2.0

import GRDB
import MeshProtocol
import NodeCore

/// The host's state on disk, with the places of its rows.
struct WrittenHost: Sendable {
    /// Nil if nothing is written yet.
    private(set) var record: HostRecord?
    private var queue = PlacedList<String>()
    /// The voters of each song.
    private var voters: [String: PlacedList<Peer.ID>] = [:]
    private var played = PlacedList<String>()
    private var askers = PlacedList<Peer.ID>()
    private var banned = PlacedList<Peer.ID>()

    /// An empty disk.
    init() {}

    // MARK: Reading

    /// Reads the disk; nil if it has no host.
    init?(_ db: Database) throws {
        guard
            let row = try Row.fetchOne(
                db,
                sql: """
                    SELECT epoch, nowPlaying, isPlaying, elapsedMilliseconds, volume FROM hostState
                    """)
        else { return nil }
        var record = HostRecord(
            epoch: try row.value(0), nowPlaying: try row.optional(1), isPlaying: try row.value(2),
            elapsedMilliseconds: try row.value(3), volume: try row.value(4))
        let items = try db.list("SELECT place, songID, addedBy, added, isHeld FROM queuedSong ORDER BY place") { row in
            QueuedRecord(
                songID: try row.value(1), addedBy: try row.value(2), added: try row.value(3), isHeld: try row.value(4))
        }
        queue = PlacedList(rows: items.rows.map { PlacedList.Row(place: $0.place, element: $0.element.songID) })
        record.queue = items.elements
        for index in record.queue.indices {
            let song = record.queue[index].songID
            let list = try db.list("SELECT place, voter FROM vote WHERE songID = ? ORDER BY place", [song]) { row in
                try row.value(1, as: String.self)
            }
            voters[song] = list
            record.queue[index].voters = list.elements
        }
        played = try Self.list(of: "played", "songID", db)
        askers = try Self.list(of: "asker", "peer", db)
        banned = try Self.list(of: "banned", "peer", db)
        record.played = played.elements
        record.lastAskers = askers.elements
        record.banned = banned.elements
        self.record = record
    }

    private static func list(of table: String, _ column: String, _ db: Database) throws -> PlacedList<String> {
        try db.list("SELECT place, \(column) FROM \(table) ORDER BY place") { try $0.value(1, as: String.self) }
    }

    // MARK: Writing

    /// Writes the differences.
    mutating func become(_ new: HostRecord, _ db: Database) throws {
        try writeState(new, db)
        try writeQueue(new.queue, db)
        try Self.write(played.become(new.played), to: "played", "songID", db)
        try Self.write(askers.become(new.lastAskers), to: "asker", "peer", db)
        try Self.write(banned.become(new.banned), to: "banned", "peer", db)
        record = new
    }

    private func writeState(_ new: HostRecord, _ db: Database) throws {
        if let record, record.epoch == new.epoch, record.nowPlaying == new.nowPlaying,
            record.isPlaying == new.isPlaying,
            record.elapsedMilliseconds == new.elapsedMilliseconds, record.volume == new.volume
        {
            return
        }
        try db.run(
            """
            INSERT OR REPLACE INTO hostState
                (id, epoch, nowPlaying, isPlaying, elapsedMilliseconds, volume) VALUES (1, ?, ?, ?, ?, ?)
            """,
            [new.epoch, new.nowPlaying, new.isPlaying, new.elapsedMilliseconds, new.volume])
    }

    private mutating func writeQueue(_ new: [QueuedRecord], _ db: Database) throws {
        let old = record?.queue ?? []
        // A vote moves one song past some others. Songs before and after these are skipped.
        let (start, end) = old.commonEnds(with: new, by: ==)
        guard start < max(old.count, new.count) else { return }
        let songs = new.map(\.songID)
        guard Set(songs).count == songs.count else { throw ForeignValue(description: "the queue has a song twice") }
        var left = Dictionary(uniqueKeysWithValues: old[start..<old.count - end].map { ($0.songID, $0) })
        var places = Dictionary(
            uniqueKeysWithValues: queue.become(songs).inserted.map { ($0.element, $0.place) })
        for item in new[start..<new.count - end] {
            if let known = left.removeValue(forKey: item.songID) {
                try write(item, instead: known, db)
            } else {
                try insert(item, place: places.removeValue(forKey: item.songID), db)
            }
        }
        for song in left.keys {
            // The song's votes are deleted with its row.
            try db.run("DELETE FROM queuedSong WHERE songID = ?", [song])
            voters[song] = nil
        }
        for (song, place) in places {
            try db.run("UPDATE queuedSong SET place = ?2 WHERE songID = ?1", [song, place])
        }
    }

    private mutating func insert(_ item: QueuedRecord, place: Int64?, _ db: Database) throws {
        try db.run(
            "INSERT INTO queuedSong (songID, addedBy, added, place, isHeld) VALUES (?, ?, ?, ?, ?)",
            [item.songID, item.addedBy, item.added, place, item.isHeld])
        try writeVoters(of: item, db)
    }

    private mutating func write(_ item: QueuedRecord, instead old: QueuedRecord, _ db: Database) throws {
        if item.addedBy != old.addedBy || item.added != old.added || item.isHeld != old.isHeld {
            try db.run(
                "UPDATE queuedSong SET addedBy = ?2, added = ?3, isHeld = ?4 WHERE songID = ?1",
                [item.songID, item.addedBy, item.added, item.isHeld])
        }
        if item.voters != old.voters { try writeVoters(of: item, db) }
    }

    private mutating func writeVoters(of item: QueuedRecord, _ db: Database) throws {
        let changes = voters[item.songID, default: PlacedList()].become(item.voters)
        for row in changes.removed {
            try db.run("DELETE FROM vote WHERE songID = ? AND place = ?", [item.songID, row.place])
        }
        for row in changes.inserted {
            try db.run(
                "INSERT INTO vote (songID, place, voter) VALUES (?, ?, ?)", [item.songID, row.place, row.element])
        }
    }

    private static func write(
        _ changes: PlacedList<String>.Changes, to table: String, _ column: String, _ db: Database
    ) throws {
        for row in changes.removed { try db.run("DELETE FROM \(table) WHERE place = ?", [row.place]) }
        for row in changes.inserted {
            try db.run("INSERT INTO \(table) (place, \(column)) VALUES (?, ?)", [row.place, row.element])
        }
    }
}
