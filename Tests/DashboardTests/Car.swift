// SPDX-License-Identifier: Apache-2.0

import NodeCore
import DemocracyDJ
import Logging
import MeshNode
import MeshProtocol
import TestSupport

@testable import Dashboard

/// A host's or a guest's node as the dashboard sees it, and the dashboard. A test sends the node's events.
struct Car {
    static let host = Peer(id: "h0", name: "Dad's Car")
    static let songs = (1...8).map { Song(id: "s\($0)", title: "Song \($0)", artist: "A", duration: 300) }

    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    let dashboard: Dashboard
    let url: String
    let port: Int
    /// The dashboard's inputs to the node.
    let heard: EventQueue<NodeInput>
    private let events: AsyncStream<NodeEvent>.Continuation
    private let running: Task<Void, any Error>

    init(
        role: NodeDescription.Role = .host, host address: String = "127.0.0.1",
        options: DashboardOptions = DashboardOptions(), node: HostInTheCar? = nil, peer named: Peer? = nil,
        pause: @escaping Dashboard.Pause = { try await Task.sleep(for: $0) }, clock: Dashboard.Clock? = nil
    ) async throws {
        let (events, sink) = AsyncStream.makeStream(of: NodeEvent.self)
        let (inputs, heard) = AsyncStream.makeStream(of: NodeInput.self)
        self.heard = EventQueue(inputs)
        self.events = sink
        let peer = named ?? (role == .host ? Self.host : Peer(id: "g0", name: "Ana"))
        let dashboard = Dashboard(
            events: events,
            description: NodeDescription(role: role, peer: peer, radio: "virtual car", service: .democracyDJ),
            address: .listen(host: address, port: 0), options: options,
            logger: Self.quiet, pause: pause, clock: clock, node: HeardNode(node: node, heard: heard))
        self.dashboard = dashboard
        url = try await dashboard.bind() ?? ""
        port = Int(url.split(separator: ":")[2].prefix { $0.isNumber }) ?? 0
        running = Task { try await dashboard.run() }
        await node?.start { sink.yield($0) }
    }

    func tell(_ events: NodeEvent...) { for event in events { self.events.yield(event) } }

    var browser: Browser { Browser(port: port) }

    /// Ends the node and the dashboard.
    func stop() async throws {
        events.yield(.bye(.quit))
        events.finish()
        try await running.value
    }
}

extension Car {
    /// Opens another dashboard on a port, or nowhere. Returns its URL.
    static func another(at port: Int?) async throws -> String? {
        try await dashboard(at: port, of: AsyncStream { nil }).bind()
    }

    /// A dashboard that is not running.
    static func dashboard(
        at port: Int?, of events: AsyncStream<NodeEvent>,
        changed: @escaping @Sendable (DashboardOptions.Change) async -> Void = { _ in }
    ) -> Dashboard {
        var options = DashboardOptions()
        options.changed = changed
        let address = port.map { DashboardAddress.listen(host: "127.0.0.1", port: $0) } ?? .none
        return Dashboard(
            events: events,
            description: NodeDescription(role: .host, peer: host, radio: "virtual", service: .democracyDJ),
            address: address, options: options, logger: quiet,
            node: HeardNode(node: nil, heard: AsyncStream.makeStream(of: NodeInput.self).continuation))
    }

    /// The same, with the stream for its node's events.
    static func dashboardAndEvents(
        at port: Int?, changed: @escaping @Sendable (DashboardOptions.Change) async -> Void = { _ in }
    ) -> (Dashboard, AsyncStream<NodeEvent>.Continuation) {
        let (events, sink) = AsyncStream.makeStream(of: NodeEvent.self)
        return (dashboard(at: port, of: events, changed: changed), sink)
    }
}

/// Passes the dashboard's inputs to the test as well.
private struct HeardNode: PageNode {
    let node: HostInTheCar?
    let heard: AsyncStream<NodeInput>.Continuation

    func send(_ input: NodeInput) async {
        heard.yield(input)
        await node?.send(input)
    }

    func join(_ peer: Peer, claiming claim: JoiningSecret?) async throws(RefusalReason) -> LocalLink {
        guard let node else { throw .ended }
        return try await node.join(peer, claiming: claim)
    }

