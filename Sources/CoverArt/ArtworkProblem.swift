// SPDX-License-Identifier: Apache-2.0

/// The cause of a `NetworkError` of cover art that does not come from a library.
public enum ArtworkProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bytes are not a JPEG, PNG, GIF or WebP.
    case notAPicture
    /// The picture could not be stored. Carries the errno.
    case notStored(Int32)
    /// There are too many requests for pictures.
    case busy
    /// The loader is shut down.
    case closed
    /// The request took longer than `ArtworkLimits.requestTime`.
    case late
    /// The connection failed or broke. Carries libcurl's text.
    case notTransferred(String)

    /// A sentence for a log.
    public var description: String {
        switch self {
        case .notAPicture: "The server's answer is not a JPEG, PNG, GIF or WebP."
        case .notStored(let code): "The picture could not be written to the cache (error \(code))."
        case .busy: "Too many pictures are asked for at once."
        case .closed: "Pictures are not loaded any more."
        case .late: "The picture took too long."
        case .notTransferred(let words): words
        }
    }
}
