// SPDX-License-Identifier: Apache-2.0

import MeshNode

/// Shows a node's events to a person, a line for each thing that happens.
package struct TerminalReporter: Reporter {
    private var sentences: Sentences

    package init(_ node: NodeDescription) {
        sentences = Sentences(node, .lines)
    }

    package mutating func show(_ event: NodeEvent) {
        for line in sentences.lines(event) { StandardOutput.write(line) }
    }

    package func remark(_ sentence: String) {
        StandardOutput.write(sentence)
    }
}
