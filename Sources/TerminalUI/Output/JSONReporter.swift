// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshNode

/// Shows a node's events to a program: one JSON object a line.
package struct JSONReporter: Reporter {
    package init() {}

    package func show(_ event: NodeEvent) {
        StandardOutput.write(JSONLine.text(TimedEvent(event, at: Date().timeIntervalSince1970)))
    }

    package func remark(_ sentence: String) {
        StandardError.write("roadmesh: \(sentence)")
    }
}
