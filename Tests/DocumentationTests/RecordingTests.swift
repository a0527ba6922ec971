// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import FieldTest
@testable import NodeCore
@testable import NodeStore
@testable import roadmesh

@Suite("Recordings in docs/fieldtest.md")
struct RecordingTests {
    static let path = "docs/fieldtest.md"

    private static let report: LinkReport = {
        var report = LinkReport(rssi: -50, roundTrip: .milliseconds(12))
        (report.relays, report.via, report.circuits) = (1, "b2", 3)
        return report
    }()

    private static let position: PositionRow = {
        guard let position = PositionRow(latitude: 46.55, longitude: 8.33, speed: 22, accuracy: 4) else {
            preconditionFailure("it is on Earth")
        }
        return position
    }()

    /// A row of each kind, with all of its fields. A new kind does not compile below: add it here, too.
    private static let rows: [FieldTest.Happening] = [
        .link("a1", LinkSample(report)), .carrier("a1", CarrierSample(NodeSamples.ana, report)),
        .contact(ContactRow(Encounter(lost: NodeSamples.ana, .linkLost, at: .now))),
        .contact(ContactRow(Encounter(.heard, NodeSamples.ana, at: .now, by: .sighting, rssi: -70))),
        .radio(RadioSample(RadioActivity())), .wish(WishRow(song: "s1", wish: "vote", state: "sent")),
        .intent(IntentRow(peer: "a1", intent: "vote", song: "s1", accepted: true)),
        .position(position), .load(ProcessLoad(wakeUps: 900, processor: 0.04)), .mark("tunnel in"), .notice("hostFull"),
        .tick, .missing(3), .end("quit"),
    ]

    private static func place(_ row: FieldTest.Happening) -> Int {
        switch row {
        case .link: 0
        case .carrier: 1
        case .contact: 2
        case .radio: 3
        case .wish: 4
        case .intent: 5
        case .position: 6
        case .load: 7
        case .mark: 8
        case .notice: 9
        case .tick: 10
        case .missing: 11
        case .end: 12
        }
    }

    /// Words that fields may have, and that a row of the document may list.
    private static let words = Set(
        Encounter.Phase.allCases.map(\.rawValue) + Encounter.Evidence.allCases.map(\.rawValue)
            + Wish.Kind.allCases.map(\.rawValue) + NodeSamples.wishStates.map(\.name))

    static func complaints(_ page: Page) throws -> [String] {
        var kinds: [String: Set<String>] = [:]
        for row in rows {
            guard case .object(let fields) = try JSON(DriveRow(at: .zero, row)),
                case .string(let kind)? = fields["kind"]
            else { continue }
            kinds[kind, default: []].formUnion(Set(fields.keys).subtracting(["at", "kind"]))
        }
        var complaints: [String] = []
        for row in Page.rows(page.section("## The file")) where row.head.first == "`kind`" {
            let kind = row["`kind`"].spans.first ?? ""
            guard let fields = kinds.removeValue(forKey: kind) else {
                complaints.append("\(page.path):\(row.line) lists the kind \(kind), which is not recorded.")
                continue
            }
            let documented = Set(row["other fields"].spans)
            complaints += fields.subtracting(documented).sorted().map {
                "\(page.path):\(row.line) lacks the field \($0) of the kind \(kind)."
            }
            complaints += documented.subtracting(fields).subtracting(words).sorted().map {
                "\(page.path):\(row.line) lists \($0) for the kind \(kind), which does not have it."
            }
        }
        return complaints + kinds.keys.sorted().map { "\(page.path): the table of kinds lacks \($0)." }
    }

    @Test("Each kind of row is in the document with its fields, and the document has no other")
    func kinds() throws {
        #expect(Set(Self.rows.map(Self.place)).count == 13)
        for complaint in try Self.complaints(Page(Self.path)) { Issue.record("\(complaint)") }
    }

    @Test("The output of fieldtest list --json is in the document")
    func list() throws {
        let page = try Page(Self.path)
        let row = try #require(Page.rows(page.lines).first { $0.cells.first == "`fieldtest list`" })
        let node = NodeDescription(
            role: .guest, peer: NodeSamples.ana, radio: "virtual a", service: .democracyDJ)
        let header = JSONLine.text(DriveHeader(name: "Alps", node: node, began: 1))
        let drive = try #require(
            ListedDrive(StoredDrive(number: 1, header: header, isEnded: true, lines: 0), isUnderWay: false))
        let wrong = Set(try JSON(drive).fields.keys).symmetricDifference(
            Set(row.cells[1].spans).subtracting(["--state", "--json", "complete", "cutOff", "underWay"]))
        #expect(wrong.isEmpty, "\(Self.path):\(row.line) is wrong about the fields \(wrong.sorted())")
    }

    /// A drive with a feature of each kind.
    private static func mapped() throws -> Drive {
        let node = NodeDescription(
            role: .guest, peer: NodeSamples.ana, radio: "virtual a", service: .democracyDJ)
        let car = NodeSamples.ana
        let rows: [(Double, FieldTest.Happening)] = [
            (0, .position(position)), (0, .contact(ContactRow(.resumed, car))), (1, .link(car.id, LinkSample(report))),
            (2, .position(position)), (2, .mark("tunnel in")), (5, .contact(ContactRow(.lost, car, silence: 0.4))),
            (8, .contact(ContactRow(.dialled, car))), (9, .contact(ContactRow(.resumed, car))),
            (20, .position(position)),
        ]
        let lines = rows.map { JSONLine.text(DriveRow(at: .seconds($0.0), $0.1)) }
        return try Drive(lines: [JSONLine.text(DriveHeader(name: "Alps", node: node, began: 1))] + lines)
    }

    @Test("Each kind of feature in GeoJSON is in the document with its properties, and the document has no other")
    func features() throws {
        guard case .list(let features)? = try JSON(parsing: Report([try Self.mapped()]).geoJSON).fields["features"]
        else {
            return #expect(Bool(false), "GeoJSON has no features")
        }
        var kinds: [String: Set<String>] = [:]
        for case .object(let properties)? in features.map({ $0.fields["properties"] }) {
            guard case .string(let kind)? = properties["kind"] else { continue }
            kinds[kind, default: []].formUnion(properties.filter { $0.value.kind != "null" }.keys)
        }
        let page = try Page(Self.path)
        let documented = Page.rows(page.section("### Tracks for other programs")).filter { $0.head.first == "`kind`" }
        #expect(Set(documented.compactMap { $0["`kind`"].spans.first }) == Set(kinds.keys))
        for row in documented {
            let kind = row["`kind`"].spans.first ?? ""
            #expect(Set(row["other properties"].spans) == kinds[kind]?.subtracting(["kind"]), "\(kind)")
        }
    }

    @Test("The header in the document has the fields of a header")
    func header() throws {
        let page = try Page(Self.path)
        let line = try #require(Page.code("json", in: page.section("## The file")).first)
        let node = NodeDescription(
            role: .guest, peer: NodeSamples.ana, radio: "virtual a", service: .democracyDJ)
        let known = try JSON(DriveHeader(name: "Alps", node: node, began: 1, origin: "Made up.")).fields.keys
        let wrong = Set(known).symmetricDifference(try JSON(parsing: line.text).fields.keys)
        #expect(wrong.isEmpty, "\(Self.path):\(line.number) is wrong about the fields \(wrong.sorted())")
    }
}
