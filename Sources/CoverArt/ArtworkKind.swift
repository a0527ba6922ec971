// SPDX-License-Identifier: Apache-2.0

/// The format of a picture, from its first bytes. The server's media type is not trusted.
package enum ArtworkKind: String, Hashable, Sendable, CaseIterable {
    case jpeg, png, gif, webp

    /// Number of bytes that identify the format.
    static let headBytes = 12

    /// The format of these bytes. Nil for any other data (the formats' own specifications).
    package init?(head: some Collection<UInt8>) {
        let head = Array(head.prefix(Self.headBytes))
        if head.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if head.starts(with: Array("GIF87a".utf8)) || head.starts(with: Array("GIF89a".utf8)) {
            self = .gif
        } else if head.starts(with: Array("RIFF".utf8)), head.dropFirst(8).elementsEqual(Array("WEBP".utf8)) {
            self = .webp
        } else {
            return nil
        }
    }

    /// The media type of the format (RFC 2046).
    package var mediaType: String { "image/" + rawValue }
}
