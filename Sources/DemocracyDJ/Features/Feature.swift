// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A part of the application that decides: an event goes in, effects come out, as data. It reads no clock, draws no random
/// number and never waits; its owner performs the effects, in order.
public protocol Feature: Sendable {
    /// What can happen.
    associatedtype Event: Sendable
    /// What is to be done.
    associatedtype Effect: Hashable, Sendable
    /// What it knows.
    associatedtype State: Hashable, Sendable

    /// What it knows.
    var state: State { get }

    /// Takes an event. `now` is the owner's clock.
    mutating func handle(_ event: Event, now: MeshInstant) -> [Effect]
}
