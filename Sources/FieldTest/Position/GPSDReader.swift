// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Reads what gpsd sends, which is lines of JSON. Bytes go in, and positions come out.
public struct GPSDReader: Sendable {
    /// The request to gpsd: send each position as JSON.
    public static let watch = "?WATCH={\"enable\":true,\"json\":true};\n"

    /// A message of gpsd, with the fields of a TPV: time, position, velocity (`man 5 gpsd_json`).
    private struct Message: Decodable {
        var `class`: String
        /// 2 and 3: there is a position.
        var mode: Int?
        var time: String?
        var lat: Double?
        var lon: Double?
        var speed: Double?
        /// Estimated horizontal error in metres.
        var eph: Double?
        /// Older versions of gpsd report an error to the east and one to the north.
        var epx: Double?
        var epy: Double?
    }

    private var line: [UInt8] = []
    private var isTooLong = false
    private var lastTime: String?

    /// Makes a reader of a new connection.
    public init() {}

    /// Handles bytes of gpsd. Returns the positions in them. It skips invalid lines, lines that are too long, and
    /// positions with the time of an earlier one.
    public mutating func take(_ bytes: some Sequence<UInt8>) -> [PositionRow] {
        var positions: [PositionRow] = []
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                if line.count < FieldTestLimits.gpsdLineBytes { line.append(byte) } else { isTooLong = true }
                continue
            }
            if !isTooLong, let position = position(in: line) { positions.append(position) }
            line.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        return positions
    }

    private mutating func position(in line: [UInt8]) -> PositionRow? {
        guard let report = try? JSONDecoder().decode(Message.self, from: Data(line)), report.class == "TPV",
            let mode = report.mode, mode >= 2, let latitude = report.lat, let longitude = report.lon
        else { return nil }
        if let time = report.time {
            guard time != lastTime else { return nil }
            lastTime = time
        }
        let error = report.eph ?? [report.epx, report.epy].compactMap(\.self).max()
        return PositionRow(latitude: latitude, longitude: longitude, speed: report.speed, accuracy: error)
    }
}
