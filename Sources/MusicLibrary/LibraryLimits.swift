// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// Every limit of the music library, each with its reason. Tests reduce them.
struct LibraryLimits: Sendable {
    // MARK: A file

    /// The largest file that is read, in bytes: the size limit of WAV files.
    var fileBytes: Int64 = 4 << 30
    /// Bytes of a file that are read for its tags: a FLAC file with a booklet of scanned pages. They may be in memory
    /// for a short time. It also bounds the search in a file of garbage.
    var tagBytes: UInt64 = 32 << 20
    /// Maximum number of small reads for a file's tags. Real files need some hundreds. In a malicious MP4 file each
    /// read may be a level of nesting, which takes room on the stack.
    var smallReads: UInt32 = 8_192
    /// Bytes of a tag's text that are read, before it is cut to the length that guests receive.
    var tagTextBytes: UInt32 = 1_024
    /// The longest album name, in bytes: the same as a title. Album names are searched, but not sent.
    var albumBytes = DJLimits.songTextBytes
    /// Maximum number of artists of a song. A longer list is the cast of a choir.
    var songArtists = 16
    /// The largest cover, in bytes: the same as from the web (`ArtworkLimits.pictureBytes`). It is in memory while it
    /// is sent.
    var coverBytes: UInt32 = 4 << 20
    /// Bytes of each block that the id hashes, at the start, the middle and the end: two songs of the same size differ
    /// in at least one block, and a slow stick reads them quickly.
    var idBlockBytes = 16 << 10

    // MARK: The program that reads tags

    /// Memory for a file's tags, in bytes: a multiple of the bytes that are read.
    var readerBytes: UInt = 256 << 20
    /// The longest answer, in bytes: a cover, or texts of tags.
    var answerBytes = 5 << 20
    /// Requests that are sent before the first answer, so that the program never waits for the next one.
    var requestsAhead = 32
    /// The time for an answer: a slow stick reads a large file's tags within it. After that the file counts as
    /// unreadable.
    var readTime: Duration = .seconds(20)
    /// How long a wait for an answer lasts before it checks whether the library has ended, in milliseconds.
    var stopCheck: Int32 = 100
    /// How often a file may crash the program before it counts as unreadable: the first crash may be a coincidence.
    var deathsOfFile = 2
    /// How often in a row the program may end before its first message. After that the system is assumed to be unable
    /// to start it.
    var readerStarts = 3
    /// How long the idle program stays alive: covers are requested one after the other.
    var readerRest: Duration = .seconds(60)

    // MARK: Files that the player plays without sound

    /// The time to play a file to its end. Even an audio book of some hours takes less, because mpv plays it a hundred
    /// times as fast.
    var playTime: Duration = .seconds(120)
    /// The longest line of the player, in bytes: a file's tags with the lyrics of all songs of an album.
    var playerLineBytes = 1 << 20
    /// Tags of a file that are examined: some dozens are known.
    var playerTags = 100
    /// A length that the player finds to be off by this much is corrected. A smaller error does not matter.
    var wrongLength: Duration = .seconds(1)
    /// The pause between two song lists with corrected lengths: each list is sent to all guests.
    var toldLengths: Duration = .seconds(30)
    /// The pause between two measured songs: music and guests need the processor.
    var measurePause: Duration = .milliseconds(100)

    // MARK: The folder

    /// Songs of a library: the capacity of a 256 GB stick.
    var songs = 50_000
    /// Folders of a library: more than one per album. Each watched folder costs the kernel about a kilobyte.
    var folders = 20_000
    /// The depth of nested folders: deeper ones are backups of backups.
    var depth = 24
    /// Entries of one folder that are read: all songs in one folder, with a picture for each.
    var entries = 150_000
    /// Missing songs that are remembered so that they keep their ids when they return: the songs of another stick.
    var goneSongs = 50_000

    // MARK: Playlists

    /// The largest playlist that is read, in bytes: each of its entries with a long path and title.
    var playlistBytes = 4 << 20
    /// Entries of a playlist: weeks of music.
    var playlistEntries = 10_000
    /// Playlists that the driver can choose from: a person does not read a longer menu.
    var playlists = 50
    /// Entries of a folder that are searched for playlists. A folder with more entries contains songs.
    var playlistFolderEntries = 5_000
    /// The longest path in a playlist, in bytes: the system's limit (`PATH_MAX`).
    var playlistPathBytes = 4_096

    // MARK: Reading

    /// Files that are read between two transactions. A batch takes a tenth of a second, a power cut loses no more than
    /// that, and the progress moves. With 64 a scan took a tenth longer.
    var batch = 256
    /// The page cache of each connection to the index, in KiB. It allows searches of 10,000 songs within 20 ms.
    var pageCacheKiB = 512
    /// Connections that read: one returns the full list while another one searches.
    var readers = 2
    /// The largest write-ahead log that stays on disk after a checkpoint, in bytes: the size at which SQLite starts
    /// one.
    var journalBytes = 4 << 20
    /// Matches of a search that are ranked: ranking more takes longer than a person's next key press.
    var rankedMatches = 300
    /// Matching artists and albums that are ranked: a multiple of what is listed.
    var rankedGroups = 40
    /// Words of a search that count: more than people type of a title.
    var searchWords = 12

    // MARK: Watching

    /// How long the folder must be quiet before a scan: a program that saves tags writes several files.
    var settle: Duration = .milliseconds(500)
    /// The longest wait for quiet: while an album is being copied, its first songs appear already.
    var longestSettle: Duration = .seconds(5)
    /// The pause after a scan, as a multiple of its duration: copying ten thousand songs must not keep a small
    /// processor busy with scans.
    var restFactor = 10
    /// The longest pause after a scan.
    var longestRest: Duration = .seconds(60)
    /// How long a file may be in the process of being written before it is read in its present state: a large file over
    /// a slow network takes this long.
    var longestCopy: Duration = .seconds(10 * 60)
    /// Files that are remembered as being written, or as written since the last scan: as many as a large copy has. For
    /// further files, changes are recognised by size and time.
    var notedFiles = 10_000
    /// The pause between scans of a folder that cannot be watched: new songs appear within a rest stop.
    var unwatchedPause: Duration = .seconds(5 * 60)
    /// The pause between looks for a folder that is away or empty: a stick that is plugged in is found at once.
    var awayPause: Duration = .seconds(2)
    /// Unplayable files that a notice names: one line has no room for more.
    var namedFiles = 3
    /// Unplayable files that the log names: a folder of another kind of files would fill the log.
    var loggedFiles = 100
    /// Files that the player has tried between two transactions: a file takes up to a second.
    var playedBatch = 8
    /// Files that are read to decide whether the folder or one song is at fault: a few of them may be broken.
    var checkedFiles = 8
    /// Bytes that are read from a checked file, at each of three places: a block of a disk.
    var checkedBytes = 4_096
    /// The time for the check of these files. A sleeping disk spins up within it. A disk that does not answer counts as
    /// away.
    var checkTime: Duration = .seconds(8)
    /// The pause before a failed write to the index is tried again.
    var retryPause: Duration = .seconds(60)
    /// Changes in the folder that are queued: they come in bursts. If there are more, the folder is scanned.
    var waitingChanges = 1_024

    /// The limits of a running head unit.
    static let standard = LibraryLimits()
}
