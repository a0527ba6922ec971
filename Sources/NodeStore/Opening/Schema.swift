// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The tables and their migrations. A released migration is never changed; a new one follows it.
///
/// Every table is STRICT, so that SQLite's own check detects values of a wrong type.
enum Schema {
    static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: peers, host and guest") { db in
            try db.execute(sql: peers)
            try db.execute(sql: host)
            try db.execute(sql: guest)
        }
        migrator.registerMigration("2: who has dialled whom") { db in try db.execute(sql: roles) }
        migrator.registerMigration("3: a conversation for each role and service") { db in
            try db.execute(sql: conversations)
        }
        migrator.registerMigration("4: who has proved to know the PIN") { db in try db.execute(sql: proofs) }
        migrator.registerMigration("5: places that the driver gives, and the volume") { db in
            try db.execute(sql: steering)
        }
        migrator.registerMigration("6: invitations") { db in try db.execute(sql: invitations) }
        migrator.registerMigration("7: bans beyond a session") { db in try db.execute(sql: bans) }
        migrator.registerMigration("8: hosts by name, and whom a wish is meant for") { db in
            try db.execute(sql: knownHosts)
        }
        migrator.registerMigration("9: whose devices steer") { db in try db.execute(sql: drivers) }
        migrator.registerMigration("10: tags without an answer") { db in try db.execute(sql: unansweredProofs) }
        migrator.registerMigration("11: drivers with a browser") { db in try db.execute(sql: browserDrivers) }
        return migrator
    }()

    /// `epoch` and `lastNumber` belong to sent messages, `theirEpoch` and `accepted` to received ones.
    private static let peers = """
        CREATE TABLE peer (
            id TEXT NOT NULL PRIMARY KEY,
            publicKey BLOB NOT NULL,
            epoch INTEGER NOT NULL,
            lastNumber INTEGER NOT NULL,
            theirEpoch INTEGER NOT NULL,
            accepted INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE outbox (
            peer TEXT NOT NULL REFERENCES peer (id) ON DELETE CASCADE,
            number INTEGER NOT NULL,
            body BLOB NOT NULL,
            PRIMARY KEY (peer, number)
        ) STRICT;
        """

    /// The `LinkRole` of this node. Rows of an earlier version lack it. A node that was only a host has never dialled.
    private static let roles = """
        ALTER TABLE peer ADD COLUMN role INTEGER NOT NULL DEFAULT 0 CHECK (role IN (0, 1));
        UPDATE peer SET role = 1
            WHERE EXISTS (SELECT 1 FROM hostState) AND NOT EXISTS (SELECT 1 FROM guestState);
        """

    /// Each row has the service of its `ConversationKey`. Rows of an earlier version get the service `democracy-dj`.
    private static let conversations = """
        CREATE TABLE conversation (
            id INTEGER PRIMARY KEY,
            peer TEXT NOT NULL,
            role INTEGER NOT NULL CHECK (role IN (0, 1)),
            service TEXT NOT NULL,
            publicKey BLOB NOT NULL,
            epoch INTEGER NOT NULL,
            lastNumber INTEGER NOT NULL,
            theirEpoch INTEGER NOT NULL,
            accepted INTEGER NOT NULL,
            UNIQUE (peer, role, service)
        ) STRICT;
        INSERT INTO conversation (peer, role, service, publicKey, epoch, lastNumber, theirEpoch, accepted)
            SELECT id, role, 'democracy-dj', publicKey, epoch, lastNumber, theirEpoch, accepted FROM peer;
        ALTER TABLE outbox RENAME TO oldOutbox;
        CREATE TABLE outbox (
            conversation INTEGER NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
            number INTEGER NOT NULL,
            body BLOB NOT NULL,
            PRIMARY KEY (conversation, number)
        ) STRICT;
        INSERT INTO outbox (conversation, number, body)
            SELECT conversation.id, number, body FROM oldOutbox JOIN conversation USING (peer);
        DROP TABLE oldOutbox;
        DROP TABLE peer;
        """

    /// `MeshCore.Remembered.isProved`.
    private static let proofs = """
        ALTER TABLE conversation ADD COLUMN isProved INTEGER NOT NULL DEFAULT 0 CHECK (isProved IN (0, 1));
        """

    /// `QueuedRecord.isHeld`, and `HostRecord.volume`.
    private static let steering = """
        ALTER TABLE queuedSong ADD COLUMN isHeld INTEGER NOT NULL DEFAULT 0 CHECK (isHeld IN (0, 1));
        ALTER TABLE hostState ADD COLUMN volume INTEGER NOT NULL DEFAULT 100;
        """

    /// `GivenInvitation`, the oldest first.
    private static let invitations = """
        CREATE TABLE invitation (
            place INTEGER PRIMARY KEY,
            name BLOB NOT NULL UNIQUE,
            secret BLOB NOT NULL,
            until INTEGER NOT NULL,
            isOnce INTEGER NOT NULL CHECK (isOnce IN (0, 1))
        ) STRICT;
        """

    /// `BanRecord`, the oldest first.
    private static let bans = """
        CREATE TABLE ban (place INTEGER PRIMARY KEY, peer TEXT NOT NULL UNIQUE, name TEXT NOT NULL, until INTEGER) STRICT;
        """

    /// The co-hosts, the oldest first.
    private static let drivers = """
        CREATE TABLE driver (place INTEGER PRIMARY KEY, peer TEXT NOT NULL UNIQUE, name TEXT NOT NULL) STRICT;
        """

    /// The co-hosts that have joined with a browser.
    private static let browserDrivers = """
        CREATE TABLE browserDriver (place INTEGER PRIMARY KEY, peer TEXT NOT NULL UNIQUE, name TEXT NOT NULL) STRICT;
        """

    /// The hosts that a guest has joined, the most recent last. Wishes that an earlier version has stored belong to the
    /// host that was joined last.
    private static let knownHosts = """
        CREATE TABLE knownHost (place INTEGER PRIMARY KEY, peer TEXT NOT NULL UNIQUE, name TEXT NOT NULL) STRICT;
        ALTER TABLE wish ADD COLUMN meantFor TEXT;
        UPDATE wish SET meantFor = (SELECT host FROM guestState);
        """

    /// The rows of `UnansweredProof`. The secret that was used last is the last row.
    private static let unansweredProofs = """
        CREATE TABLE unansweredProof (
            place INTEGER PRIMARY KEY, secret BLOB NOT NULL UNIQUE, count INTEGER NOT NULL
        ) STRICT;
        """

    private static let host = """
        CREATE TABLE hostState (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            epoch INTEGER NOT NULL,
            nowPlaying TEXT,
            isPlaying INTEGER NOT NULL CHECK (isPlaying IN (0, 1)),
            elapsedMilliseconds INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE queuedSong (
            songID TEXT NOT NULL PRIMARY KEY,
            addedBy TEXT NOT NULL,
            added INTEGER NOT NULL,
            place INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE vote (
            songID TEXT NOT NULL REFERENCES queuedSong (songID) ON DELETE CASCADE,
            place INTEGER NOT NULL,
            voter TEXT NOT NULL,
            PRIMARY KEY (songID, place)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE played (place INTEGER PRIMARY KEY, songID TEXT NOT NULL) STRICT;
        CREATE TABLE asker (place INTEGER PRIMARY KEY, peer TEXT NOT NULL) STRICT;
        CREATE TABLE banned (place INTEGER PRIMARY KEY, peer TEXT NOT NULL) STRICT;
        """

    private static let guest = """
        CREATE TABLE guestState (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            host TEXT,
            hostEpoch INTEGER,
            snapshot BLOB
        ) STRICT;
        CREATE TABLE wish (
            place INTEGER PRIMARY KEY,
            songID TEXT NOT NULL,
            kind TEXT NOT NULL,
            handedTo TEXT
        ) STRICT;
        """
}
