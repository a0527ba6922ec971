// SPDX-License-Identifier: Apache-2.0

import NodeCore
import MeshProtocol

@testable import FieldTest

/// Sample drives.
enum Drives {
    static let car = "0a0b0c0d0e0f0a0b0c0d0e0f0a0b0c0d"

    static func header(_ name: String = "Road", role: NodeDescription.Role = .guest) -> DriveHeader {
        let peer = Peer(id: "ffee00112233445566778899aabbccdd", name: "Ana")
        return DriveHeader(
            name: name, node: NodeDescription(role: role, peer: peer, radio: "bluez hci0", service: .democracyDJ),
            began: 1_000)
    }

    static func drive(
        _ rows: [(Double, Happening)], name: String = "Road", role: NodeDescription.Role = .guest,
        ending: Drive.Ending = .complete
    ) -> Drive {
        Drive(
            header: header(name, role: role), rows: rows.map { DriveRow(at: .seconds($0), $1) }, ending: ending)
    }

    static func contact(_ phase: Encounter.Phase, silence: Double? = nil, whole: Bool = true) -> Happening {
        .contact(ContactRow(phase, Peer(id: whole ? car : Identity.head(of: car), name: "Car"), silence: silence))
    }

    static func link(_ rssi: Int?, resent: Int = 0) -> Happening {
        var sample = LinkSample(LinkReport(rssi: rssi, roundTrip: .milliseconds(90)))
        sample.resent = resent
        return .link(car, sample)
    }

    /// A report of a link over relays.
    static func link(hops: Int, via: String?) -> Happening {
        var report = LinkReport(roundTrip: .milliseconds(90))
        (report.relays, report.via) = (hops, via)
        return .link(car, LinkSample(report))
    }

    static let one = Peer(id: "11110000aaaabbbbccccddddeeeeffff", name: "Row 8")
    static let two = Peer(id: "22220000aaaabbbbccccddddeeeeffff", name: "Row <16>")

    static func carrier(_ peer: Peer, _ rssi: Int) -> Happening {
        var report = LinkReport(rssi: rssi, roundTrip: .milliseconds(30))
        report.circuits = 1
        return .carrier(peer.id, CarrierSample(peer, report))
    }

    /// Ten seconds linked to the host directly, a gap of ten, thirty over one relay, and twenty over two with another
    /// next relay.
    static var overRelays: Drive {
        drive([
            (0, contact(.resumed)), (1, link(-60)), (10.5, contact(.lost, silence: 0.5)), (20, contact(.resumed)),
            (20.5, carrier(one, -70)), (21, link(hops: 1, via: one.id)), (40, link(hops: 1, via: one.id)),
            (50, contact(.resumed)), (51, link(hops: 2, via: two.id)), (52, carrier(two, -80)), (70, .end("quit")),
        ])
    }

    static func wish(_ song: String, _ state: String, _ wish: String = "vote") -> Happening {
        .wish(WishRow(song: song, wish: wish, state: state))
    }

    /// A link, a gap of ten seconds from 20 s on with a vote in it, and the reconnect.
    static var oneGap: Drive {
        drive([
            (0, contact(.resumed)), (0.1, contact(.current)), (1, link(-60)), (10, link(-90)),
            (12, wish("s1", "queued")),
            (12.1, wish("s1", "confirmed")), (20.42, contact(.lost, silence: 0.42)), (25, wish("s2", "queued")),
            (30, contact(.heard, whole: false)), (30.2, contact(.dialled, whole: false)), (30.3, contact(.resumed)),
            (30.4, contact(.current)), (30.5, wish("s2", "confirmed")), (31, link(-62, resent: 1)), (40, .end("quit")),
        ])
    }
}
