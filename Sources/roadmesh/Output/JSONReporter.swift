// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshNode

/// Shows a node's events to a program: one JSON object a line.
struct JSONReporter: Reporter {
    private let encoder: JSONEncoder

    init() {
        encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    }

    func show(_ event: NodeEvent) {
        let timed = TimedEvent(event, at: Date().timeIntervalSince1970)
        do {
            StandardOutput.write(String(decoding: try encoder.encode(timed), as: UTF8.self))
        } catch {
            preconditionFailure("an event of ours cannot be encoded: \(error)")
        }
    }

    func remark(_ sentence: String) {
        StandardError.write("roadmesh: \(sentence)")
    }
}
