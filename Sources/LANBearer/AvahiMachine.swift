// SPDX-License-Identifier: Apache-2.0

import Bearers

/// An event of avahi-daemon or its bus.
enum AvahiEvent: Hashable, Sendable {
    /// Whether the daemon is ready. Nil without a daemon.
    case server(isRunning: Bool?)
    /// The daemon has started or ended.
    case owner(isThere: Bool)
    /// The requested group of records. Nil if the daemon has not created it; then `error` is the reason.
    case group(String?, error: String)
    /// The daemon has accepted the registration, or refused it with an error.
    case taken(error: String)
    /// The state of the registered group.
    case groupState(GroupState)
    /// The requested browser. Nil if the daemon has not created it; then `error` is the reason.
    case browser(String?, error: String)
    /// The browser has stopped.
    case browserFailed(String)
    /// A service has appeared. Its address is still unknown.
    case new(ServicePlace)
    /// The service is gone.
    case removed(ServicePlace)
    /// The answer to the request with this number for a resolver. Nil if the daemon has not created it.
    case resolver(Int, path: String?)
    /// The resolver has found the address of a service.
    case found(FoundService)
    /// A resolver has found nothing.
    case resolverFailed(path: String)

    enum GroupState: Hashable, Sendable {
        case underWay, established, collision
        case failure(String)
    }
}

/// A call to avahi-daemon.
enum AvahiCall: Hashable, Sendable {
    case askState
    case newGroup
    case register(group: String, ServiceRecord)
    case update(group: String, ServiceRecord)
    case reset(group: String)
    case browse
    case freeBrowser(String)
    case resolve(Int, ServicePlace)
    case freeResolver(String)
}

/// Decides which calls to make to avahi-daemon. After each restart of the daemon it repeats the node's requests.
struct AvahiMachine: Sendable {
    /// An action for the directory.
    enum Action: Hashable, Sendable {
        case call(AvahiCall)
        case tell(DirectoryEvent)
    }

    private enum Object: Hashable, Sendable {
        case none, asked
        case made(String)

        var path: String? { if case .made(let path) = self { path } else { nil } }
    }

    private struct Resolver: Sendable {
        var number: Int
        var object = Object.asked
    }

    private var isRunning = false
    /// Whether a failure was reported.
    private var hasFailed = false
    private var wanted: ServiceRecord?
    private var registered: ServiceRecord?
    /// Number of names in a row that other services had taken already.
    private var taken = 0
    private var group = Object.none
    private var wantsOthers = false
    private var browser = Object.none
    private var resolvers: [ServicePlace: Resolver] = [:]
    private var lastNumber = 0
    private var actions: [Action] = []

    // MARK: The node's requests

    /// The node wants to register this record. Nil removes the registration.
    mutating func publish(_ record: ServiceRecord?) -> [Action] {
        if record?.name != wanted?.name { taken = 0 }
        wanted = record
        return proceed()
    }

    /// The node wants to find other nodes.
    mutating func browse() -> [Action] {
        wantsOthers = true
        return proceed()
    }

    /// The bus is connected, for the first time or again.
    mutating func connected() -> [Action] { [.call(.askState)] }

    /// The bus connection is lost.
    mutating func disconnected(_ cause: String) -> [Action] {
        forget()
        fail(BearerError(.serviceNotRunning, cause))
        defer { actions = [] }
        return actions
    }

    // MARK: The daemon's events

    mutating func handle(_ event: AvahiEvent) -> [Action] {
        switch event {
        case .server(true): isRunning = true
        case .server(false):
            // The daemon is changing its host name. The registration still has the old name.
            isRunning = false
            if let path = group.path, registered != nil { call(.reset(group: path)) }
            registered = nil
        case .server(nil), .owner(isThere: false):
            forget()
            fail(BearerError(.serviceNotRunning, "avahi-daemon is not running"))
        case .owner(isThere: true): call(.askState)
        case .group(let path, let error):
            group = path.map { .made($0) } ?? .none
            if path == nil { return failed(error) }
        case .taken(let error):
            if error.hasSuffix("CollisionError") { nameIsTaken() }
        case .groupState(.collision): nameIsTaken()
        case .groupState(.failure(let error)): return failed(error)
        case .groupState: break
        case .browser(let path, let error):
            browser = path.map { .made($0) } ?? .none
            if path == nil { return failed(error) }
        case .browserFailed(let error):
            browser = .none
            return failed(error)
        case .new(let place): resolve(place)
        case .removed(let place):
            if let path = resolvers.removeValue(forKey: place)?.object.path { call(.freeResolver(path)) }
            actions.append(.tell(.gone(place)))
        case .resolver(let number, let path): made(number, path)
        case .found(let service): if resolvers[service.place] != nil { actions.append(.tell(.found(service))) }
        case .resolverFailed(let path):
            call(.freeResolver(path))
            if let place = resolvers.first(where: { $0.value.object == .made(path) })?.key {
                resolvers[place] = nil
                resolve(place)
            }
        }
        return proceed()
    }

    private mutating func proceed() -> [Action] {
        if isRunning {
            if hasFailed { actions.append(.tell(.works)) }
            hasFailed = false
            register()
            if wantsOthers, browser == .none {
                browser = .asked
                call(.browse)
            }
        }
        defer { actions = [] }
        return actions
    }

    private mutating func register() {
        guard var record = wanted else {
            if let path = group.path, registered != nil { call(.reset(group: path)) }
            return registered = nil
        }
        if group == .none {
            group = .asked
            call(.newGroup)
        }
        if taken > 0 { record.name += "-\(taken + 1)" }
        guard let path = group.path, registered != record else { return }
        if let old = registered, old.name == record.name, old.port == record.port {
            call(.update(group: path, record))
        } else {
            if registered != nil { call(.reset(group: path)) }
            call(.register(group: path, record))
        }
        registered = record
    }

    private mutating func nameIsTaken() {
        guard registered != nil else { return }
        if let path = group.path { call(.reset(group: path)) }
        registered = nil
        taken += 1
        // Gives up, because a program that takes one name after another is not a node.
        if taken >= LANLimits.names { wanted = nil }
    }

    private mutating func resolve(_ place: ServicePlace) {
        guard resolvers[place] == nil, resolvers.count < LANLimits.resolvers else { return }
        lastNumber += 1
        resolvers[place] = Resolver(number: lastNumber)
        call(.resolve(lastNumber, place))
    }

    private mutating func made(_ number: Int, _ path: String?) {
        guard let place = resolvers.first(where: { $0.value.number == number })?.key else {
            if let path { call(.freeResolver(path)) }
            return
        }
        if let path { resolvers[place]?.object = .made(path) } else { resolvers[place] = nil }
    }

    /// A call has failed although the daemon runs. The node repeats its request after the daemon's next change of
    /// state.
    private mutating func failed(_ error: String) -> [Action] {
        fail(BearerError(.failed, error))
        defer { actions = [] }
        return actions
    }

    private mutating func fail(_ error: BearerError) {
        guard !hasFailed else { return }
        hasFailed = true
        actions.append(.tell(.failed(error)))
    }

    private mutating func forget() {
        (isRunning, group, browser, registered) = (false, .none, .none, nil)
        for place in resolvers.keys { actions.append(.tell(.gone(place))) }
        resolvers = [:]
    }

    private mutating func call(_ call: AvahiCall) { actions.append(.call(call)) }
}
