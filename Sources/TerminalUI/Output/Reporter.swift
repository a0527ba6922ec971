// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import NodeCore

/// Shows a node's events until it stops: to programs as one JSON object per line, to people in sentences. `remark` is a
/// text about this run that is not an event, and is shown first.
package func report(
    _ events: AsyncStream<NodeEvent>, of node: NodeDescription, isJSON: Bool, remark: String?
) async {
    if let remark { isJSON ? StandardError.write("roadmesh: \(remark)") : StandardOutput.write(remark) }
    var sentences = Sentences(node, .lines, .ofPerson)
    for await event in events {
        if isJSON {
            StandardOutput.write(JSONLine.text(TimedEvent(event, at: Date().timeIntervalSince1970)))
        } else {
            for line in sentences.lines(event, now: .zero) { StandardOutput.write(line) }
        }
    }
}
