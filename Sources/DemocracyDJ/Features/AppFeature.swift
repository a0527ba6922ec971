// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides for the whole application: whether it hosts, joins, or is yet to be told which; the rest is the host's or the
/// guest's feature.
public struct AppFeature: Feature {
    /// What can happen.
    public enum Event: Sendable {
        /// The person hosts.
        case startHosting(HostFeature)
        /// The person joins.
        case startJoining(GuestFeature)
        /// The person has enough: the host ends the session for everybody, a guest leaves.
        case endSession
        /// The network says something.
        case multipeerEvent(MultipeerEvent)
        /// Something happens to the host.
        case host(HostFeature.Event)
        /// Something happens to the guest.
        case guest(GuestFeature.Event)
    }

    /// What is to be done.
    public enum Effect: Hashable, Sendable {
        /// The host decides so.
        case host(HostFeature.Effect)
        /// The guest decides so.
        case guest(GuestFeature.Effect)
        /// Show an error.
        case show(NetworkError)
        /// Clear an error: its cause is over.
        case clear(NetworkError)
    }

    /// What the application is doing.
    public enum State: Hashable, Sendable {
        /// The start: host or join?
        case choosing
        /// It hosts.
        case hosting(HostFeature.State)
        /// It is a guest.
        case joining(GuestFeature.State)
    }

    private enum Mode {
        case choosing
        case hosting(HostFeature)
        case joining(GuestFeature)
    }

    private var mode = Mode.choosing

    /// An application that is yet to be told what to do.
    public init() {}

    /// What the application is doing.
    public var state: State {
        switch mode {
        case .choosing: .choosing
        case .hosting(let host): .hosting(host.state)
        case .joining(let guest): .joining(guest.state)
        }
    }

    /// The host's decisions, where it hosts.
    public var host: HostFeature? { if case .hosting(let host) = mode { host } else { nil } }

    /// The guest's decisions, where it joins.
    public var guest: GuestFeature? { if case .joining(let guest) = mode { guest } else { nil } }

    /// Whether it hosts. Stored, since a look at the whole feature copies it, and this is asked after each event.
    public private(set) var isHosting = false

    /// Whether it is a guest.
    public private(set) var isJoining = false

    // What is asked with each step, without a copy of all that the features know.

    /// Whether a guest shows what its host has said over the present link.
    package var isCurrent: Bool { if case .joining(let guest) = mode { guest.state.isCurrent } else { false } }

    /// What a guest shows of its host.
    package var hostSnapshot: HostSnapshot? {
        if case .joining(let guest) = mode { guest.state.hostSnapshot } else { nil }
    }

    /// What a host must not forget.
    package func savedSession(now: MeshInstant) -> SavedSession? {
        if case .hosting(let host) = mode { host.savedSession(now: now) } else { nil }
    }

    /// What a guest must not forget.
    package var savedGuest: SavedGuest? { if case .joining(let guest) = mode { guest.saved } else { nil } }

    /// When the host's `tick` is due.
    public var deadline: MeshInstant? {
        // Asked after each event: of a guest nothing is looked at.
        guard isHosting, case .hosting(let host) = mode else { return nil }
        return host.deadline
    }

    /// Takes an event. What does not fit what the application is doing changes nothing.
    public mutating func handle(_ event: Event, now: MeshInstant) -> [Effect] {
        // Taken out and put back, so that the features' state is not copied.
        var doing = Mode.choosing
        swap(&doing, &mode)
        switch consume doing {
        case .choosing:
            begin(event)
            return []
        case .hosting(var host):
            if isEnd(event) { return end() }
            defer { mode = .hosting(host) }
            switch event {
            case .host(let event): return host.handle(event, now: now).map(Effect.host)
            case .multipeerEvent(let event):
                return banner(event) + host.handle(.multipeerEvent(event), now: now).map(Effect.host)
            default: return []
            }
        case .joining(var guest):
            if isEnd(event) { return end() }
            defer { mode = .joining(guest) }
            switch event {
            case .guest(let event): return guest.handle(event, now: now).map(Effect.guest)
            case .multipeerEvent(let event):
                return banner(event) + guest.handle(.multipeerEvent(event), now: now).map(Effect.guest)
            default: return []
            }
        }
    }

    private mutating func begin(_ event: Event) {
        switch event {
        case .startHosting(let host): (mode, isHosting) = (.hosting(host), true)
        case .startJoining(let guest): (mode, isJoining) = (.joining(guest), true)
        default: break
        }
    }

    /// Back to the start.
    private mutating func end() -> [Effect] {
        (mode, isHosting, isJoining) = (.choosing, false, false)
        return []
    }

    /// Whether an event leads back to the start.
    private func isEnd(_ event: Event) -> Bool {
        switch event {
        // The second is fatal: there is nothing left to come back to.
        case .endSession, .multipeerEvent(.sessionInvalidated): true
        default: false
        }
    }

    /// What everybody is told, host or guest.
    private func banner(_ event: MultipeerEvent) -> [Effect] {
        switch event {
        case .networkUnavailable: [.show(.networkUnavailable)]
        // A node that is linked has a network.
        case .peerConnected: [.clear(.networkUnavailable)]
        default: []
        }
    }
}
