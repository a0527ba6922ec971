// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// Every limit of the music library in one place, each with its reason. Tests make them smaller.
struct LibraryLimits: Sendable {
    // MARK: A file

    /// Largest file that is read, in bytes: the limit of a WAV file.
    var fileBytes: Int64 = 4 << 30
    /// Bytes of a file that are read for its tags: a FLAC file with a booklet of scanned pages. They may be in memory
    /// briefly, and the search in a file of rubbish ends there.
    var tagBytes: UInt64 = 32 << 20
    /// Reads of a few bytes for a file's tags: real ones take some hundreds. In a malicious MP4 file each may be a
    /// level of nesting, which takes room on the stack.
    var smallReads: UInt32 = 8_192
    /// Bytes of a tag's text that are read, before it is cut to what guests receive.
    var tagTextBytes: UInt32 = 1_024
    /// Longest album, in bytes: as a title. It is searched, and not told.
    var albumBytes = DJLimits.songTextBytes
    /// Artists of a song: more are a choir.
    var songArtists = 16
    /// Largest cover, in bytes: as one from the web (`ArtworkLimits.pictureBytes`). It is in memory while it is sent.
    var coverBytes: UInt32 = 4 << 20
    /// Blocks of a file that make its id, at its head, its middle and its end, in bytes: two songs of one size differ in
    /// at least one, and a slow stick gives them quickly.
    var idBlockBytes = 16 << 10

    // MARK: The program that reads tags

    /// Memory that a file's tags may take, in bytes: some times as much as is read of it.
    var readerBytes: UInt = 256 << 20
    /// Longest answer, in bytes: a cover, or texts of tags.
    var answerBytes = 5 << 20
    /// Files that are asked for before the answer for the first: the program never waits for the next.
    var requestsAhead = 32
    /// Time for an answer: a slow stick reads a large file's tags in it. After it the file cannot be read.
    var readTime: Duration = .seconds(20)
    /// How often a file may end the program before it cannot be read: the first time may be chance.
    var deathsOfFile = 2
    /// How often in a row the program may end before its first word: the system does not start it.
    var readerStarts = 3
    /// How long the program waits for the next file: covers are asked for one after the other.
    var readerRest: Duration = .seconds(60)

    // MARK: Files that the player plays without sound

    /// Time for playing a file to its end: an audio book of some hours is played a hundred times as fast.
    var playTime: Duration = .seconds(120)
    /// Longest line of the player, in bytes: a file's tags with the texts of all songs of an album.
    var playerLineBytes = 1 << 20
    /// Tags of a file that are looked at: some dozens are known.
    var playerTags = 100
    /// A length of a file that the player finds to be this much wrong is corrected: fewer changes are of no use to anybody.
    var wrongLength: Duration = .seconds(1)
    /// Pause between two lists of songs with corrected lengths: each is sent to all guests.
    var toldLengths: Duration = .seconds(30)
    /// Pause between two songs that are measured: the processor is for the music and its guests.
    var measurePause: Duration = .milliseconds(100)

    // MARK: The folder

    /// Songs of a library: a stick of 256 GB has room for no more.
    var songs = 50_000
    /// Folders in a library: more than one for each album. Each that is watched costs the kernel about a kilobyte.
    var folders = 20_000
    /// How deep folders nest: deeper ones are backups of backups.
    var depth = 24
    /// Entries of one folder that are read: a folder of all songs, with a picture for each.
    var entries = 150_000
    /// Songs that are remembered after they are gone, so that they come back as who they were: another stick's worth.
    var goneSongs = 50_000

    // MARK: Playlists

    /// Largest playlist that is read, in bytes: each of its entries with a long path and title.
    var playlistBytes = 4 << 20
    /// Entries of a playlist: weeks of music.
    var playlistEntries = 10_000
    /// Playlists that the driver can choose from: more than a menu is read for.
    var playlists = 50
    /// Entries of a folder that are looked at for playlists: a folder of more is one of songs.
    var playlistFolderEntries = 5_000
    /// Longest path in a playlist, in bytes: what the system takes (`PATH_MAX`).
    var playlistPathBytes = 4_096

    // MARK: Reading

    /// Files that are read between two transactions: a batch takes a tenth of a second, a power cut takes back no more, and
    /// progress moves. With 64 a scan took a tenth longer.
    var batch = 256
    /// Page cache of each of the index's connections, in KiB. Ten thousand songs are searched in less than 20 ms with it.
    var pageCacheKiB = 512
    /// Connections that read: one gives the full list while another searches.
    var readers = 2
    /// Largest log that stays on disk after what is in it went to the index, in bytes: as SQLite lets it grow before.
    var journalBytes = 4 << 20
    /// Matches of a search that are ranked: more take longer than a person's next letter.
    var rankedMatches = 300
    /// Artists among the matches of a search that are ranked, and albums: some times as many as are listed.
    var rankedGroups = 40
    /// Words of a search that count: more than a title has that people type.
    var searchWords = 12

    // MARK: Watching

    /// How long it is quiet in the folder before it is looked through: a program that saves tags writes several files.
    var settle: Duration = .milliseconds(500)
    /// How long it is waited for quiet at most: while an album is copied, its first songs are there already.
    var longestSettle: Duration = .seconds(5)
    /// Pause after a look through the folder, as a multiple of the time that it took: a copy of ten thousand songs does
    /// not keep a small processor busy with looking.
    var restFactor = 10
    /// The longest such pause.
    var longestRest: Duration = .seconds(60)
    /// How long a file may be written before it is read as it is: a large file over a slow network.
    var longestCopy: Duration = .seconds(10 * 60)
    /// Files that are being written, or were written since the last scan: as many as a large copy has. Size and time
    /// show the changes of others.
    var notedFiles = 10_000
    /// Pause between looks through a folder that cannot be watched: new songs come within a rest stop.
    var unwatchedPause: Duration = .seconds(5 * 60)
    /// Pause between looks for a folder that is away, or that has no song: a stick that is plugged in is there at once.
    var awayPause: Duration = .seconds(2)
    /// Files that cannot be played and that a notice names: one line has room for no more.
    var namedFiles = 3
    /// The same of the log: a folder of another kind of files would fill it.
    var loggedFiles = 100
    /// Files that the player has tried between two transactions: it takes a second for some.
    var playedBatch = 8
    /// Files that are read to find out whether the folder or one song is at fault: a few broken ones are among them by chance.
    var checkedFiles = 8
    /// Bytes that are read of such a file, at each of three places: a block of a disk.
    var checkedBytes = 4_096
    /// Time for that: a disk that slept has spun up by then. One that gives no answer is away.
    var checkTime: Duration = .seconds(8)
    /// Pause before what could not be written to the index is tried again.
    var retryPause: Duration = .seconds(60)
    /// Changes in the folder that wait to be taken note of: they come in bursts. With more, the folder is looked through.
    var waitingChanges = 1_024

    /// Those of a running head unit.
    static let standard = LibraryLimits()
}