    func answers() async -> Bool { await node?.answers() ?? true }

    func rename(_ id: MeshCore.LinkID, _ peer: Peer) async { await node?.rename(id, peer) }

    func say(_ message: MeshMessage, number: UInt64, on id: MeshCore.LinkID) async {
        await node?.say(message, number: number, on: id)
    }

    func leave(_ id: MeshCore.LinkID, _ end: LinkEnd) async { await node?.leave(id, end) }
}

/// A host's node without a radio, and with a disk that a test controls.
actor HostInTheCar: PageNode {
    enum Disk { case takes, hangs, refuses }

    private var loop: NodeLoop
    private var disk = Disk.takes
    private var isWriting = false
    private var shown: (@Sendable (NodeEvent) -> Void)?
    private var links: [MeshCore.LinkID: AsyncStream<LocalLink.Event>.Continuation] = [:]
    private var questions: [Int: CheckedContinuation<Void, Never>] = [:]
    private var lastQuestion = 0
    private var now: MeshInstant = .seconds(1)

    init(pin: JoiningSecret? = nil, identity: Identity = .make()) {
        let hosting = Hosting(SongLibrary(Car.songs), Fairness(majoritySkip: true), pin: pin, wallClockSeconds: 1)
        loop = NodeLoop(
            NodeCore.Configuration(
                .host(hosting),
                NodeDescription(
                    role: .host, peer: pin == nil ? Car.host : Peer(id: identity.peerID, name: "Dad's Car"),
                    radio: "virtual car", service: .democracyDJ),
                identity: identity, contents: StoredNode(), origin: .now, seed: 1),
            waking: .last)
    }

    func start(_ shown: @escaping @Sendable (NodeEvent) -> Void) {
        self.shown = shown
        take(.started)
    }

    /// Changes the disk. If it accepts writes again, the delayed ones are done.
    func disk(_ disk: Disk) {
        self.disk = disk
        guard disk == .takes else { return }
        if isWriting {
            isWriting = false
            take(.written)
        } else {
            now += .seconds(2)
            take(.tick)
        }
    }

    func send(_ input: NodeInput) {
        var input = input
        if case .invite(var wish) = input {
            wish.entropy = (0..<24).map { _ in .random(in: .min ... .max) }
            input = .invite(wish)
        }
        take(.input(input))
    }

    func answers() async -> Bool {
        lastQuestion += 1
        await withCheckedContinuation { waiter in
            questions[lastQuestion] = waiter
            take(.asked(lastQuestion))
        }
        return true
    }

    func join(_ peer: Peer, claiming claim: JoiningSecret?) throws(RefusalReason) -> LocalLink {
        let (id, refusal) = loop.join(peer, claiming: claim, now: now)
        let (events, sink) = AsyncStream.makeStream(of: LocalLink.Event.self)
        links[id] = sink
        performActions()
        if let refusal { throw refusal }
        return LocalLink(id, events)
    }

    func rename(_ id: MeshCore.LinkID, _ peer: Peer) { take(.joined(id, peer)) }

    func say(_ message: MeshMessage, number: UInt64, on id: MeshCore.LinkID) {
        take(.said(message, number: number, on: id))
    }

    func leave(_ id: MeshCore.LinkID, _ end: LinkEnd) {
        take(.left(id, end))
        links.removeValue(forKey: id)?.finish()
    }

    private func take(_ event: NodeCore.Event) {
        loop.take(event, now: now)
        performActions()
    }

    private func performActions() {
        while let action = loop.next(now: now, entropy: .random()) { perform(action) }
    }

    private func perform(_ action: NodeCore.Action) {
        switch action {
        case .answered(let question): questions.removeValue(forKey: question)?.resume()
        case .write:
            switch disk {
            case .takes: take(.written)
            case .hangs: isWriting = true
            case .refuses: take(.writeFailed(NodeStoreError(.diskFull, cause: "a test")))
            }
        case .deliver(let message, let id): links[id]?.yield(.message(message))
        case .acknowledge(let number, let id): links[id]?.yield(.acknowledged(number))
        case .end(let id, let end):
            links[id]?.yield(.ended(end))
            links.removeValue(forKey: id)?.finish()
        case .show(let event): shown?(event)
        default: break
        }
    }
}
