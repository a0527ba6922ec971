// SPDX-License-Identifier: Apache-2.0

import BLETransport

/// What avahi-daemon says, or the bus that it is on.
enum AvahiEvent: Hashable, Sendable {
    /// The daemon's state; nil where there is no daemon.
    case server(isRunning: Bool?)
    /// The daemon has come or gone.
    case owner(isThere: Bool)
    /// The group that was asked for; nil where there is none, and why.
    case group(String?, error: String)
    /// What was registered was taken, or not.
    case taken(error: String)
    /// How the registered group is.
    case groupState(GroupState)
    /// The browser that was asked for.
    case browser(String?, error: String)
    /// It looks no more.
    case browserFailed(String)
    /// A service is there; not yet where.
    case new(ServicePlace)
    /// It is there no more.
    case removed(ServicePlace)
    /// The resolver with this number.
    case resolver(Int, path: String?)
    /// A service, and where it is.
    case found(FoundService)
    /// A resolver has found nothing.
    case resolverFailed(path: String)

    enum GroupState: Hashable, Sendable {
        case underWay, established, collision
        case failure(String)
    }
}

/// What avahi-daemon is asked for.
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

/// Decides what is asked of avahi-daemon, so that what a node wants of it is so again after each of its restarts.
struct AvahiMachine: Sendable {
    /// What is to be done.
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
    /// It was told that nothing works.
    private var hasFailed = false
    private var wanted: ServiceRecord?
    private var registered: ServiceRecord?
    /// Names that were taken.
    private var taken = 0
    private var group = Object.none
    private var wantsOthers = false
    private var browser = Object.none
    private var resolvers: [ServicePlace: Resolver] = [:]
    private var lastNumber = 0
    private var actions: [Action] = []

    // MARK: What a node wants

    /// It wants this registered, or nothing.
    mutating func publish(_ record: ServiceRecord?) -> [Action] {
        if record?.name != wanted?.name { taken = 0 }
        wanted = record
        return proceed()
    }

    /// It looks for others.
    mutating func browse() -> [Action] {
        wantsOthers = true
        return proceed()
    }

    /// The bus is there (again).
    mutating func connected() -> [Action] { [.call(.askState)] }

    /// The bus is gone.
    mutating func disconnected(_ cause: String) -> [Action] {
        forget()
        fail(RadioError(.serviceNotRunning, cause))
        defer { actions = [] }
        return actions
    }

    // MARK: What the daemon says

    mutating func handle(_ event: AvahiEvent) -> [Action] {
        switch event {
        case .server(true): isRunning = true
        case .server(false):
            // It looks for another name of its own; what was registered goes by the old one.
            isRunning = false
            if let path = group.path, registered != nil { call(.reset(group: path)) }
            registered = nil
        case .server(nil), .owner(isThere: false):
            forget()
            fail(RadioError(.serviceNotRunning, "avahi-daemon is not running"))
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
        // Somebody takes one after the other: that is no node.
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

    /// Something did not work although there is a daemon: it does when it is asked anew, after its next change.
    private mutating func failed(_ error: String) -> [Action] {
        fail(RadioError(.failed, error))
        defer { actions = [] }
        return actions
    }

    private mutating func fail(_ error: RadioError) {
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
