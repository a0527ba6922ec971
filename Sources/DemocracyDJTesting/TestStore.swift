// SPDX-License-Identifier: Apache-2.0

import CustomDump
import DemocracyDJ
import MeshProtocol
import Testing

/// Holds a test to everything that a feature does: each change of its state and each effect has to be told beforehand, and
/// whatever was not is an issue of the test, shown as a difference.
///
/// ```swift
/// let store = TestStore(HostFeature(local: car, library: library, epoch: 1, now: .zero))
/// await store.send(.multipeerEvent(.peerConnected(bob)), effects: [.broadcast(expected)]) {
///     $0.connectedPeers = [bob]
///     $0.revision = 2
/// }
/// ```
public actor TestStore<Tested: Feature> {
    private var feature: Tested
    /// The time that the feature is told.
    public private(set) var now: MeshInstant

    /// A store for a feature, at a time.
    public init(_ feature: Tested, now: MeshInstant = .zero) {
        self.feature = feature
        self.now = now
    }

    /// What the feature knows.
    public var state: Tested.State { feature.state }

    /// Sends an event, and compares what comes of it: the state with what `changes` makes of the earlier one, and the
    /// effects, in order. What is left out is expected not to be.
    public func send(
        _ event: Tested.Event, effects expectedEffects: [Tested.Effect] = [],
        sourceLocation: SourceLocation = #_sourceLocation,
        changes: @Sendable (inout Tested.State) -> Void = { _ in }
    ) {
        var expected = feature.state
        changes(&expected)
        let effects = feature.handle(event, now: now)
        expectEqual(expected, feature.state, "The state is not the expected one.", sourceLocation)
        expectEqual(expectedEffects, effects, "The effects are not the expected ones.", sourceLocation)
    }

    /// Lets time pass. Nothing happens by itself: send what is due.
    public func advance(by duration: Duration) {
        now += duration
    }

    // CustomDump's own expectation tells Swift Testing nothing where its package is not linked to the test as well: a
    // difference would pass. So the issue is recorded here.
    private func expectEqual<Value: Equatable>(
        _ expected: Value, _ actual: Value, _ what: String, _ sourceLocation: SourceLocation
    ) {
        guard expected != actual else { return }
        let difference = diff(expected, actual) ?? "They differ in what is not shown."
        Issue.record("\(what) - is expected, + is what came:\n\(difference)", sourceLocation: sourceLocation)
    }
}
