// SPDX-License-Identifier: Apache-2.0

/// Limits of endpoints and sessions, each with its reason.
public enum SessionLimits {
    /// Events of an endpoint that wait for their listener before links are no longer read. The events of one more SDU
    /// per link may be added.
    public static let endpointEvents = 64
    /// Events of a session that wait for one of its listeners: half a second of the most traffic of a link, and 16 MiB
    /// with the largest messages.
    public static let sessionEvents = 256
    /// Changes of a session's state that wait for a listener: more than any session has.
    public static let sessionStates = 16
}
