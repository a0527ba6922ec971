// SPDX-License-Identifier: Apache-2.0

import AsyncAlgorithms
import DemocracyDJ
import MeshNode

/// A person at a running node: shows the screen, and carries out what is typed. On a terminal there is a prompt with a
/// panel; elsewhere lines come in and go out.
package actor PeopleSession {
    private enum Happening: Sendable {
        case event(NodeEvent)
        case line(String)
        case inputEnded
        case terminal(Terminal.Signal)
        case log(String)
        case tick
        case ended
    }

    private let node: Node
    private let endOfInput: NodeInput?
    private let logLines: AsyncStream<String>?
    private var screen: Screen
    private var display: LiveDisplay?
    private let start = ContinuousClock.now
    /// Nobody waits here for longer than a screen takes to write.
    private let happenings = AsyncChannel<Happening>()

    /// A session that has not begun. `endOfInput` is what the end of the input means where there is no terminal; at a
    /// terminal it is Ctrl-D, and quits.
    package init(
        _ node: Node, _ description: NodeDescription, library: [Song], endOfInput: NodeInput?, remark: String?,
        live: (usesColour: Bool, logLines: AsyncStream<String>)?
    ) {
        self.node = node
        self.endOfInput = live == nil ? endOfInput : .quit(.endOfInput)
        logLines = live?.logLines
        screen = Screen(description, live == nil ? .lines : .abovePanel, library: library)
        if let remark { StandardOutput.write(remark) }
        if let live {
            let size = Terminal.size
            display = LiveDisplay(
                size: size, usesColour: live.usesColour, panel: Panel(screen, size, now: .zero))
        }
    }

    /// Runs until the node has told everything.
    package func run() async {
        let feeders = feeders()
        defer { for feeder in feeders { feeder.cancel() } }
        begin()
        for await happening in happenings {
            if case .ended = happening { break }
            await take(happening)
        }
        if let display {
            write(display.end(farewell))
            Terminal.forgetTyping()
        }
    }

    private var farewell: [String] = []

    private func feeders() -> [Task<Void, Never>] {
        let happenings = happenings
        func feed<S: AsyncSequence & Sendable>(
            _ source: S, then last: Happening? = nil, _ happening: @escaping @Sendable (S.Element) -> Happening
        ) -> Task<Void, Never> where S.Failure == Never {
            Task {
                for await element in source { await happenings.send(happening(element)) }
                if let last { await happenings.send(last) }
            }
        }
        let always = [
            feed(node.output, then: .ended) { .event($0) },
            feed(InputLines().lines(), then: .inputEnded) { .line($0) },
        ]
        guard let logLines else { return always }
        let ticks = AsyncTimerSequence(interval: TerminalLimits.tick, clock: .continuous)
        return always + [
            feed(Terminal.signals) { .terminal($0) },
            feed(logLines) { .log($0) },
            Task { for await _ in ticks { await happenings.send(.tick) } },
        ]
    }

    private func take(_ happening: Happening) async {
        switch happening {
        case .event(let event):
            let lines = screen.show(event, now: now)
            if case .bye = event, display != nil { farewell = lines } else { say(lines) }
        case .line(let line): await take(line)
        case .inputEnded: if let endOfInput { await node.send(endOfInput) }
        case .terminal(let signal): take(signal)
        case .log(let line): say([line])
        case .tick: update()
        case .ended: break
        }
    }

    private func take(_ line: String) async {
        let actions = screen.take(line, now: now)
        entered(actions.flatMap { action -> [String] in if case .say(let lines) = action { lines } else { [] } })
        for case .send(let input) in actions { await node.send(input) }
    }

    private func take(_ signal: Terminal.Signal) {
        switch signal {
        case .resized: draw { $0.resize(Terminal.size, $1) }
        case .suspended:
            if let display { write(display.end([])) }
            Terminal.suspend()
        case .resumed: begin()
        }
    }

    // MARK: Output

    private var now: Duration { ContinuousClock.now - start }

    private func begin() { draw { $0.begin($1) } }

    private func update() { draw { $0.update($1) } }

    private func say(_ lines: [String]) {
        guard display != nil else {
            for line in lines { StandardOutput.write(line) }
            return
        }
        draw { lines.isEmpty ? $0.update($1) : $0.say(lines, $1) }
    }

    private func entered(_ lines: [String]) {
        guard display != nil else { return say(lines) }
        draw { $0.entered(lines, $1) }
    }

    private func draw(_ drawing: (inout LiveDisplay, Panel) -> String) {
        guard var display else { return }
        // In the background the terminal is somebody else's; everything is drawn anew when it is ours again.
        guard Terminal.isOurs else { return }
        write(drawing(&display, Panel(screen, Terminal.size, now: now)))
        self.display = display
    }

    private func write(_ output: String) {
        if !output.isEmpty { StandardOutput.write(unfinished: output) }
    }
}
