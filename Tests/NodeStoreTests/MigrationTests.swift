// SPDX-License-Identifier: Apache-2.0

import GRDB
import MeshProtocol
import Testing

@testable import NodeCore
@testable import NodeStore

extension StoreTests {
    @Suite("A database of an earlier version")
    struct MigrationTests {
        @Test("a database of the first version opens with all its content, and can be written")
        func first() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let database = try DatabaseQueue(path: shelf.path)
            try await database.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA journal_mode = WAL")
                try db.execute(sql: Self.firstVersion)
            }
            try database.close()
            let opened = try shelf.opened()
            #expect(opened.setAside == nil)
            #expect(try opened.store.contents() == Self.expected)
            var host = try #require(Self.expected.host)
            host.queue[1].voters = ["ana"]
            host.queue.swapAt(0, 1)
            try await opened.store.write(.with { $0.host = host })
            #expect(try opened.store.contents().host == host)
            opened.store.close()
        }

        @Test("conversations with guests that the second version has written still belong to their host")
        func second() async throws {
            let shelf = try Shelf()
            defer { shelf.clear() }
            let database = try DatabaseQueue(path: shelf.path)
            try await database.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA journal_mode = WAL")
                try db.execute(sql: Self.firstVersion + Self.secondVersion + "UPDATE peer SET role = 1;")
            }
            try database.close()
            let store = try shelf.open()
            let ana = ConversationKey(Sample.peer(1).id, as: .responder, .democracyDJ)
            #expect(try store.contents().remembered == [ana: try #require(Self.expected.remembered[Sample.key(1)])])
            // The conversation continues.
            try await store.write(.with { $0.acknowledged = [.init(conversation: ana, upTo: 3)] })
            #expect(try store.contents().remembered[ana]?.conversation.outbox == [[3]])
            store.close()
        }

        /// The second version's changes to the first one.
        private static let secondVersion = """

            INSERT INTO grdb_migrations VALUES('2: who has dialled whom');
            ALTER TABLE peer ADD COLUMN role INTEGER NOT NULL DEFAULT 0 CHECK (role IN (0, 1));
            """

        /// The written content.
        private static let expected = StoredNode(
            remembered: [
                Sample.key(1): MeshCore.Remembered(
                    publicKey: Sample.peer(1).key,
                    conversation: Conversation.Durable(
                        epoch: 5, lastNumber: 4, outbox: [[1, 2], [3]], theirEpoch: 9, accepted: 7))
            ],
            host: HostRecord(
                epoch: 3, nowPlaying: "s1", isPlaying: true, elapsedMilliseconds: 61_000,
                queue: [
                    QueuedRecord(songID: "s2", addedBy: "ben", added: 2, voters: ["ben", "ana"]),
                    QueuedRecord(songID: "s3", addedBy: "car", added: 1),
                ],
                played: ["s2", "s1", "s2"], lastAskers: ["ana"], banned: ["eve"]),
            guest: GuestRecord(
                host: "car", hostEpoch: 11,
                wishes: [
                    WishRecord(songID: "s9", kind: "vote", handedTo: "car", meantFor: "car"),
                    WishRecord(songID: "s8", kind: "suggestSong", meantFor: "car"),
                ],
                snapshot: [8, 15]))

        /// The output of `sqlite3 roadmesh.sqlite .dump`. It stays unchanged when the tables change.
        private static let firstVersion = """
            CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
            INSERT INTO grdb_migrations VALUES('1: peers, host and guest');
            CREATE TABLE peer (
                id TEXT NOT NULL PRIMARY KEY,
                publicKey BLOB NOT NULL,
                epoch INTEGER NOT NULL,
                lastNumber INTEGER NOT NULL,
                theirEpoch INTEGER NOT NULL,
                accepted INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            INSERT INTO peer VALUES(
                '66bc167f5e2d7a745a10edf1235fb84c',
                X'0701070707070707070707070707070707070707070707070707070707070707',5,4,9,7);
            CREATE TABLE outbox (
                peer TEXT NOT NULL REFERENCES peer (id) ON DELETE CASCADE,
                number INTEGER NOT NULL,
                body BLOB NOT NULL,
                PRIMARY KEY (peer, number)
            ) STRICT;
            INSERT INTO outbox VALUES('66bc167f5e2d7a745a10edf1235fb84c',3,X'0102');
            INSERT INTO outbox VALUES('66bc167f5e2d7a745a10edf1235fb84c',4,X'03');
            CREATE TABLE hostState (
                id INTEGER PRIMARY KEY CHECK (id = 1),
                epoch INTEGER NOT NULL,
                nowPlaying TEXT,
                isPlaying INTEGER NOT NULL CHECK (isPlaying IN (0, 1)),
                elapsedMilliseconds INTEGER NOT NULL
            ) STRICT;
            INSERT INTO hostState VALUES(1,3,'s1',1,61000);
            CREATE TABLE queuedSong (
                songID TEXT NOT NULL PRIMARY KEY,
                addedBy TEXT NOT NULL,
                added INTEGER NOT NULL,
                place INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            INSERT INTO queuedSong VALUES('s2','ben',2,0);
            INSERT INTO queuedSong VALUES('s3','car',1,4294967296);
            CREATE TABLE vote (
                songID TEXT NOT NULL REFERENCES queuedSong (songID) ON DELETE CASCADE,
                place INTEGER NOT NULL,
                voter TEXT NOT NULL,
                PRIMARY KEY (songID, place)
            ) STRICT, WITHOUT ROWID;
            INSERT INTO vote VALUES('s2',0,'ben');
            INSERT INTO vote VALUES('s2',4294967296,'ana');
            CREATE TABLE played (place INTEGER PRIMARY KEY, songID TEXT NOT NULL) STRICT;
            INSERT INTO played VALUES(0,'s2');
            INSERT INTO played VALUES(4294967296,'s1');
            INSERT INTO played VALUES(8589934592,'s2');
            CREATE TABLE asker (place INTEGER PRIMARY KEY, peer TEXT NOT NULL) STRICT;
            INSERT INTO asker VALUES(0,'ana');
            CREATE TABLE banned (place INTEGER PRIMARY KEY, peer TEXT NOT NULL) STRICT;
            INSERT INTO banned VALUES(0,'eve');
            CREATE TABLE guestState (
                id INTEGER PRIMARY KEY CHECK (id = 1),
                host TEXT,
                hostEpoch INTEGER,
                snapshot BLOB
            ) STRICT;
            INSERT INTO guestState VALUES(1,'car',11,X'080f');
            CREATE TABLE wish (
                place INTEGER PRIMARY KEY,
                songID TEXT NOT NULL,
                kind TEXT NOT NULL,
                handedTo TEXT
            ) STRICT;
            INSERT INTO wish VALUES(0,'s9','vote','car');
            INSERT INTO wish VALUES(4294967296,'s8','suggestSong',NULL);
            """
    }
}
