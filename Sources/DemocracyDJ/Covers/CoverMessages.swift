// SPDX-License-Identifier: Apache-2.0

/// A song's cover as it is sent over the air: a small JPEG.
public struct SmallCover: Hashable, Sendable {
    /// The picture, at most `DJLimits.coverBytes`.
    public var bytes: [UInt8]
    /// Distinguishes the picture from other pictures of the same song.
    public var version: UInt32

    /// Creates a cover. Nil if the picture is empty or too large.
    public init?(_ bytes: [UInt8], version: UInt32) {
        guard (1...DJLimits.coverBytes).contains(bytes.count) else { return nil }
        self.bytes = bytes
        self.version = version
    }
}

/// A guest's request for a piece of a song's cover: `docs/protocol.md`, "Covers".
public struct CoverRequest: Hashable, Sendable {
    /// The song.
    public var songID: Song.ID
    /// The version of the picture that the guest has a part of; 0 without such a part.
    public var version: UInt32
    /// The first byte that the guest lacks, counted from 0.
    public var from: Int

    /// A request.
    public init(songID: Song.ID, version: UInt32 = 0, from: Int = 0) {
        self.songID = songID
        self.version = version
        self.from = from
    }

    /// Whether an honest guest can send this request.
    var isWithinLimits: Bool { DJLimits.isSongID(songID) && (0..<DJLimits.coverBytes).contains(from) }
}

/// A piece of a song's cover.
public struct CoverPiece: Hashable, Sendable {
    /// The song.
    public var songID: Song.ID
    /// The version of the picture.
    public var version: UInt32
    /// The index of the piece's first byte in the picture.
    public var from: Int
    /// Size of the picture in bytes; 0 if the song has no cover.
    public var total: Int
    /// At most `DJLimits.coverPieceBytes`.
    public var bytes: [UInt8]

    /// A piece.
    public init(songID: Song.ID, version: UInt32, from: Int, total: Int, bytes: [UInt8]) {
        self.songID = songID
        self.version = version
        self.from = from
        self.total = total
        self.bytes = bytes
    }

    /// Reports that a song has no cover.
    public static func none(_ songID: Song.ID) -> CoverPiece {
        CoverPiece(songID: songID, version: 0, from: 0, total: 0, bytes: [])
    }

    /// Creates the requested piece. A part of another picture is useless to the guest, so it then gets the present
    /// picture's first piece.
    public init(of cover: SmallCover, for request: CoverRequest) {
        let isGoingOn = request.version == cover.version && request.from < cover.bytes.count
        let from = isGoingOn ? request.from : 0
        self.init(
            songID: request.songID, version: cover.version, from: from, total: cover.bytes.count,
            bytes: Array(cover.bytes[from...].prefix(DJLimits.coverPieceBytes)))
    }

    /// Whether an honest host can send this piece.
    var isWithinLimits: Bool {
        guard DJLimits.isSongID(songID), (0...DJLimits.coverBytes).contains(total) else { return false }
        return total == 0
            ? from == 0 && bytes.isEmpty
            : (1...DJLimits.coverPieceBytes).contains(bytes.count) && from >= 0 && from + bytes.count <= total
    }
}
