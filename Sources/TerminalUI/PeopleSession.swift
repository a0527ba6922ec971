// SPDX-License-Identifier: Apache-2.0

import AsyncAlgorithms
import DemocracyDJ
import MeshNode
import NodeCore

/// A person at a running node: shows the screen, and runs typed commands. A terminal gets a prompt with a panel;
/// otherwise lines come in and go out.
package actor PeopleSession {
    private enum Happening: Sendable {
        case line(String)
        case typed(ArraySlice<UInt8>)
        case inputEnded
        case terminal(Terminal.Signal)
        case log(String)
        case tick
    }

    private let node: Node
    private let told: MarkedEvents
    /// Commands that the node has not handled yet, with the events since.
    private var due: [Int: (confirmation: Confirmation, events: [NodeEvent])] = [:]
    private var lastCommand = 0
    private let endOfInput: NodeInput?
    private let logLines: AsyncStream<String>?
    private var screen: Screen
    private var display: LiveDisplay?
    private var editor: LineEditor?
    private let start = ContinuousClock.now

    /// A session that has not started. `endOfInput` is the meaning of the end of the input if it is not a keyboard. At
    /// a keyboard the end is Ctrl-D, and quits.
    package init(
        _ node: Node, _ description: NodeDescription, library: [Song], endOfInput: NodeInput?, remark: String?,
        secrets: SecretsPlace = .output,
        live: (usesColour: Bool, logLines: AsyncStream<String>)?, picture: (@Sendable (String) -> [String]?)? = nil
    ) {
        self.node = node
        told = node.outputWithMarks()
        self.endOfInput = endOfInput
        logLines = live?.logLines
        screen = Screen(
            description, live == nil ? .lines : .abovePanel, library: library, language: .ofPerson, secrets: secrets,
            picture: picture)
        if let remark { StandardOutput.write(remark) }
        if let live {
            let size = Terminal.size
            editor = LineEditor()
            display = LiveDisplay(
                size: size, usesColour: live.usesColour, panel: Panel(screen, size, now: .zero))
        }
    }

    /// Runs until the node's last event is shown.
    package func run() async {
        let feeders = feeders()
        defer { for feeder in feeders { feeder.cancel() } }
        begin()
        for await item in told.stream {
            switch item {
            case .event(let event):
                take(event)
                for number in due.keys { due[number]?.events.append(event) }
            case .mark(let number): confirm(number)
            }
            if screen.deadline != nil { remind() }
        }
        reminder?.cancel()
        for feeder in feeders { feeder.cancel() }
        hasEnded = true
        if let display, Terminal.isOurs() {
            write(display.end(farewell))
            Terminal.release()
            Terminal.forgetTyping()
        } else {
            for line in farewell { StandardOutput.write(line) }
        }
    }

    /// Shows text that becomes due later, even without an event. An event that shows it earlier may make other text
    /// due.
    private func remind() {
        guard reminder == nil else { return }
        reminder = Task {
            defer { reminder = nil }
            while let deadline = screen.deadline {
                guard (try? await Task.sleep(until: start + deadline, clock: .continuous)) != nil else { return }
                say(screen.overdue(now: now))
            }
        }
    }

    private var reminder: Task<Void, Never>?
    private var farewell: [String] = []
    /// The node's last event is shown, and this program no longer uses the terminal.
    private var hasEnded = false
    /// Whether the terminal must still be taken over: at the start, and after a shell had it.
    private var isAway = true

    /// Other inputs than the node's many events. Each source is read only as fast as the screen is written.
    private func feeders() -> [Task<Void, Never>] {
        func feed<S: AsyncSequence & Sendable>(
            _ source: S, then last: Happening? = nil, _ happening: @escaping @Sendable (S.Element) -> Happening
        ) -> Task<Void, Never> where S.Failure == Never {
            Task {
                for await element in source { await take(happening(element)) }
                if let last { await take(last) }
            }
        }
        guard let logLines else { return [feed(InputLines().lines(), then: .inputEnded) { .line($0) }] }
        let ticks = AsyncTimerSequence(interval: TerminalLimits.tick, clock: .continuous)
        return [
            feed(InputLines().pieces(), then: .inputEnded) { .typed($0) },
            feed(Terminal.signals) { .terminal($0) },
            feed(logLines) { .log($0) },
            feed(ticks) { _ in .tick },
        ]
    }

    private func take(_ happening: Happening) async {
        guard !hasEnded else { return }
        switch happening {
        case .line(let line): await take(line)
        case .typed(let bytes): await take(bytes)
        case .inputEnded: await endInput()
        case .terminal(let signal): take(signal)
        case .log(let line): say([line])
        case .tick: update()
        }
    }

    private func take(_ event: NodeEvent) {
        let lines = screen.show(event, now: now)
        switch event {
        case .bye where display != nil: farewell = lines
        // Later events are visible in the foreground. The page's address is shown only here.
        case .ready(let node) where display != nil && !Terminal.isOurs():
            var told = Sentences(node, .background, screen.language)
            for line in told.lines(event, now: now) { StandardOutput.write(line) }
        default: say(lines)
        }
    }

    private func take(_ line: String) async {
        let actions = screen.take(line, now: now)
        let said = actions.flatMap { action -> [String] in if case .say(let lines) = action { lines } else { [] } }
        if display == nil { say(said) } else { draw { $0.entered(line, said, $1) } }
        for case .send(let input) in actions { await send(input) }
    }

    /// Sends an input, and confirms it when the node has handled it.
    private func send(_ input: NodeInput) async {
        guard due.count < TerminalLimits.dueConfirmations else { return await node.send(input) }
        lastCommand += 1
        let number = lastCommand
        due[number] = (Confirmation(input, screen), [])
        await node.send(input)
        Task {
            _ = await node.answers()
            told.mark(number)
        }
    }

    private func confirm(_ number: Int) {
        guard let (confirmation, events) = due.removeValue(forKey: number) else { return }
        let lines = confirmation.lines(events, screen, now: now)
        if !lines.isEmpty { say(lines) }
    }

    private func take(_ bytes: ArraySlice<UInt8>) async {
        guard var editor else { return }
        let events = editor.take(bytes) { screen.completions(of: $0) }
        self.editor = editor
        for event in events {
            switch event {
            case .entered(let line): await take(line)
            case .ended: await endInput()
            case .listed(let lines):
                let more = lines.count - TerminalLimits.listedCompletions
                say(lines.prefix(TerminalLimits.listedCompletions) + (more > 0 ? ["… and \(more) more"] : []))
            }
        }
        draw { display, _ in display.type(editor.typed) }
    }

    private func endInput() async {
        // If the terminal has gone, its window was closed, and the program may keep running.
        if display != nil || Terminal.hasKeyboard {
            await node.send(.quit(.endOfInput))
        } else if let endOfInput {
            await node.send(endOfInput)
        }
    }

    private func take(_ signal: Terminal.Signal) {
        switch signal {
        case .resized: draw { $0.resized($1) }
        case .suspended:
            if let display, Terminal.isOurs() {
                write(display.end([]))
                Terminal.release()
            }
            Terminal.suspend()
        case .resumed:
            isAway = true
            begin()
        }
    }

    // MARK: Output

    private var now: Duration { ContinuousClock.now - start }

    private func begin() { draw { $0.begin($1) } }

    private func update() { draw { $0.update($1) } }

    private func say(_ lines: [String]) {
        guard display != nil else {
            // The lines are written together: a queue has a dozen lines, and a crowd changes it often.
            if !lines.isEmpty { StandardOutput.write(lines.joined(separator: "\n")) }
            return
        }
        draw { lines.isEmpty ? $0.update($1) : $0.say(lines, $1) }
    }

    private func draw(_ drawing: (inout LiveDisplay, Panel) -> String) {
        guard var display else { return }
        // In the background the terminal belongs to another program. Everything is drawn when the terminal belongs to
        // this program again. A tick detects this if no signal comes.
        guard Terminal.isOurs() else {
            isAway = true
            return
        }
        if isAway { Terminal.hold() }
        display.size = Terminal.size
        let panel = Panel(screen, display.size, now: now)
        write((isAway ? display.begin(panel) : "") + drawing(&display, panel))
        isAway = false
        self.display = display
    }

    private func write(_ output: String) {
        if !output.isEmpty { StandardOutput.write(unfinished: output) }
    }
}
