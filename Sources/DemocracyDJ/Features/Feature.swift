// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A part of the application that makes decisions: an event goes in, effects come out as data. It reads no clock, draws
/// no random numbers and never waits. Its owner performs the effects, in order.
public protocol Feature: Sendable {
    /// An input.
    associatedtype Event: Sendable
    /// An output that the owner performs.
    associatedtype Effect: Hashable, Sendable
    /// Everything that the feature knows.
    associatedtype State: Hashable, Sendable

    /// Everything that the feature knows.
    var state: State { get }

    /// Handles an event. `now` comes from the owner's clock.
    mutating func handle(_ event: Event, now: MeshInstant) -> [Effect]
}
