// SPDX-License-Identifier: Apache-2.0

/// Limits of endpoints and sessions, each with its reason.
public enum SessionLimits {
    /// Events of an endpoint that wait for their listener before links are no longer read. The events of one more SDU
    /// per link may be added.
    public static let endpointEvents = 64
    /// Messages of a session that wait for its fastest listener before the link is no longer read: 16 MiB of the
    /// largest ones.
    public static let sessionEvents = 256
    /// Messages that wait for a guest's listener before its link is no longer read: 4 MiB of the largest ones.
    public static let guestMessages = 64
    /// Pause before a guest looks for its host again. It doubles with each failed attempt.
    public static let guestPause: Duration = .milliseconds(100)
    /// Longest pause before a guest looks for its host again. A passenger who waits at the car's door waits no longer
    /// than this.
    public static let longestGuestPause: Duration = .seconds(5)
    /// Time limit of a guest's dial. It also covers a dial that began just before a gap of the radio.
    public static let guestDial: Duration = .seconds(20)
    /// Time limit of the first dial after a link was lost. Afterwards a scan also finds a host that has restarted with
    /// another address.
    public static let guestRedial: Duration = .seconds(3)
    /// Time that a closing guest or endpoint waits for acknowledgements: several round trips with the largest outbox
    /// over Bluetooth take less.
    public static let flush: Duration = .seconds(20)
    /// Time that a guest which may use relays waits for its host itself, or a shorter route, after it has heard a
    /// relay: several advertising intervals.
    public static let relayPause: Duration = .seconds(1)
    /// Time for the answer to a ping or a probe, unless the caller gives another. The peer of a link that is silent for
    /// longer counts as lost.
    public static let answer: Duration = .seconds(2)
    /// Changes of a session's state that wait for a listener: more than any session has.
    public static let sessionStates = 16
}
