// SPDX-License-Identifier: Apache-2.0

import CustomDump
import DemocracyDJ
import MeshProtocol

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
        fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
        changes: @Sendable (inout Tested.State) -> Void = { _ in }
    ) {
        var expected = feature.state
        changes(&expected)
        let effects = feature.handle(event, now: now)
        expectNoDifference(
            expected, feature.state, "The state is not the expected one.", fileID: fileID, filePath: filePath,
            line: line,
            column: column)
        expectNoDifference(
            expectedEffects, effects, "The effects are not the expected ones.", fileID: fileID, filePath: filePath,
            line: line, column: column)
    }

    /// Lets time pass. Nothing happens by itself: send what is due.
    public func advance(by duration: Duration) {
        now += duration
    }
}
