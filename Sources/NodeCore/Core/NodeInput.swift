// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// An input from outside the network. `decide` handles each of them.
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

extension NodeDecisions {
    /// Decides on an input.
    mutating func decide(_ input: NodeInput, _ context: inout Context) -> [StepAction] {
        switch input {
        case .host(.undo): return undo(&context)
        case .host(let command): return ask(.host(.command(command)), &context)
        case .guest(let event):
            // Without a disk a wish could be forgotten, so it is refused.
            return context.isWithoutStore && event.isWish
                ? [.tell(Notice(CommandProblem.notKept))] : ask(.guest(event), &context)
        // The notice is cleared, so that it appears again if the host refuses again.
        case .pin(let secret):
            context.mesh.secret = secret
            allowOneProof(&context)
            return [.cleared(by: .retried), .steer(.start)]
        case .invite(let wish): return decide(wish, &context)
        case .join(let text): return join(text, &context)
        case .joinInvited(let invitation): return join(invitation, &context)
        case .forgetHost(let text): return forgetHost(text, &context)
        case .hosts: return [.show(.hosts(shownHosts, isAnswer: true))]
        case .ban(let name, let seconds): return ban(name, seconds, &context)
        case .unban(let name): return unban(name, &context)
        case .bans: return [.show(.bans(shownBans, isAnswer: true))]
        case .appoint(let name): return appoint(name, &context)
        case .dismiss(let name): return dismiss(name, &context)
        case .drivers: return [.show(.drivers(drivers))]
        case .retry:
            toldCopies = RecentTable(limit: NodeLimits.shownHosts)
            allowOneProof(&context)
            let isLinked = app.isHosting || app.guest?.state.host != nil
            let isWell = monitor.refusal == nil && failingCovers.isEmpty && isLinked
            return [.retried(isWell: isWell)] + watch(.retry, &context) + forgetChangedKey(&context)
                + [.steer(.start)]
        case .leave:
            // The person has left without answering whether the key should be forgotten.
            changedKey = nil
            let goodbye = app.guest?.state.host.map { [StepAction.disconnect($0.id)] } ?? []
            return goodbye + ask(.guest(.gaveUp), &context) + [.cleared(by: .left), .steer(.leave)]
        case .player(let report): return ask(.host(.player(report)), &context)
        case .library(let library): return ask(.host(.library(library)), &context) + [.show(.library(library))]
        case .libraryAway(let isAway): return ask(.host(.libraryAway(isAway)), &context)
        case .playlist(let songs): return ask(.host(.playlist(songs)), &context)
        case .playlistFound(let answer): return ask(.host(.playlistFound(answer)), &context)
        case .end: return endSession(&context)
        case .notice(let notice): return [.tell(notice)]
        case .cleared(let code): return [.clear(code)]
        case .page(let url, let passengers): return [.show(.page(url, passengers: passengers))]
        case .clockSet(let seconds): return clockSays(seconds, &context)
        case .mark(let text): return [.show(.mark(text))]
        case .quit(let reason): return [.quit(reason)]
        }
    }

    /// The person asks for one more attempt with the PIN.
    private func allowOneProof(_ context: inout Context) {
        if context.mesh.allowOneProof() { context.memory.note(unanswered: context.mesh.unanswered.rows) }
    }
}
