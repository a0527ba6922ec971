// SPDX-License-Identifier: Apache-2.0

/// A song's cover as it goes over the air: a small JPEG.
public struct SmallCover: Hashable, Sendable {
    /// The picture, of at most `DJLimits.coverBytes`.
    public var bytes: [UInt8]
    /// Tells it from another picture of the same song.
    public var version: UInt32

    /// A picture. Nil where it is none, or too large a one.
    public init?(_ bytes: [UInt8], version: UInt32) {
        guard (1...DJLimits.coverBytes).contains(bytes.count) else { return nil }
        self.bytes = bytes
        self.version = version
    }
}

/// A guest asks for a piece of a song's cover: docs/protocol.md, "Covers".
public struct CoverRequest: Hashable, Sendable {
    /// Whose cover.
    public var songID: Song.ID
    /// Which picture of the song the guest has a part of; 0 where it has nothing of it.
    public var version: UInt32
    /// The first byte that it lacks, counted from 0.
    public var from: Int

    /// A request.
    public init(songID: Song.ID, version: UInt32 = 0, from: Int = 0) {
        self.songID = songID
        self.version = version
        self.from = from
    }

    /// Whether a guest can ask this.
    var isWithinLimits: Bool { DJLimits.isSongID(songID) && (0..<DJLimits.coverBytes).contains(from) }
}

/// A piece of a song's cover.
public struct CoverPiece: Hashable, Sendable {
    /// Whose cover.
    public var songID: Song.ID
    /// Which picture of the song it is.
    public var version: UInt32
    /// Where in the picture the piece begins.
    public var from: Int
    /// Bytes of the whole picture; 0 where the song has none.
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

    /// That a song has no cover.
    public static func none(_ songID: Song.ID) -> CoverPiece {
        CoverPiece(songID: songID, version: 0, from: 0, total: 0, bytes: [])
    }

    /// The piece that a guest asks for. What it has of another picture is of no use: it gets the present one's first.
    public init(of cover: SmallCover, for request: CoverRequest) {
        let isGoingOn = request.version == cover.version && request.from < cover.bytes.count
        let from = isGoingOn ? request.from : 0
        self.init(
            songID: request.songID, version: cover.version, from: from, total: cover.bytes.count,
            bytes: Array(cover.bytes[from...].prefix(DJLimits.coverPieceBytes)))
    }

    /// Whether a host can say this.
    var isWithinLimits: Bool {
        guard DJLimits.isSongID(songID), (0...DJLimits.coverBytes).contains(total) else { return false }
        return total == 0
            ? from == 0 && bytes.isEmpty
            : (1...DJLimits.coverPieceBytes).contains(bytes.count) && from >= 0 && from + bytes.count <= total
    }
}
