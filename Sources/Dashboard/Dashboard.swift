// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Glibc
import Logging
import MeshNode
import MeshProtocol
import NIOCore
import NodeCore
import ServiceLifecycle

/// A node's page for browsers. It shows the node's state and sends people's commands to the node. On a host it also
/// acts as the node of passengers who have only a browser. `docs/dashboard.md` is its contract.
///
/// It listens after `bind`. `run` follows the node's events, and returns when the node ends.
public actor Dashboard: Service {
    /// Waits for a duration.
    typealias Pause = @Sendable (Duration) async throws -> Void
    /// The time since the dashboard was created.
    typealias Clock = @Sendable () -> MeshInstant

    let description: NodeDescription
    let options: DashboardOptions
    let logger: Logger
    /// Waits between two views of a stream, and until a tap times out. Tests replace it.
    let pause: Pause
    private let address: DashboardAddress
    /// The node's events. Nil without a page, because the stream would buffer thousands of unread events.
    private let events: AsyncStream<NodeEvent>?
    /// The clock of the dashboard. Tests replace it.
    private let clock: Clock

    var view: NodeWatch
    var webGuests: WebGuests
    var streams = ViewStreams()
    /// Wakes the sender of each stream.
    var sinks: [ViewStreams.ID: AsyncStream<Void>.Continuation] = [:]
    var versions = ViewVersions()
    var encoded: [ViewStreams.Viewer: EncodedView] = [:]
    var searches: [Int: OpenSearch] = [:]
    /// Taps that the node has not stored yet.
    var taps: [Int: OpenTap] = [:]
    /// The last number of a search or a tap.
    var lastNumber = 0
    var commandRates = Rates(perSecond: DashboardLimits.commandsPerSecond, burst: DashboardLimits.commandBurst)
    var searchRates = Rates(perSecond: DJLimits.searchesPerSecond, burst: DJLimits.searchBurst)
    var joinRates = Rates(perSecond: DashboardLimits.joinsPerSecond, burst: DashboardLimits.joinBurst)
    let node: any PageNode
    let feed: NodeFeed
    /// Called when the last stream closes.
    var whenNobodyLooks: (@Sendable () -> Void)?

    private var isWorthAPage = false
    private var listening = ListeningPolicy()
    /// The address that a browser of another device has opened. Nil when this device loses the address.
    private var opened: String?
    private var isReachable = true
    private var networkChange: AsyncStream<Void>.Continuation?
    private var server: (door: DashboardServer, url: String, serving: Task<Void, Never>)?

    /// Creates a dashboard for a node that does not run yet. It shows all events of the node from now on.
    public init(
        node: Node, description: NodeDescription, address: DashboardAddress,
        options: DashboardOptions = DashboardOptions(), logger: Logger
    ) {
        self.init(
            events: node.events(), description: description, address: address, options: options, logger: logger,
            node: node)
    }

    init(
        events: AsyncStream<NodeEvent>, description: NodeDescription, address: DashboardAddress,
        options: DashboardOptions, logger: Logger,
        pause: @escaping Pause = { try await Task.sleep(for: $0) }, clock: Clock? = nil, node: any PageNode
    ) {
        self.events = address == .none ? nil : events
        self.description = description
        self.address = address
        self.options = options
        self.logger = logger
        self.pause = pause
        self.clock = clock ?? { [origin = ContinuousClock.now] in ContinuousClock.now - origin }
        view = NodeWatch(
            description,
            NodeWatch.Surroundings(
                majoritySkip: options.majoritySkip, hasPictures: options.art != nil,
                pictureAddress: { "/art/" + PercentCoding.encoded($0) }))
        webGuests = WebGuests(host: description.peer)
        self.node = node
        feed = NodeFeed(node)
    }

    var now: MeshInstant { clock() }

    /// The number of open connections.
    var connectionCount: Int { server?.door.connections.count ?? 0 }

    /// Whether passengers may join with a browser.
    var invites: Bool { options.webGuests && description.role == .host }

    // MARK: Listening

    /// Starts to listen. Returns the URL to open, with a token if the page requires one. Returns nil if there is no
    /// dashboard, or if the address is not available yet; in this case `run` tries again. Throws a `SetupProblem` if
    /// the address can never work.
    public func bind() async throws -> String? {
        if let server { return server.url }
        guard case .listen(let host, let port) = address else { return nil }
        do {
            let url = try await listen(host, port)
            listening.listens()
            return url
        } catch {
            let cause = Self.text(error)
            guard let code = (error as? IOError)?.errnoCode, !ListeningPolicy.isLasting(code) else {
                throw SetupProblem(
                    .usage,
                    "The page cannot be shown at \(Self.shown(host, port)) (\(cause)). "
                        + "Choose another address or port with --http, or --http none.")
            }
            if listening.failed(cause, now: now) {
                logger.notice("The page cannot be shown at \(Self.shown(host, port)) yet: \(cause)")
            }
            return nil
        }
    }

    private static func shown(_ host: String, _ port: Int) -> String { "\(LocalAddresses.inURL(host)):\(port)" }

    private func listen(_ host: String, _ port: Int) async throws -> String {
        let gate = Gate(
            host: host, tokens: options.tokens, invites: invites, hasPIN: options.pin != nil,
            localAddresses: options.networks().useful)
        let door = try await listenAgain(host, port, gate)
        server = (door, "", Task { await door.run() })
        return move(host, door.port) ?? ""
    }

    /// Chooses the page's address for the current networks. Returns the URL if it has changed.
    private func move(_ host: String, _ port: Int) -> String? {
        var networks = options.networks()
        if let opened, !networks.useful.contains(opened) { self.opened = nil }
        networks.opened = opened
        let chosen = networks.chosen(for: host)
        isReachable = chosen != nil
        let base = "http://\(LocalAddresses.inURL(chosen ?? (host == "::" ? "::1" : "127.0.0.1"))):\(port)"
        let url = address.isLoopback ? base + "/" : base + "/?token=\(options.tokens.driver)"
        guard server != nil, url != server?.url || invites && isReachable != (door != nil) else { return nil }
        server?.url = url
        // No code is shown if phones cannot open the address.
        door = invites && isReachable ? base : nil
        view.surroundings.invitation = invitation
        return url
    }

    /// The base URL where guests' browsers join. Nil if they may not, or if the dashboard does not listen.
    public private(set) var door: String?

    /// The link that admits guests' browsers. Nil if they may not join.
    public var passengers: String? { door.map { $0 + "/join?token=\(options.tokens.guest)" } }

    /// The port that the dashboard listens on. Nil if it does not listen.
    public var port: Int? { server?.door.port }

    /// Starts to listen. If any port may be used, it prefers the port of the previous start, because browsers look
    /// there.
    private func listenAgain(_ host: String, _ port: Int, _ gate: Gate) async throws -> DashboardServer {
        if port == 0, let former = options.formerPort, (1...65_535).contains(former),
            let door = try? await listen(host, former, gate)
        {
            return door
        }
        return try await listen(host, port, gate)
    }

    private func listen(_ host: String, _ port: Int, _ gate: Gate) async throws -> DashboardServer {
        let connections = Connections(limit: options.connections)
        return try await DashboardServer(
            host: host, port: port, responder: DashboardResponder(self, gate, connections),
            connections: connections, logger: logger)
    }

    /// The system's error text, without the name of the failed call.
    private static func text(_ error: any Error) -> String {
        (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
    }

    private var invitation: NodeView.Invitation? {
        guard description.role == .host, invites || options.pin != nil else { return nil }
        let url = passengers
        let name = UntrustedText.shown(description.peer.name)
        var shown = NodeView.Invitation(
            name: name, pin: options.pin, url: url, qr: url == nil ? nil : "/invitation.svg")
        if let wifi = options.wifi, url != nil {
            shown.wifi = NodeView.Invitation.Wifi(name: UntrustedText.shown(wifi.name), qr: "/wifi.svg")
        }
        return shown
    }

    /// The parts of the page that do not come from the node's events.
    package var pageState: NodeWatch.PageState {
        var surroundings = view.surroundings
        if server == nil { surroundings.pictureAddress = nil }
        return NodeWatch.PageState(surroundings, library: view.library, webGuests: webGuests.present)
    }

    // MARK: Running

    /// Follows the node until it ends, then shows its end on the pages and closes the server.
    public func run() async throws {
        guard let events else { return }
        _ = try await bind()
        await withTaskGroup { group in
            group.addTask {
                await self.listenAtLast()
                await self.followNetworks()
            }
            group.addTask { await self.feed.run() }
            group.addTask { await self.watchTheTime() }
            for await event in events.cancelOnGracefulShutdown() { take(event) }
            group.cancelAll()
        }
        await finish()
    }

    /// Retries until the dashboard can listen, and reports why it cannot.
    private func listenAtLast() async {
        guard case .listen(let host, let port) = address else { return }
        var told: String?
        while server == nil, let at = listening.retryAt {
            if let cause = listening.cause, cause != told {
                told = cause
                await options.changed(.notShown(at: Self.shown(host, port), cause: cause))
            }
            guard (try? await pause(max(.zero, at - now))) != nil else { return }
            guard let url = try? await bind(), let server else { continue }
            publish()
            await options.changed(.shown(url: url, door: door, passengers: passengers, port: server.door.port))
        }
    }

    /// Follows the addresses of this device. A host may start before its Wi-Fi, and the network may change later.
    private func followNetworks() async {
        guard case .listen(let host, _) = address else { return }
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watch = NetworkWatch { change.yield() }
        if watch == nil { logger.warning("changes of this device's addresses cannot be followed") }
        networkChange = change
        // The first pass also handles changes since the page began to listen.
        change.yield()
        var told = true
        for await _ in changes {
            guard let server, (try? await pause(DashboardLimits.networkSettle)) != nil else { break }
            if let url = move(host, server.door.port) {
                publish()
                await options.changed(.shown(url: url, door: door, passengers: passengers, port: server.door.port))
            }
            if isReachable != told {
                told = isReachable
                await options.changed(.reachable(told))
            }
        }
        withExtendedLifetime(watch) {}
    }

    /// A browser of another device has opened this address, so phones can open it as well.
    func wasOpened(at address: String) {
        guard opened == nil else { return }
        opened = address
        networkChange?.yield()
    }

    private func watchTheTime() async {
        while (try? await Task.sleep(for: DashboardLimits.tick)) != nil { tick() }
    }

    private func finish() async {
        _ = view.end()
        feed.close()
        for search in searches.keys { answer(search, .noAnswer) }
        for tap in taps.keys { settle(tap, .noAnswer) }
        publish()
        await streamsEnd()
        server?.door.close()
        await server?.serving.value
    }

    /// Returns when every page has received the last view, or after `lastView`.
    private func streamsEnd() async {
        guard streams.count > 0 else { return }
        let (ends, end) = AsyncStream<Void>.makeStream()
        whenNobodyLooks = { end.finish() }
        let alarm = Task { [time = options.lastView] in
            try? await Task.sleep(for: time)
            end.finish()
        }
        for await _ in ends {}
        alarm.cancel()
    }

    // MARK: What happens

    /// Shows how much of the library has been read.
    public func show(_ library: LibraryCount) { show(view.take(library)) }

    func take(_ event: NodeEvent) {
        // The answer to a typed line is on the terminal where it was typed.
        if case .notice(let notice) = event, notice.isTyped { return }
        show(view.handle(event, now: now))
        switch event {
        case .searchResults(let found, let query): self.found(found, for: query)
        case .bans(let bans, _): perform(webGuests.admit(allBut: Set(bans.map(\.peer.id))))
        default: break
        }
    }

    private func tick() {
        perform(webGuests.tick(now: now))
        show(view.tick(now: now))
        if isWorthAPage { publish() }
        // Some streams may be due for a ping.
        for sink in sinks.values { sink.yield() }
    }

    func show(_ change: NodeWatch.Change) {
        switch change {
        case .none: break
        case .soon: isWorthAPage = true
        case .now: publish()
        }
    }

    /// Marks the view of every page as changed.
    func publish() {
        isWorthAPage = false
        versions.changed(nil)
        for sink in sinks.values { sink.yield() }
    }

    func perform(_ actions: [WebGuests.Action]) {
        for action in actions {
            switch action {
            case .say(let said, let link):
                feed.put { await $0.say(said.message, number: said.number, on: link) }
            case .rename(let link, let peer): feed.put { await $0.rename(link, peer) }
            case .leave(let link, let end):
                for (number, tap) in taps where tap.link == link { settle(number, .notJoined) }
                feed.put { await $0.leave(link, end) }
            case .changed(let id):
                versions.changed(.webGuest(id))
                for stream in streams.all(of: .webGuest(id)) { sinks[stream]?.yield() }
            }
        }
    }
}
