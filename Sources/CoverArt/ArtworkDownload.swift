// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Glibc
import MeshProtocol

/// Decides what the server's responses to one request mean: a picture, another request, or an error.
struct ArtworkDownload: Sendable {
    /// The head of a response. Missing header fields are nil.
    struct Head: Hashable, Sendable {
        var status: Int
        var contentType: String?
        var contentLength: Int?
        var location: String?
        var retryAfter: String?
    }

    /// The action after a head.
    enum Action: Hashable, Sendable {
        /// Send the request to this URL.
        case follow(ArtworkURL)
        /// Read the body.
        case read
    }

    /// The current URL of the request.
    private(set) var url: ArtworkURL
    /// The pause that the server has requested.
    private(set) var retryAfter: Duration?
    private let limits: ArtworkLimits
    private var redirects = 0
    private var bytes: [UInt8] = []

    init(_ url: ArtworkURL, limits: ArtworkLimits) {
        self.url = url
        self.limits = limits
    }

    /// A response has begun. `date` is the time since 1970, since a server may send a date.
    mutating func received(_ head: Head, date: MeshInstant) throws(NetworkError) -> Action {
        switch head.status {
        case 200: return try body(head)
        case 204: throw .noData
        case 301, 302, 303, 307, 308: return try redirect(head)
        case 429:
            retryAfter = pause(head, date: date)
            throw .rateLimited
        case 503:
            retryAfter = pause(head, date: date)
            throw .serverMaintenance
        case 400...599: throw .httpError(statusCode: head.status)
        default: throw .invalidResponse
        }
    }

    /// A part of the body has arrived. Bytes beyond the limit are not stored.
    mutating func received(_ part: some Collection<UInt8>) throws(NetworkError) {
        guard part.count <= limits.pictureBytes - bytes.count else { throw .invalidResponse }
        bytes.append(contentsOf: part)
    }

    /// The body is complete.
    func ended() throws(NetworkError) -> (kind: ArtworkKind, bytes: [UInt8]) {
        guard !bytes.isEmpty else { throw .emptyData }
        guard let kind = ArtworkKind(head: bytes) else { throw .decodingError(ArtworkProblem.notAPicture) }
        return (kind, bytes)
    }

    private func body(_ head: Head) throws(NetworkError) -> Action {
        // An empty body has no type.
        if head.contentLength == 0 { throw .emptyData }
        guard head.contentType?.lowercased().hasPrefix("image/") == true,
            head.contentLength ?? 0 <= limits.pictureBytes
        else { throw .invalidResponse }
        return .read
    }

    private mutating func redirect(_ head: Head) throws(NetworkError) -> Action {
        redirects += 1
        guard let location = head.location, redirects <= limits.redirects else { throw .invalidResponse }
        url = try url.redirected(to: location)
        return .follow(url)
    }

    /// Retry-After is a number of seconds or a date (RFC 9110, 10.2.3).
    private func pause(_ head: Head, date: MeshInstant) -> Duration? {
        guard let text = head.retryAfter else { return nil }
        if let seconds = UInt32(text) { return min(.seconds(seconds), limits.longestRetryAfter) }
        return Self.instant(text).map { min(max($0 - date, .zero), limits.longestRetryAfter) }
    }

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7) as a time since 1970. It does not parse the obsolete
    /// formats.
    private static func instant(_ text: String) -> MeshInstant? {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let parts = text.split { $0 == " " || $0 == ":" }
        guard parts.count == 8, parts[7] == "GMT", let month = months.firstIndex(of: String(parts[2])) else {
            return nil
        }
        let numbers = [1, 3, 4, 5, 6].compactMap { UInt16(parts[$0]).map(Int32.init) }
        guard numbers.count == 5 else { return nil }
        var time = tm()
        time.tm_mday = numbers[0]
        time.tm_mon = Int32(month)
        time.tm_year = numbers[1] - 1_900
        (time.tm_hour, time.tm_min, time.tm_sec) = (numbers[2], numbers[3], numbers[4])
        return .seconds(timegm(&time))
    }
}
