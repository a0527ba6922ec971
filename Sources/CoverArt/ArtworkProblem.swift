// SPDX-License-Identifier: Apache-2.0

/// What is behind a `NetworkError` of cover art where no library's error is.
public enum ArtworkProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bytes are no JPEG, PNG, GIF or WebP.
    case notAPicture
    /// The picture could not be kept: an errno.
    case notStored(Int32)
    /// Too many pictures are asked for at once.
    case busy
    /// The loader is shut down.
    case closed
    /// It has taken longer than `ArtworkLimits.requestTime`.
    case late
    /// The connection did not come about, or broke: libcurl's words for it.
    case notTransferred(String)

    /// A sentence for a log.
    public var description: String {
        switch self {
        case .notAPicture: "What came is no JPEG, PNG, GIF or WebP."
        case .notStored(let code): "The picture could not be written to the cache (error \(code))."
        case .busy: "Too many pictures are asked for at once."
        case .closed: "Pictures are not loaded any more."
        case .late: "The picture took too long."
        case .notTransferred(let words): words
        }
    }
}
