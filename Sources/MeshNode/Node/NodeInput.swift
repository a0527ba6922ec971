// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// What comes to a node from outside the air.
public enum NodeInput: Hashable, Sendable {
    /// The person at the head unit wants something.
    case host(HostFeature.Command)
    /// A passenger wants something.
    case guest(GuestFeature.Event)
    /// The head unit's player says something.
    case player(PlayerReport)
    /// The head unit's library is another one.
    case library(SongLibrary)
    /// Look for the host again, or try the radio again, now.
    case retry
    /// A guest leaves its host and stays alone.
    case leave
    /// A host's session is over: the next one begins anew.
    case end
    /// Something to be told, such as a line that is no command.
    case notice(Notice)
    /// What a notice of this code was about is cured.
    case cured(code: String)
    /// This moment of the recording is to be found again.
    case mark(String)
    /// Say goodbye, keep everything, and stop.
    case quit(ByeReason)
}
