// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
import MeshProtocol
import NodeCore

/// The invitations of a host. They are few and change rarely, so a write replaces all.
enum InvitationTable {
    static func read(_ db: Database) throws -> [GivenInvitation] {
        try Row.fetchAll(db, sql: "SELECT name, secret, until, isOnce FROM invitation ORDER BY place").map { row in
            GivenInvitation(
                name: Array(try row.value(0, as: Data.self)), secret: Array(try row.value(1, as: Data.self)),
                until: try row.value(2), isOnce: try row.value(3))
        }
    }

    static func write(_ invitations: [GivenInvitation], _ db: Database) throws {
        try db.run("DELETE FROM invitation", [])
        for given in invitations {
            try db.run(
                "INSERT INTO invitation (name, secret, until, isOnce) VALUES (?, ?, ?, ?)",
                [Data(given.name), Data(given.secret), given.until, given.isOnce])
        }
    }
}

/// For each PIN of a guest, how often hosts could check guesses of it. A write replaces all rows.
enum UnansweredTable {
    static func read(_ db: Database) throws -> [UnansweredProof] {
        try Row.fetchAll(db, sql: "SELECT secret, count FROM unansweredProof ORDER BY place").map { row in
            UnansweredProof(secret: Array(try row.value(0, as: Data.self)), count: try row.value(1))
        }
    }

    static func write(_ proofs: [UnansweredProof], _ db: Database) throws {
        try db.run("DELETE FROM unansweredProof", [])
        for proof in proofs {
            try db.run(
                "INSERT INTO unansweredProof (secret, count) VALUES (?, ?)", [Data(proof.secret), proof.count])
        }
    }
}

/// Bans that outlive the session. A write replaces all rows.
enum BanTable {
    static func read(_ db: Database) throws -> [BanRecord] {
        try Row.fetchAll(db, sql: "SELECT peer, name, until FROM ban ORDER BY place").map { row in
            BanRecord(peer: Peer(id: try row.value(0), name: try row.value(1)), until: try row.optional(2))
        }
    }

    static func write(_ bans: [BanRecord], _ db: Database) throws {
        try db.run("DELETE FROM ban", [])
        for ban in bans {
            try db.run("INSERT INTO ban (peer, name, until) VALUES (?, ?, ?)", [ban.peer.id, ban.peer.name, ban.until])
        }
    }
}

/// Peers by key and name, in an order. A write replaces all rows.
enum PeerList: String {
    /// The co-hosts of a host.
    case drivers = "driver"
    /// The co-hosts that have joined with a browser.
    case browserDrivers = "browserDriver"
    /// The hosts that a guest has joined.
    case knownHosts = "knownHost"

    func read(_ db: Database) throws -> [Peer] {
        try Row.fetchAll(db, sql: "SELECT peer, name FROM \(rawValue) ORDER BY place").map { row in
            Peer(id: try row.value(0), name: try row.value(1))
        }
    }

    func write(_ peers: [Peer], _ db: Database) throws {
        try db.run("DELETE FROM \(rawValue)", [])
        for peer in peers { try db.run("INSERT INTO \(rawValue) (peer, name) VALUES (?, ?)", [peer.id, peer.name]) }
    }
}
