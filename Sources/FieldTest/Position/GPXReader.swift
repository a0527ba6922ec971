// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Why a GPX file cannot be used.
public enum GPXProblem: Error, Hashable, Sendable {
    /// The first element of the file is not `gpx`.
    case noGPX
    /// The file has no points of a track.
    case noPoints
    /// No point of its tracks has a time.
    case noTimes
    /// The file has more than `FieldTestLimits.gpxPoints` points.
    case tooMany
}

/// Reads the tracks of a GPX file (topografix.com/GPX/1/1, and 1.0). It resolves no entities and reads no other file.
public struct GPXReader {
    /// A point of a track.
    public struct Point: Hashable, Sendable {
        /// Seconds since 1970.
        public var time: Double
        /// The place.
        public var position: PositionRow
    }

    private let bytes: [UInt8]
    private var at = 0
    private var isGPX = false
    private var points: [Point] = []
    private var pointsWithoutTime = 0
    /// Attributes and texts of the point that is being read.
    private var point: [String: String]?

    private init(_ text: String) { bytes = Array(text.utf8) }

    /// The points of all tracks with a time and a place on Earth, by their times.
    public static func points(in text: String) throws(GPXProblem) -> [Point] {
        var reader = GPXReader(text)
        while let tag = reader.nextTag() {
            guard reader.isGPX || tag.name == "gpx" else { throw .noGPX }
            reader.isGPX = true
            reader.take(tag)
            guard reader.points.count <= FieldTestLimits.gpxPoints else { throw .tooMany }
        }
        guard reader.isGPX else { throw .noGPX }
        guard !reader.points.isEmpty else { throw reader.pointsWithoutTime > 0 ? .noTimes : .noPoints }
        return reader.points.sorted { $0.time < $1.time }
    }

    // MARK: Tags

    private struct Tag {
        /// The tag's name without a prefix of its namespace.
        var name: String
        var attributes: [String: String] = [:]
        var isStart: Bool
        var isEnd: Bool
    }

    private mutating func take(_ tag: Tag) {
        if tag.name == "trkpt" {
            if tag.isStart { point = tag.attributes }
            if tag.isEnd { finishPoint() }
        } else if point != nil, tag.isStart, !tag.isEnd, ["time", "speed"].contains(tag.name), point?[tag.name] == nil {
            let text = text()
            point?[tag.name] = text
        }
    }

    private mutating func finishPoint() {
        defer { point = nil }
        guard let point, let latitude = point["lat"].flatMap({ Double($0) }),
            let longitude = point["lon"].flatMap({ Double($0) }),
            let position = PositionRow(
                latitude: latitude, longitude: longitude, speed: point["speed"].flatMap { Double($0) })
        else { return }
        guard let time = point["time"].flatMap({ GPXTime.seconds($0) }) else {
            pointsWithoutTime += 1
            return
        }
        points.append(Point(time: time, position: position))
    }

    /// The next start or end of an element. Skips comments, declarations and character data.
    private mutating func nextTag() -> Tag? {
        while let open = index(of: "<", from: at) {
            at = open + 1
            if skip("!--", to: "-->") || skip("![CDATA[", to: "]]>") || skip("?", to: "?>") || skip("!", to: ">") {
                continue
            }
            guard let close = endOfTag() else { return nil }
            defer { at = close + 1 }
            return tag(bytes[at..<close])
        }
        return nil
    }

    private func tag(_ content: ArraySlice<UInt8>) -> Tag {
        var content = content
        let isClosing = content.first == UInt8(ascii: "/")
        let isEmpty = content.last == UInt8(ascii: "/")
        if isClosing { content = content.dropFirst() }
        if isEmpty { content = content.dropLast() }
        let name = content.prefix { !Self.isSpace($0) }
        var tag = Tag(
            name: Self.local(String(decoding: name, as: UTF8.self)), isStart: !isClosing, isEnd: isClosing || isEmpty)
        // Only points have attributes that matter.
        if tag.name == "trkpt", !isClosing { tag.attributes = Self.attributes(content.dropFirst(name.count)) }
        return tag
    }

    private static func attributes(_ text: ArraySlice<UInt8>) -> [String: String] {
        var (text, attributes) = (text, [String: String]())
        while let equals = text.firstIndex(of: UInt8(ascii: "=")) {
            let name = text[..<equals].filter { !isSpace($0) }
            let rest = text[(equals + 1)...].drop { isSpace($0) }
            guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"),
                let end = rest.dropFirst().firstIndex(of: quote)
            else { return attributes }
            attributes[local(String(decoding: name, as: UTF8.self))] = String(
                decoding: rest[(rest.startIndex + 1)..<end], as: UTF8.self)
            text = rest[(end + 1)...]
        }
        return attributes
    }

    private static func local(_ name: String) -> String { name.split(separator: ":").last.map(String.init) ?? name }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }

    /// Text up to the next element, without space around it.
    private func text() -> String {
        let end = index(of: "<", from: at) ?? bytes.count
        let inside = bytes[min(at, end)..<end].drop { Self.isSpace($0) }
        return String(decoding: inside.prefix { !Self.isSpace($0) }.prefix(64), as: UTF8.self)
    }

    /// The end of the tag that begins here. A quoted value may contain the sign of an end.
    private func endOfTag() -> Int? {
        var quote: UInt8?
        for index in at..<max(at, bytes.count) {
            let byte = bytes[index]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return index
            }
        }
        return nil
    }

    private func index(of sign: Unicode.Scalar, from start: Int) -> Int? {
        bytes[min(start, bytes.count)...].firstIndex(of: UInt8(ascii: sign))
    }

    /// Skips what begins and ends with these texts. Returns whether it began so.
    private mutating func skip(_ start: String, to end: String) -> Bool {
        guard bytes[at...].starts(with: start.utf8) else { return false }
        let end = Array(end.utf8)
        at += start.utf8.count
        while at < bytes.count, !bytes[at...].starts(with: end) { at += 1 }
        at = min(at + end.count, bytes.count)
        return true
    }
}

/// A time in GPX: `2026-11-28T09:00:01.5Z`.
enum GPXTime {
    /// Seconds since 1970. Nil for any other text. A time without a zone is in UTC, as GPX demands.
    static func seconds(_ text: String) -> Double? {
        // Foundation accepts an hour 25, and any text after the time.
        let form =
            #/
            \d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])
            T(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d{1,9})?
            (Z|[+-]\d\d:?\d\d)?
            /#
        guard let match = text.wholeMatch(of: form) else { return nil }
        return try? Date(match.1 == nil ? text + "Z" : text, strategy: .iso8601).timeIntervalSince1970
    }
}
