// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshNode
import NodeCore

/// A program at a running node: it receives each event, and the view on request, as one JSON object per line. Its input
/// lines are run as commands.
actor ProgramSession {
    private let node: Node
    private let reader: CommandReader
    private let remark: String?
    private let hidesSecrets: Bool
    private let endOfInput: NodeInput?
    private let pageState: @Sendable () async -> NodeWatch.PageState
    private let start = ContinuousClock.now
    private var watch: NodeWatch
    private var choice = SongChoice()
    private var lines = EventLines()
    private var versions = ToldVersions()
    private var isReady = false
    /// The view was requested before the node was ready. The ready event must come first.
    private var isViewDue = false

    /// A session that has not started. `remark` goes to standard error when the node is ready, so that a start that fails
    /// writes its reason alone. `endOfInput` is the meaning of the end of its input. With `hidesSecrets` its output goes to
    /// a log, so it contains no tokens, PIN or invitations.
    init(
        _ node: Node, _ description: NodeDescription, remark: String?, hidesSecrets: Bool = false,
        endOfInput: NodeInput?,
        pageState: @escaping @Sendable () async -> NodeWatch.PageState
    ) {
        self.node = node
        self.remark = remark
        self.hidesSecrets = hidesSecrets
        self.endOfInput = endOfInput
        self.pageState = pageState
        reader = CommandReader(description)
        watch = NodeWatch(description)
    }

    /// Runs until the node's last event is sent.
    func run() async {
        let listening = Task { await listen() }
        for await event in node.output { await take(event) }
        listening.cancel()
    }

    private func listen() async {
        for await line in InputLines().lines() {
            switch reader.meaning(ofProgram: line, choice) {
            case .input(let input)?: await node.send(input)
            case .view?: await tellView()
            case .lines?, nil: break
            }
        }
        if let endOfInput { await node.send(endOfInput) }
    }

    private func take(_ event: NodeEvent) async {
        _ = watch.handle(event, now: ContinuousClock.now - start)
        switch event {
        case .snapshot(let snapshot, _): choice.shown = snapshot
        case .searchResults(let found, let query): choice.take(found, for: query)
        case .library(let library): choice.library = library.songs
        default: break
        }
        if case .ready = event, let remark { StandardError.write("roadmesh: \(remark)") }
        if let event = hidesSecrets ? event.withoutSecrets : event {
            StandardOutput.write(lines.text(event, at: Date().timeIntervalSince1970))
        }
        guard case .ready = event else { return }
        isReady = true
        if isViewDue { await tellView() }
    }

    private func tellView() async {
        isViewDue = !isReady
        let pageState = await pageState()
        // The event `bye` must be the last.
        guard isReady, watch.own.ended == nil else { return }
        var shown = watch.view(pageState, version: 0, now: ContinuousClock.now - start)
        if hidesSecrets { shown.invitation = nil }
        let view = versions.numbered(shown)
        StandardOutput.write(JSONLine.text(TimedView(view, at: Date().timeIntervalSince1970)))
    }
}

/// Numbers the views that are sent. Not every change of a view has an event: a notice ends automatically, and only the
/// page's server knows passengers. So each view is compared with the previous one.
struct ToldVersions {
    private var last: NodeView?

    /// The view with its number. The number changes if anything but the elapsed time has changed.
    mutating func numbered(_ view: NodeView) -> NodeView {
        var view = view
        view.version = last?.version ?? 1
        if var last {
            last.elapsed = view.elapsed
            if last != view { view.version += 1 }
        }
        last = view
        return view
    }
}
