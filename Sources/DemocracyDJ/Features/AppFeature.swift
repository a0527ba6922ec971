// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides for the application: whether it hosts, joins or waits for that choice. `HostFeature` and `GuestFeature`
/// decide the rest.
public struct AppFeature: Feature {
    /// An input of the application.
    public enum Event: Sendable {
        /// The person starts to host.
        case startHosting(HostFeature)
        /// The person starts to join.
        case startJoining(GuestFeature)
        /// The person ends hosting or joining: a host ends the session for all guests, and a guest leaves.
        case endSession
        /// An event of the network.
        case multipeerEvent(MultipeerEvent)
        /// An event for the host.
        case host(HostFeature.Event)
        /// An event for the guest.
        case guest(GuestFeature.Event)
    }

    /// An output that the owner performs.
    public enum Effect: Hashable, Sendable {
        /// An effect of the host.
        case host(HostFeature.Effect)
        /// An effect of the guest.
        case guest(GuestFeature.Effect)
        /// Show an error.
        case show(NetworkError)
        /// Clear an error, since its cause is over.
        case clear(NetworkError)
    }

    /// The role that the application has.
    public enum State: Hashable, Sendable {
        /// The start: the person has yet to choose between hosting and joining.
        case choosing
        /// The app hosts.
        case hosting(HostFeature.State)
        /// The app is a guest.
        case joining(GuestFeature.State)
    }

    private enum Mode {
        case choosing
        case hosting(HostFeature)
        case joining(GuestFeature)
    }

    private var mode = Mode.choosing

    /// Creates an application without a role.
    public init() {}

    /// The role, with the state of its feature.
    public var state: State {
        switch mode {
        case .choosing: .choosing
        case .hosting(let host): .hosting(host.state)
        case .joining(let guest): .joining(guest.state)
        }
    }

    /// The host's feature; nil if the application does not host.
    public var host: HostFeature? { if case .hosting(let host) = mode { host } else { nil } }

    /// The guest's feature; nil if the application does not join.
    public var guest: GuestFeature? { if case .joining(let guest) = mode { guest } else { nil } }

    /// Whether the app hosts. This is stored, because it is read after each event, and reading the feature would copy
    /// it.
    public private(set) var isHosting = false

    /// Whether the app is a guest.
    public private(set) var isJoining = false

    // These are read with each step, without a copy of the features' state.

    /// Whether the guest shows a state that came over its present link.
    package var isCurrent: Bool { if case .joining(let guest) = mode { guest.state.isCurrent } else { false } }

    /// The host's state as the guest shows it.
    package var hostSnapshot: HostSnapshot? {
        if case .joining(let guest) = mode { guest.state.hostSnapshot } else { nil }
    }

    /// The state that a host keeps across restarts.
    package func savedSession(now: MeshInstant) -> SavedSession? {
        if case .hosting(let host) = mode { host.savedSession(now: now) } else { nil }
    }

    /// The state that a guest keeps across restarts.
    package var savedGuest: SavedGuest? { if case .joining(let guest) = mode { guest.saved } else { nil } }

    /// When the host's `tick` is due.
    public var deadline: MeshInstant? {
        // This is read after each event, so a guest returns without a copy of its feature.
        guard isHosting, case .hosting(let host) = mode else { return nil }
        return host.deadline
    }

    /// Handles an event. An event that does not fit the role changes nothing.
    public mutating func handle(_ event: Event, now: MeshInstant) -> [Effect] {
        // The features' state is swapped out and back in, so that it is not copied.
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

    /// Returns to the start.
    private mutating func end() -> [Effect] {
        (mode, isHosting, isJoining) = (.choosing, false, false)
        return []
    }

    /// Whether an event returns the application to the start.
    private func isEnd(_ event: Event) -> Bool {
        switch event {
        // An invalidated session is fatal: the application has nothing to resume.
        case .endSession, .multipeerEvent(.sessionInvalidated): true
        default: false
        }
    }

    /// Effects that hosts and guests share.
    private func banner(_ event: MultipeerEvent) -> [Effect] {
        switch event {
        case .networkUnavailable: [.show(.networkUnavailable)]
        // A linked node has a network.
        case .peerConnected: [.clear(.networkUnavailable)]
        default: []
        }
    }
}
