// SPDX-License-Identifier: Apache-2.0

import Glibc
import MeshProtocol

/// A position on the ground, in metres.
struct FieldPoint: Hashable, Sendable {
    var x: Double
    var y: Double

    func distance(to other: FieldPoint) -> Double {
        ((x - other.x) * (x - other.x) + (y - other.y) * (y - other.y)).squareRoot()
    }
}

/// The positions of the nodes of a field, the range of their radios, and their movement.
public enum FieldLayout: String, CaseIterable, Hashable, Sendable {
    /// Cars in a line, with five people in each.
    case line
    /// Coaches one behind another, with fifty people in each, who block the signal.
    case bus
    /// People on a square.
    case crowd

    /// People in a vehicle.
    var seats: Int {
        switch self {
        case .line: 5
        case .bus: 50
        case .crowd: 1
        }
    }

    /// Metres from one vehicle to the next.
    var spacing: Double { self == .line ? 15 : 14 }

    /// Range in metres. Between cars there are no obstacles; in a bus there are people.
    var range: Double {
        switch self {
        case .line: 100
        case .bus: 10
        case .crowd: 30
        }
    }

    /// Square metres for each person of a crowd.
    static let roomInCrowd = 20.0
    /// Signal strength at a metre and at the end of the range, in dBm. In between it falls with the logarithm of the
    /// distance.
    static let (nearSignal, farSignal) = (-40.0, -90.0)

    /// Signal strength over a distance, in dBm. Nil beyond the range.
    func signal(over metres: Double) -> Int? {
        guard metres <= range else { return nil }
        let share = log(max(metres, 1)) / log(range)
        return Int((Self.nearSignal + share * (Self.farSignal - Self.nearSignal)).rounded())
    }

    /// The initial positions. The host is first: in the first vehicle, or in the middle of a crowd.
    func places(_ nodes: Int, _ random: inout SeededGenerator) -> [FieldPoint] {
        switch self {
        case .line, .bus:
            return (0..<nodes).map { place(inVehicle: $0 / seats, seat: $0 % seats) }
        case .crowd:
            let side = (Double(nodes) * Self.roomInCrowd).squareRoot()
            return (0..<nodes).map { node in
                let place = FieldPoint(x: random.fraction() * side, y: random.fraction() * side)
                return node == 0 ? FieldPoint(x: side / 2, y: side / 2) : place
            }
        }
    }

    private func place(inVehicle vehicle: Int, seat: Int) -> FieldPoint {
        let front = -Double(vehicle) * spacing
        // Five people of a car in two rows; fifty of a coach in rows of four, 0.8 m apart.
        let (row, column) = self == .line ? (seat / 2, seat % 2) : (seat / 4, seat % 4)
        return FieldPoint(x: front - Double(row) * 0.8, y: Double(column) * (self == .line ? 0.8 : 0.6))
    }
}
