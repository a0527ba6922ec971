// SPDX-License-Identifier: Apache-2.0

import CustomDump
import DemocracyDJ
import MeshProtocol
import Testing

/// Tests a feature exhaustively. The test has to state each change of the feature's state and each effect. A difference
/// is recorded as an issue of the test.
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
    /// The time that the feature receives.
    public private(set) var now: MeshInstant

    /// Creates a store for a feature, at a time.
    public init(_ feature: Tested, now: MeshInstant = .zero) {
        self.feature = feature
        self.now = now
    }

    /// Everything that the feature knows.
    public var state: Tested.State { feature.state }

    /// Sends an event and compares the outcome. `changes` turns the earlier state into the expected one. The effects
    /// have to match in order; by default none are expected.
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

    /// Lets time pass. Nothing is sent automatically: send the due events yourself.
    public func advance(by duration: Duration) {
        now += duration
    }

    // CustomDump's own expectation does not report to Swift Testing unless its package is also linked to the test. A
    // difference would pass. So the issue is recorded here.
    private func expectEqual<Value: Equatable>(
        _ expected: Value, _ actual: Value, _ what: String, _ sourceLocation: SourceLocation
    ) {
        guard expected != actual else { return }
        let difference = diff(expected, actual) ?? "They differ in what is not shown."
        Issue.record("\(what) - is expected, + is what came:\n\(difference)", sourceLocation: sourceLocation)
    }
}
