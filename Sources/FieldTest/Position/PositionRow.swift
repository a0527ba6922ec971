// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A recorded position of the device.
public struct PositionRow: Codable, Hashable, Sendable {
    /// Degrees north of the equator.
    public var latitude: Double
    /// Degrees east of Greenwich.
    public var longitude: Double
    /// Speed in metres per second, nil if unknown.
    public var speed: Double?
    /// Estimated error of the position in metres, nil if unknown.
    public var accuracy: Double?

    private enum CodingKeys: String, CodingKey {
        case latitude, longitude, speed, accuracy
    }

    /// Makes a position, rounded to some 10 cm. Nil if it is not on Earth. A speed or an accuracy that no car has
    /// counts as unknown.
    public init?(latitude: Double, longitude: Double, speed: Double? = nil, accuracy: Double? = nil) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
        self.latitude = Self.rounded(latitude, 1e6)
        self.longitude = Self.rounded(longitude, 1e6)
        self.speed = speed.flatMap { (0...1_000).contains($0) ? Self.rounded($0, 10) : nil }
        self.accuracy = accuracy.flatMap { (0...100_000).contains($0) ? Self.rounded($0, 10) : nil }
    }

    /// Reads a position. Throws if it is not on Earth.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let position = PositionRow(
            latitude: try values.decode(Double.self, forKey: .latitude),
            longitude: try values.decode(Double.self, forKey: .longitude),
            speed: try values.decodeIfPresent(Double.self, forKey: .speed),
            accuracy: try values.decodeIfPresent(Double.self, forKey: .accuracy))
        guard let position else {
            throw DecodingError.dataCorruptedError(
                forKey: .latitude, in: values, debugDescription: "The position is not on Earth.")
        }
        self = position
    }

    private static func rounded(_ value: Double, _ scale: Double) -> Double { (value * scale).rounded() / scale }

    /// The distance to another position in metres, on a sphere of Earth's mean radius.
    public func distance(to other: PositionRow) -> Double {
        let radian = Double.pi / 180
        let (one, two) = (latitude * radian, other.latitude * radian)
        let (north, east) = (two - one, (other.longitude - longitude) * radian)
        let half = sin(north / 2) * sin(north / 2) + cos(one) * cos(two) * sin(east / 2) * sin(east / 2)
        return 2 * Self.earthRadius * asin(min(1, half.squareRoot()))
    }

    /// Mean radius of Earth in metres.
    static let earthRadius = 6_371_000.0
}
