// SPDX-License-Identifier: Apache-2.0

import MeshNode

/// Shows what a node tells.
package protocol Reporter {
    /// An event of the node.
    mutating func show(_ event: NodeEvent)
    /// Something about this run that is no event of the node.
    mutating func remark(_ sentence: String)
}

/// Shows every event until the node has stopped.
package func report(_ events: AsyncStream<NodeEvent>, with reporter: any Reporter) async {
    var reporter = reporter
    for await event in events { reporter.show(event) }
}

/// Who shows the events of a node, to a program or to a person, with what is to be said before.
package func reporter(_ node: NodeDescription, isJSON: Bool, remark: String?) -> any Reporter {
    var reporter: any Reporter = isJSON ? JSONReporter() : TerminalReporter(node)
    if let remark { reporter.remark(remark) }
    return reporter
}
