// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The index's tables and the migrations of older versions.
enum IndexSchema {
    static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: songs") { db in
            try db.execute(sql: songs)
            try db.execute(sql: words)
        }
        migrator.registerMigration("2: the words themselves, and what is newest") { db in
            try db.execute(sql: vocabulary)
        }
        migrator.registerMigration("3: words of every script and spelling") { db in
            try db.execute(sql: texts)
            let rows = try Row.fetchCursor(db, sql: "SELECT number, title, artist, album FROM song")
            while let row = try rows.next() {
                try SongWords(title: row[1], artist: row[2], album: row[3]).write(row[0], db)
            }
        }
        migrator.registerMigration("4: albums, artists, and which songs are there") { db in
            try db.execute(sql: albums)
            try arrange(db)
            // Read each file again: the index has neither discs, tracks nor the albums' artists.
            try db.execute(sql: "UPDATE song SET bytes = -1 WHERE path IS NOT NULL")
        }
        migrator.registerMigration("5: loudness, and what the player says of files") { db in
            try db.execute(sql: loudness)
            // Missing songs have no words, so that a search does not have to check for them.
            try db.execute(
                sql: "DELETE FROM songText WHERE number IN (SELECT number FROM song WHERE gone > 0 OR isMusic = 0)")
            // Read each file again: the index has neither all artists nor ReplayGain tags.
            try db.execute(sql: "UPDATE song SET bytes = -1 WHERE path IS NOT NULL")
        }
        return migrator
    }()

    /// `isDoubtful` means that the length in the tags may be wrong. The gains and their peaks come from the tags.
    /// `measured` is 0 before the player has played the file to its end, 1 after that, and 2 if it failed. With 1,
    /// `loudness` and `peak` are known.
    private static let loudness = """
        ALTER TABLE song ADD COLUMN isDoubtful INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE song ADD COLUMN trackGain REAL;
        ALTER TABLE song ADD COLUMN trackPeak REAL;
        ALTER TABLE song ADD COLUMN albumGain REAL;
        ALTER TABLE song ADD COLUMN albumPeak REAL;
        ALTER TABLE song ADD COLUMN measured INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE song ADD COLUMN loudness REAL;
        ALTER TABLE song ADD COLUMN peak REAL;
        """

    /// Arranges the songs of an older index, which lacks some of the tags.
    private static func arrange(_ db: Database) throws {
        var arrangement = Arrangement(db)
        let rows = try Row.fetchCursor(db, sql: "SELECT number, artist, album, path FROM song")
        let update = try db.cachedStatement(
            sql: "UPDATE song SET albumKey = ?, folder = ?, place = ? WHERE number = ?")
        while let row = try rows.next() {
            let number: Int64 = row[0]
            try SongArtist.write([row[1]], of: number, isNew: true, db)
            let place = AlbumPlace(path: row[3] ?? "", disc: 0, track: 0)
            try update.execute(arguments: [Letters.caseless(row[2]), place.folder, place.key, number])
            try arrangement.note(number)
        }
        _ = try arrangement.write()
    }

    /// `disc` and `track` come from the tags. `albumKey` is the album's name (`Letters.caseless`), `folder` and `place`
    /// come from `AlbumPlace`, and `albumID` and `sortKey` are derived from them (`AlbumOrder`). `songArtist` contains
    /// each artist of a song. A search counts its matches in `songThere`, without reading their rows.
    private static let albums = """
        ALTER TABLE song ADD COLUMN disc INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE song ADD COLUMN track INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE song ADD COLUMN albumArtist TEXT NOT NULL DEFAULT '';
        ALTER TABLE song ADD COLUMN albumKey TEXT NOT NULL DEFAULT '';
        ALTER TABLE song ADD COLUMN folder TEXT NOT NULL DEFAULT '';
        ALTER TABLE song ADD COLUMN place TEXT NOT NULL DEFAULT '';
        ALTER TABLE song ADD COLUMN albumID TEXT NOT NULL DEFAULT '';
        CREATE INDEX songThere ON song (number) WHERE gone = 0 AND isMusic = 1;
        CREATE INDEX songByAlbum ON song (albumKey, folder) WHERE gone = 0 AND isMusic = 1;
        CREATE TABLE songArtist (
            song INTEGER NOT NULL,
            position INTEGER NOT NULL,
            name TEXT NOT NULL,
            key TEXT NOT NULL,
            sort TEXT NOT NULL,
            PRIMARY KEY (song, position)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX songArtistByKey ON songArtist (key);
        CREATE TRIGGER artistsForgotten AFTER DELETE ON song BEGIN
            DELETE FROM songArtist WHERE song = old.number;
        END;
        """

    /// Every known file. `path` is relative to the folder. `gone` is 0 while the file is there; each removal gives it
    /// the next higher number. `isMusic` is 0 for a file that could not be read as music, so that it is not read again.
    /// `inode` is the 64-bit pattern of the number. A song of a list has no file.
    private static let songs = """
        CREATE TABLE song (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            path TEXT,
            bytes INTEGER NOT NULL,
            modifiedNanoseconds INTEGER NOT NULL,
            inode INTEGER NOT NULL,
            content TEXT NOT NULL,
            gone INTEGER NOT NULL DEFAULT 0,
            isMusic INTEGER NOT NULL CHECK (isMusic IN (0, 1)),
            title TEXT NOT NULL,
            artist TEXT NOT NULL,
            album TEXT NOT NULL,
            milliseconds INTEGER NOT NULL,
            hasCover INTEGER NOT NULL CHECK (hasCover IN (0, 1)),
            isNamedByFile INTEGER NOT NULL CHECK (isNamedByFile IN (0, 1)),
            artURL TEXT,
            sortKey TEXT NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX songByPath ON song (path) WHERE gone = 0;
        CREATE INDEX songByContent ON song (content) WHERE gone > 0;
        CREATE INDEX songInOrder ON song (sortKey, number) WHERE gone = 0 AND isMusic = 1;
        CREATE TABLE folder (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            path TEXT NOT NULL,
            device INTEGER NOT NULL,
            inode INTEGER NOT NULL
        ) STRICT;
        """

    /// All words of songs, for suggestions when a search matches none of them.
    private static let vocabulary = """
        CREATE VIRTUAL TABLE songVocabulary USING fts5vocab ('songWords', 'row');
        CREATE INDEX songByTime ON song (modifiedNanoseconds, number) WHERE gone = 0 AND isMusic = 1;
        """

    /// The words of each song, as `SongWords` makes them, separated by spaces. SQLite's tokenizer splits at spaces
    /// only. `letters` has the words without spaces, for a search inside them. Prefixes of up to three letters are
    /// indexed. The lists of longer prefixes are short.
    private static let texts = """
        DROP TABLE songVocabulary;
        DROP TRIGGER songInserted;
        DROP TRIGGER songDeleted;
        DROP TRIGGER songRenamed;
        DROP TABLE songWords;
        CREATE TABLE songText (
            number INTEGER PRIMARY KEY,
            title TEXT NOT NULL,
            artist TEXT NOT NULL,
            album TEXT NOT NULL,
            letters TEXT NOT NULL
        ) STRICT;
        CREATE VIRTUAL TABLE songWords USING fts5 (
            title, artist, album, content = 'songText', content_rowid = 'number',
            tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'", prefix = '1 2 3'
        );
        CREATE VIRTUAL TABLE songVocabulary USING fts5vocab ('songWords', 'row');
        CREATE TRIGGER songTextInserted AFTER INSERT ON songText BEGIN
            INSERT INTO songWords (rowid, title, artist, album)
            VALUES (new.number, new.title, new.artist, new.album);
        END;
        CREATE TRIGGER songTextDeleted AFTER DELETE ON songText BEGIN
            INSERT INTO songWords (songWords, rowid, title, artist, album)
            VALUES ('delete', old.number, old.title, old.artist, old.album);
        END;
        CREATE TRIGGER songTextChanged AFTER UPDATE ON songText BEGIN
            INSERT INTO songWords (songWords, rowid, title, artist, album)
            VALUES ('delete', old.number, old.title, old.artist, old.album);
            INSERT INTO songWords (rowid, title, artist, album)
            VALUES (new.number, new.title, new.artist, new.album);
        END;
        CREATE TRIGGER songForgotten AFTER DELETE ON song BEGIN
            DELETE FROM songText WHERE number = old.number;
        END;
        """

    /// The words of each song, split by SQLite's tokenizer. Prefixes of up to three letters are indexed. The lists of
    /// longer prefixes are short.
    private static let words = """
        CREATE VIRTUAL TABLE songWords USING fts5 (
            title, artist, album, content = 'song', content_rowid = 'number',
            tokenize = "unicode61 remove_diacritics 2", prefix = '1 2 3'
        );
        CREATE TRIGGER songInserted AFTER INSERT ON song BEGIN
            INSERT INTO songWords (rowid, title, artist, album)
            VALUES (new.number, new.title, new.artist, new.album);
        END;
        CREATE TRIGGER songDeleted AFTER DELETE ON song BEGIN
            INSERT INTO songWords (songWords, rowid, title, artist, album)
            VALUES ('delete', old.number, old.title, old.artist, old.album);
        END;
        CREATE TRIGGER songRenamed AFTER UPDATE OF title, artist, album ON song BEGIN
            INSERT INTO songWords (songWords, rowid, title, artist, album)
            VALUES ('delete', old.number, old.title, old.artist, old.album);
            INSERT INTO songWords (rowid, title, artist, album)
            VALUES (new.number, new.title, new.artist, new.album);
        END;
        """
}
