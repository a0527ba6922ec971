// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite("Errors planted in the documents are found")
struct PlantedErrorTests {
    /// An error to put into a document, and the complaint without its line.
    struct Plant: Sendable {
        var path: String
        var right: String
        var wrong: String
        var complaint: String
        var check: @Sendable (Page) throws -> [String]
    }

    private static let reference = EventTests.path
    private static let dashboard = ViewTests.path

    static let plants: [Plant] = [
        Plant(
            path: reference, right: "| `rttMilliseconds` |", wrong: "| `rtt` |",
            complaint: "documents the field rtt of `link`, which the program does not write."
        ) { try EventTests.complaints($0, EventTests.node) },
        Plant(
            path: reference, right: "| `rttMilliseconds` |", wrong: "| `rtt` |",
            complaint: "lacks the field rttMilliseconds of `link`, which the program writes."
        ) { try EventTests.complaints($0, EventTests.node) },
        Plant(
            path: reference, right: "#### `linkEnded`", wrong: "#### `linkOver`",
            complaint: "documents `linkOver`, which the program does not write."
        ) { try EventTests.complaints($0, EventTests.node) },
        Plant(
            path: reference, right: "| `resent` | number |", wrong: "| `resent` | boolean |",
            complaint: "has resent of `link` as another kind of value; in the program it is number."
        ) { try EventTests.complaints($0, EventTests.node) },
        Plant(
            path: reference, right: "| `pin` | string, optional |", wrong: "| `pin` | string |",
            complaint: "does not say that pin of `ready` is optional; the program may leave it out."
        ) { try EventTests.complaints($0, EventTests.node) },
        Plant(
            path: reference, right: "`lan`, `broker` or", wrong: "`lan` or",
            complaint: "lacks broker of `peerDiscovered`.bearer, which the program has."
        ) { try EventTests.complaints($0, EventTests.node) },
        Plant(
            path: reference, right: "\"attempt\":1", wrong: "\"try\":1",
            complaint: "has an example of `connection` with the field try, which is not documented."
        ) { try EventTests.complaints($0, EventTests.node) },
        Plant(
            path: dashboard, right: "| `moreGuests` |", wrong: "| `others` |",
            complaint: "documents the field others of view, which the program does not write.",
            check: ViewTests.complaints),
        Plant(
            path: dashboard, right: "| `volume` | `percent` |", wrong: "| `volume` | `loudness` |",
            complaint: "has volume (loudness) on the page of a host, which the program does not have in this way.",
            check: ViewTests.commandComplaints),
        Plant(
            path: reference, right: "| `pause` |", wrong: "| `halt` |",
            complaint: "lists `halt`, which cannot be typed like this."
        ) { CommandTests.complaints($0, "## At a host", .host) },
        Plant(
            path: reference, right: "| `view` or `queue` | yes", wrong: "| `view` | yes",
            complaint: "lists view, which a host does not read.", check: CommandTests.programComplaints),
        Plant(
            path: reference, right: "| 76 | `EX_PROTOCOL` |", wrong: "| 75 | `EX_PROTOCOL` |",
            complaint: "lists the exit code 75, which roadmesh does not have.", check: ExitCodeTests.complaints),
        Plant(
            path: reference, right: "| 76 | `EX_PROTOCOL` |", wrong: "| 76 | `EX_TEMPFAIL` |",
            complaint: "calls the exit code 76 `EX_TEMPFAIL`; it is `EX_PROTOCOL`.", check: ExitCodeTests.complaints),
        Plant(
            path: "docs/protocol.md", right: "| guests of a host | 16 |", wrong: "| guests of a host | 17 |",
            complaint: "has the limit 17, which is none of its constants: Limits.guests is 16.",
            check: LimitTests.complaintsAboutTables),
        Plant(
            path: dashboard, right: "| a connection between two requests | 60 s |",
            wrong: "| a connection between two requests | 60 ms |",
            complaint: "names DashboardLimits.keptOpen and does not state its value, 60 s.",
            check: LimitTests.complaintsAboutTables),
        Plant(
            path: "docs/protocol.md", right: "`Limits.guests` |", wrong: "`Limits.visitors` |",
            complaint: "names Limits.visitors, which is not a limit of the program.",
            check: LimitTests.complaintsAboutTables),
        Plant(
            path: RecordingTests.path, right: "| `carrier` |", wrong: "| `carriage` |",
            complaint: "lists the kind carriage, which is not recorded.", check: RecordingTests.complaints),
        Plant(
            path: LimitTests.path, right: "| `chunkWindow` | 32 |", wrong: "| `chunkWindow` | 64 |",
            complaint: "gives Limits.chunkWindow as 64; it is 32.", check: LimitTests.complaints),
    ]

    @Test("Each kind of error is found, with its document and line", arguments: plants.indices)
    func found(index: Int) throws {
        let plant = Self.plants[index]
        let complaints = try plant.check(Page(plant.path).changing(plant.right, to: plant.wrong))
        #expect(complaints.contains { $0.hasPrefix("\(plant.path):") && $0.hasSuffix(" \(plant.complaint)") })
    }
}
