// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// What comes to a node from outside the air; what becomes of each stands below.
public enum NodeInput: Hashable, Sendable {
    /// The person at the head unit wants something.
    case host(HostFeature.Command)
    /// A passenger wants something.
    case guest(GuestFeature.Event)
    /// The head unit's player says something.
    case player(PlayerReport)
    /// The head unit's library is another one.
    case library(SongLibrary)
    /// The library's files are away, as those of a stick that was pulled, or back.
    case libraryAway(Bool)
    /// These songs of it play where nobody asks; none for any of them.
    case playlist([Song.ID])
    /// The person has typed a PIN, which the host is to be proved to know as well.
    case pin(JoiningSecret)
    /// The person at a host invites somebody.
    case invite(InvitationWish)
    /// The person at a host keeps a guest out, by identifier or name, for so many seconds or until said otherwise.
    case ban(Peer.ID, seconds: UInt32?)
    /// Who was kept out, by identifier or name, may come in again.
    case unban(Peer.ID)
    /// Tell who is kept out.
    case bans
    /// The person at a host lets a guest's device steer as well, by identifier or name.
    case appoint(Peer.ID)
    /// A device that steers, by identifier or name, is a passenger's again.
    case dismiss(Peer.ID)
    /// Tell whose devices steer.
    case drivers
    /// The person at a guest wants this host, by name or identifier, and no other.
    case join(String)
    /// The person at a guest was given an invitation.
    case joinInvited(Invitation)
    /// The person at a guest wants a host forgotten that was joined, by name or identifier.
    case forgetHost(String)
    /// Tell which hosts were joined, and which are in range.
    case hosts
    /// Look for the host again, or try the radio again, now.
    case retry
    /// A guest leaves its host and stays alone.
    case leave
    /// A host's session is over, and the next one begins: queue, votes and bans of the session are gone.
    case end
    /// Something to be told, such as a line that is no command.
    case notice(Notice)
    /// What the notice of this code was about is over.
    case cleared(code: String)
    /// The node's page is at this address from now on; `passengers` is the link for browsers of a host's passengers.
    case page(String, passengers: String?)
    /// The clock of the day was set: the time since 1970.
    case clockSet(UInt32)
    /// This moment of the recording is to be found again.
    case mark(String)
    /// Say goodbye, keep everything, and stop.
    case quit(ByeReason)
}

extension NodeDecisions {
    /// Decides on what comes from outside the air.
    mutating func decide(_ input: NodeInput, _ context: inout Context) -> [Act] {
        switch input {
        case .host(.undo): return undo(&context)
        case .host(let command): return ask(.host(.command(command)), &context)
        case .guest(let event):
            // What could be forgotten is refused.
            return context.isWithoutStore && event.isWish
                ? [.tell(Notice(CommandProblem.notKept))] : ask(.guest(event), &context)
        // Who was refused and asks again is to be told again.
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
            // Who leaves has not answered whether a key is to be forgotten.
            changedKey = nil
            let goodbye = app.guest?.state.host.map { [Act.disconnect($0.id)] } ?? []
            return goodbye + ask(.guest(.gaveUp), &context) + [.cleared(by: .left), .steer(.leave)]
        case .player(let report): return ask(.host(.player(report)), &context)
        case .library(let library): return ask(.host(.library(library)), &context) + [.show(.library(library))]
        case .libraryAway(let isAway): return ask(.host(.libraryAway(isAway)), &context)
        case .playlist(let songs): return ask(.host(.playlist(songs)), &context)
        case .end: return endSession(&context)
        case .notice(let notice): return [.tell(notice)]
        case .cleared(let code): return [.clear(code)]
        case .page(let url, let passengers): return [.show(.page(url, passengers: passengers))]
        case .clockSet(let seconds): return clockSays(seconds, &context)
        case .mark(let text): return [.show(.mark(text))]
        case .quit(let reason): return [.quit(reason)]
        }
    }

    /// The person asks for one more try with the PIN.
    private func allowOneProof(_ context: inout Context) {
        if context.mesh.allowOneProof() { context.memory.note(unanswered: context.mesh.unanswered.rows) }
    }
}
