// SPDX-License-Identifier: Apache-2.0

/// The stages of a guest on its route to its host, in order.
enum FieldStage: Int, CaseIterable {
    /// It hears the host or a relay.
    case heard
    /// It dials one of them.
    case dialled
    /// A channel to the dialled node is open.
    case linked
    /// It has requested a circuit. A guest that has dialled the host itself needs none.
    case circuit
    /// Its handshake with the host is done.
    case connected
    /// It shows a state of the host.
    case shown
    /// It shows the host's current state.
    case current
    /// It advertises as a relay.
    case relays
}

/// Describes how a field with one host connects: the numbers at some times, and how long each level of the tree needed
/// for each stage.
struct FieldTimeline {
    /// Microseconds between two lines.
    private static let step = 5_000_000

    private var moments: [String] = []
    private var paths: [String] = []
    private var due = 0
    /// Counters at the last line.
    private var last = (bytes: 0, hostBytes: 0, lostDials: 0, links: 0)

    var lines: [String] { moments + paths }

    /// Adds a line with the current numbers, if it is due. Data are those since the last one.
    mutating func look(at field: Field) {
        guard field.now >= due else { return }
        due = max(due, field.now) + Self.step
        let people = field.people
        let connected = field.guests.filter { people.isConnected($0) }
        let shown = connected.filter { people.showsSession($0) && people.revision($0) > 0 }
        let current = connected.filter { people.isCurrent($0) }
        let behind = shown.map { Int(people.revision(0) - people.revision($0)) }.median ?? 0
        let now = (
            bytes: field.bytes(), hostBytes: field.bytes { $0 == 0 }, lostDials: field.air.lostDials,
            links: field.air.connections.links.count
        )
        let hops = Dictionary(grouping: connected) { field.hops(of: $0) ?? 0 }
        let levels = (1..<max(1, (hops.keys.max() ?? 0) + 1)).map { level in
            let guests = hops[level] ?? []
            return
                "\(guests.count):\(guests.count { field.nodes[$0].isRelay }):\(guests.count { people.isCurrent($0) })"
        }
        moments.append(
            "  \(Self.tenths(field.now)) s: state \(people.revision(0)), \(connected.count) admitted, \(shown.count) show a state, "
                + "\(current.count) the current one, \(behind) behind; "
                + "\((now.bytes - last.bytes) / 1_000) KB, \((now.hostBytes - last.hostBytes) / 1_000) of the host's; "
                + "\(now.links - last.links) links, \(now.lostDials - last.lostDials) failed dials; "
                + "guests:relays:current by hops \(levels.joined(separator: " "))")
        last = now
    }

    /// Adds a line for each level, with the median time that its guests needed for each stage.
    mutating func addPaths(of field: Field) {
        for (hops, guests) in Dictionary(grouping: field.guests, by: { field.hops(of: $0) ?? 0 }).sorted(by: {
            $0.key < $1.key
        }) {
            let stages = FieldStage.allCases.compactMap { stage in
                guests.compactMap { field.people.reached(stage, $0) }.median.map { "\(stage) \(Self.tenths($0))" }
            }
            paths.append("  \(hops) hops: \(guests.count) guests, " + stages.joined(separator: ", ") + " s")
        }
    }

    private static func tenths(_ microseconds: Int) -> String {
        let tenths = (microseconds + 50_000) / 100_000
        return "\(tenths / 10).\(tenths % 10)"
    }
}
