// SPDX-License-Identifier: Apache-2.0

/// Limits of endpoints and sessions, each with its reason.
public enum SessionLimits {
    /// Events of an endpoint that wait for their listener before links are not read any more. Those of one more SDU a link
    /// may come on top.
    public static let endpointEvents = 64
    /// Events of a session that wait for one of its listeners: half a second of as much as a link may bring, and 16 MiB of
    /// the largest messages.
    public static let sessionEvents = 256
    /// Changes of a session's state that wait for a listener: more than any session goes through.
    public static let sessionStates = 16
}
