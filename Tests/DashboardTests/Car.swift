// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Logging
import MeshNode
import MeshProtocol
import TestSupport

@testable import Dashboard

/// A host's or a guest's node as a dashboard knows one, and the dashboard: a test says what the node tells.
struct Car {
    static let host = Peer(id: "h0", name: "Dad's Car")
    static let songs = (1...8).map { Song(id: "s\($0)", title: "Song \($0)", artist: "A", duration: 300) }

    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    let dashboard: Dashboard
    let url: String
    let port: Int
    /// What the dashboard has said to the node.
    let heard: EventQueue<NodeInput>
    private let events: AsyncStream<NodeEvent>.Continuation
    private let running: Task<Void, any Error>

    init(
        role: NodeDescription.Role = .host, host address: String = "127.0.0.1",
        options: DashboardOptions = DashboardOptions(), node: (@Sendable (NodeInput) async -> [NodeEvent])? = nil,
        pause: @escaping Dashboard.Pause = { try await Task.sleep(for: $0) }
    ) async throws {
        let (events, sink) = AsyncStream.makeStream(of: NodeEvent.self)
        let (inputs, heard) = AsyncStream.makeStream(of: NodeInput.self)
        self.heard = EventQueue(inputs)
        self.events = sink
        let peer = role == .host ? Self.host : Peer(id: "g0", name: "Ana")
        let dashboard = Dashboard(
            events: events,
            description: NodeDescription(role: role, peer: peer, radio: "virtual car", service: .democracyDJ),
            address: .listen(host: address, port: 0), options: options,
            logger: Self.quiet, pause: pause
        ) { input in
            heard.yield(input)
            for event in await node?(input) ?? [] { sink.yield(event) }
        }
        self.dashboard = dashboard
        url = try await dashboard.bind() ?? ""
        port = Int(url.split(separator: ":")[2].prefix { $0.isNumber }) ?? 0
        running = Task { try await dashboard.run() }
    }

    func tell(_ events: NodeEvent...) { for event in events { self.events.yield(event) } }

    var browser: Browser { Browser(port: port) }

    /// The node ends, and so does the dashboard.
    func stop() async throws {
        events.yield(.bye(.quit))
        events.finish()
        try await running.value
    }
}

extension Car {
    /// Another dashboard on a port, or nowhere. Its URL.
    static func another(at port: Int?) async throws -> String? {
        let address = port.map { DashboardAddress.listen(host: "127.0.0.1", port: $0) } ?? .none
        let dashboard = Dashboard(
            events: AsyncStream { nil },
            description: NodeDescription(role: .host, peer: host, radio: "virtual", service: .democracyDJ),
            address: address, options: DashboardOptions(), logger: quiet
        ) { _ in }
        return try await dashboard.bind()
    }
}

/// A host's decisions, in the place of its node.
actor HostInTheCar {
    private var feature = HostFeature(
        local: Car.host, library: SongLibrary(Car.songs), fairness: Fairness(majoritySkip: true), epoch: 1, now: .zero)

    var snapshot: HostSnapshot { feature.snapshot }

    func take(_ input: NodeInput) -> [NodeEvent] {
        switch input {
        case .web(let event): events(.multipeerEvent(event))
        case .host(let command): events(.command(command))
        default: []
        }
    }

    private func events(_ event: HostFeature.Event) -> [NodeEvent] {
        feature.handle(event, now: .seconds(1)).compactMap { effect in
            switch effect {
            case .broadcast(let snapshot): .snapshot(snapshot, isStale: false)
            case .report(let intent, let peer, let rejected): .intent(intent, from: peer, rejected: rejected)
            case .disconnect(let peer): .sentAway(peer)
            case .notice(let notice): .notice(notice)
            case .send, .heartbeat, .search, .reject: nil
            }
        }
    }
}
