// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// An input from outside the network. `NodeDecisions` handles each of them.
public enum NodeInput: Hashable, Sendable {
    /// A command of the person at the head unit.
    case host(HostFeature.Command)
    /// An event from a passenger.
    case guest(GuestFeature.Event)
    /// A report of the head unit's player.
    case player(PlayerReport)
    /// The head unit's library has changed.
    case library(SongLibrary)
    /// Whether the library's files are unavailable, for example because a stick was pulled out.
    case libraryAway(Bool)
    /// The songs that play when the queue is empty; none for any song of the library.
    case playlist([Song.ID])
    /// The head unit has looked for the playlist that its driver asks for.
    case playlistFound(PlaylistAnswer)
    /// The person has typed a PIN. The host must prove that it knows it as well. Nil withdraws a PIN, so that the guest
    /// joins hosts that know none.
    case pin(JoiningSecret?)
    /// The host's person creates or revokes invitations.
    case invite(InvitationWish)
    /// The host's person bans a guest, by identifier or name, for this many seconds or until the ban is lifted.
    case ban(Peer.ID, seconds: UInt32?)
    /// Lift the ban of this guest, by identifier or name.
    case unban(Peer.ID)
    /// Show the bans.
    case bans
    /// The host's person makes a guest a co-host, by identifier or name.
    case appoint(Peer.ID)
    /// Dismiss this co-host, by identifier or name.
    case dismiss(Peer.ID)
    /// Show the co-hosts.
    case drivers
    /// The guest's person wants to join only this host, by name or identifier.
    case join(String)
    /// The guest's person has an invitation.
    case joinInvited(Invitation)
    /// The guest's person wants a known host forgotten, by name or identifier.
    case forgetHost(String)
    /// Show the known hosts and the hosts in range.
    case hosts
    /// Search for the host or try the radio again, now.
    case retry
    /// The guest leaves its host and joins no other host.
    case leave
    /// The host's session ends, and the next one begins. The queue, the votes and the bans of the session are deleted.
    case end
    /// Show a notice, for example about a line that is not a command.
    case notice(Notice)
    /// The cause of the notice with this code has ended.
    case cleared(code: String)
    /// The node's page now has this address. `passengers` is the link for the browsers of a host's passengers.
    case page(String, passengers: String?)
    /// The wall clock was set to this time, in seconds since 1970.
    case clockSet(UInt32)
    /// A marker with this text at the present position of the recording.
    case mark(String)
    /// Say goodbye, save everything and stop.
    case quit(ByeReason)
}
