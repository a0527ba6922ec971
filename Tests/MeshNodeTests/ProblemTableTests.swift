// SPDX-License-Identifier: Apache-2.0

import BLETransport
import DemocracyDJ
import MeshProtocol
import TestSupport
import Testing

@testable import Bearers
@testable import NodeCore

/// Every row of the notices, in a running node. For each row the test causes the notice, clears it, and presses its
/// button.
@Suite("Notices in a running node")
struct ProblemTableTests {
    private typealias Side = PairOfCores.Side

    /// A node with a notice.
    private struct Told {
        var pair: PairOfCores
        var side: PairOfCores.Side
    }

    private static let stranger = Peer(id: String(repeating: "9", count: 32), name: "Other Car")

    @Test(
        "every problem with the network, the host and the disk is shown and cleared, and its button helps",
        arguments: NetworkError.every)
    func network(error: NetworkError) throws {
        try check(error.problem) { try Self.raise(error) }
    }

    @Test("every command without effect is answered, and the answer disappears", arguments: CommandProblem.every)
    func command(problem: CommandProblem) throws {
        try check(problem.problem) { try Self.raise(problem) }
    }

    @Test("every problem of the head unit is shown, and ends", arguments: HeadUnitProblem.every)
    func headUnit(problem: HeadUnitProblem) throws {
        try check(problem.problem) { try Self.raise(problem) }
    }

    @Test("every problem of the library is shown, and ends", arguments: LibraryProblem.every)
    func library(problem: LibraryProblem) throws {
        try check(problem.problem) {
            Told(pair: try Self.fed(.input(.notice(Notice(problem.problem))), to: .host), side: .host)
        }
    }

    /// Causes a problem for each way to clear it, and once for its button.
    private func check(_ problem: Problem, _ raise: () throws -> Told) throws {
        let code = Notice(problem).code
        for clearer in problem.clearedBy {
            var told = try raise()
            let notices = told.pair.shown[told.side.rawValue].compactMap { event -> Notice? in
                if case .notice(let notice) = event { notice } else { nil }
            }
            let notice = try #require(
                notices.last { $0.code == code }, "nothing raises \(code): \(notices.map(\.code))")
            #expect(notice.message == problem.sentence || Self.isAboutSomethingElse(problem))
            #expect(!told.pair.cleared(at: told.side).contains(code))
            Self.clear(problem, by: clearer, &told)
            #expect(told.pair.cleared(at: told.side).contains(code), "\(clearer) does not clear \(code)")
        }
        guard problem.button != nil else { return }
        var told = try raise()
        let before = told.pair.performed[told.side.rawValue].count
        told.pair.feed(.input(.retry), to: told.side)
        let performed = told.pair.performed[told.side.rawValue][before...]
        let isCleared = told.pair.cleared(at: told.side).contains(code)
        let isHelped = performed.contains { action in
            switch (problem.raisedBy, action) {
            case (.covers, .retryCovers), (.radio, .retryRadio), (.monitor, .retryRadio): true
            case (.radio, .startRadio), (.link, .startRadio), (.reconnecting, .startRadio), (.refusal, .startRadio):
                true
            case (.link, .dial), (.reconnecting, .dial), (.refusal, .dial): true
            default: false
            }
        }
        #expect(isHelped || isCleared && problem.clearedBy == [.retried], "the button of \(code) reaches nothing")
    }

    /// The notice is about a different peer than in the list.
    private static func isAboutSomethingElse(_ problem: Problem) -> Bool {
        [
            "connectionLost", "hostNotFound", "hostEnded", "hostStopped", "hostLeft", "storageFailed", "radioRecovered",
            "hostKeyChanged", "unknownHost", "pinGuessed", "twins", "mayBeCopied",
        ].contains(problem.code)
    }

    private static func fed(_ event: NodeCore.Event, to side: Side) throws -> PairOfCores {
        var pair = try PairOfCores()
        pair.meet()
        pair.feed(event, to: side)
        return pair
    }

    /// The driver asks for a playlist, and the head unit answers.
    private static func asked(for playlist: String, answered answer: PlaylistAnswer) throws -> PairOfCores {
        var pair = try fed(.input(.host(.choosePlaylist(playlist))), to: .host)
        pair.feed(.input(.playlistFound(answer)), to: .host)
        return pair
    }

    // MARK: Causes

    private static func raise(_ error: NetworkError) throws -> Told {
        var pair = try PairOfCores()
        switch error.problem.raisedBy {
        case .covers: pair.feed(.coverFailed(error), to: .host)
        case .radio: pair.feed(.radioFailed(error), to: .host)
        case .monitor:
            let guests = ["1", "2"].map { Peer(id: String(repeating: $0, count: 32), name: $0) }
            pair.happen(guests.enumerated().map { .link(90 + $0, .connected($1)) }, to: .host)
            pair.happen(guests.enumerated().map { .ended(90 + $0, $1, .linkLost, besideRadio: false) }, to: .host)
        case .link, .reconnecting:
            pair.meet()
            let host = pair.cores[0].mesh.local
            switch error {
            case .hostEnded, .hostStopped:
                let isOver = if case .hostEnded = error { true } else { false }
                pair.feed(.input(isOver ? .end : .quit(.quit)), to: .host)
                pair.feed(.end, to: .host)
            case .hostLeft: pair.happen([.ended(1, host, .goodbye(), besideRadio: false)], to: .guest)
            case .hostKeyChanged:
                pair.loseLink()
                pair.happen(
                    [.link(99, .failed(expected: host.id, proved: nil, .misbehaved(.changedIdentity)))], to: .guest)
            case .otherHost(let name, let head):
                pair.loseLink()
                pair.feed(
                    .heard(HeardNode(Peer(id: head, name: name))), to: .guest)
            case .unknownHost(let host):
                pair.loseLink()
                pair.pass(.seconds(31))
                pair.feed(.heard(HeardNode(host)), to: .guest)
                pair.pass(.seconds(269))
            case .hostNotFound:
                pair.loseLink()
                pair.pass(.seconds(31))
            default: pair.loseLink()
            }
        case .refusal where error.code == NetworkError.unprovenHost.code:
            pair.feed(.input(.retry), to: .guest)
            pair.happen(
                [.link(99, .failed(expected: "c0", proved: nil, .misbehaved(.unprovenHost)))], to: .guest)
        case .refusal where error.code == NetworkError.pinAtRisk.code:
            pair.happen([.inviteFailed(.heldBack("c0"))], to: .guest)
        case .refusal:
            pair.refusal = RefusalReason.allCases.first { NetworkError($0) == error }
            pair.meet()
        case .person:
            // Too many votes, or one search, without a host.
            let isFull = error == .tooManyPendingVotes
            for number in 0...(isFull ? DJLimits.pendingVotes : 0) where isFull {
                pair.feed(.input(.guest(.vote("v\(number)"))), to: .guest)
            }
            if !isFull { pair.feed(.input(.guest(.search("road"))), to: .guest) }
        case .store:
            let codes: [NodeStoreError.Code] = [.diskFull, .readOnly, .busy, .vanished, .failed]
            pair.diskError = try #require(
                codes.first { NetworkError(NodeStoreError($0, cause: "a test")).code == error.code })
            pair.meet()
            pair.disks[Side.guest.rawValue] = .refuses
            pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        case .opening:
            guard case .storageDamaged(let path) = error else { break }
            pair = try PairOfCores(setAside: path)
            return Told(pair: pair, side: .host)
        case .host, .headUnit: break
        }
        let isHosts = [.covers, .radio, .monitor].contains(error.problem.raisedBy)
        return Told(pair: pair, side: isHosts ? .host : .guest)
    }

    /// A typed line with this answer. Nil if it takes more than a line.
    private static func line(_ problem: CommandProblem) -> (user: NodeCommand.User, line: String)? {
        switch problem {
        case .badCommand(let line, _): (.guest, line)
        case .incomplete(let word, _, _):
            (["kick", "unban", "passenger", "move", "volume"].contains(word) ? .host : .guest, word)
        case .noSuchHost(let name): (.guest, "forget \(name)")
        case .noInvitation: (.guest, "join roadmesh:AfNeVhYW")
        case .severalMeant(let text, _): (.guest, "vote \(text)")
        case .guestsMeant(let text, _): (.host, "kick \(text)")
        case .notOnView(let text): (.guest, "vote \(text)")
        case .noPIN(let text): (.guest, "pin \(text)")
        case .notFound(let text): (.guest, "suggest \(text)")
        case .noSuchLine(let number, let count): (.guest, "\(count == 0 ? "suggest" : "vote") \(number)")
        case .noQueueYet: (.guest, "vote 1")
        case .emptyQueue: (.guest, "vote")
        case .nothingFoundYet: (.guest, "suggest")
        case .nothingListedYet: (.guest, "open")
        case .nobodyHere, .noSuchGuest: (.host, "kick")
        case .noSpan(let text): (.host, "invite \(text)")
        default: nil
        }
    }

    private static func raise(_ problem: CommandProblem) throws -> Told {
        if let (user, line) = line(problem), problem != .noSuchGuest("Ana") {
            let songs = ["Road Trip", "Rest Stop", "Open Road"].map {
                QueueItem(song: Song(id: $0.lowercased(), title: $0, artist: "A", duration: 1), addedBy: "dad")
            }
            let isEmpty = problem == .emptyQueue
            let shown = HostSnapshot(
                epoch: 1, revision: 1, nowPlaying: nil, isPlaying: false, queue: isEmpty ? [] : songs,
                connectedPeers: problem == .nobodyHere ? [] : [stranger, Peer(id: "guitar", name: "Ana 🎸")])
            var view = SongChoice(shown: problem == .noQueueYet ? nil : shown)
            view.groups = problem == .nothingListedYet ? [] : [SongGroup(id: "s1", name: "Ana", songs: 1)]
            guard case .input(let input)? = CommandReader(user).meaning(ofTyped: line, view) else {
                Issue.record("\(line) is not answered")
                return Told(pair: try PairOfCores(), side: .guest)
            }
            return Told(pair: try fed(.input(input), to: .guest), side: .guest)
        }
        switch problem {
        case .noSuchGuest(let name):
            var pair = try PairOfCores()
            pair.feed(.input(.host(.kick(name))), to: .host)
            return Told(pair: pair, side: .host)
        case .severalGuests(let guests):
            var pair = try PairOfCores()
            pair.happen(guests.enumerated().map { .link(90 + $0, .connected($1)) }, to: .host)
            pair.feed(.input(.host(.kick(guests[0].name))), to: .host)
            return Told(pair: pair, side: .host)
        case .notInQueue(let song): return Told(pair: try fed(.input(.host(.remove(song))), to: .host), side: .host)
        case .notPinned(let title):
            var pair = try PairOfCores(songs: 2, title: title)
            pair.feed(.input(.host(.unpin("s2"))), to: .host)
            return Told(pair: pair, side: .host)
        case .cannotAdd(let song, let reason, _): return Told(pair: try refused(song, reason), side: .guest)
        case .nothingPlays, .nothingToPlay:
            var pair = try PairOfCores(songs: 0)
            pair.feed(.input(.host(problem == .nothingPlays ? .skip : .play)), to: .host)
            return Told(pair: pair, side: .host)
        case .nothingToRetry: return Told(pair: try fed(.input(.retry), to: .guest), side: .guest)
        case .notKept:
            var pair = try PairOfCores()
            pair.meet()
            pair.disks[Side.guest.rawValue] = .refuses
            pair.feed(.input(.guest(.vote("s2"))), to: .guest)
            return Told(pair: pair, side: .guest)
        case .searchTooLong:
            let words = String(repeating: "x", count: DJLimits.searchBytes + 1)
            return Told(pair: try fed(.input(.guest(.search(SongQuery(words)))), to: .guest), side: .guest)
        case .notKeptOut(let name): return Told(pair: try fed(.input(.unban(name)), to: .host), side: .host)
        case .noDriver(let name): return Told(pair: try fed(.input(.dismiss(name)), to: .host), side: .host)
        case .tooManyDrivers:
            var pair = try PairOfCores()
            for number in 0...NodeLimits.drivers {
                let peer = Peer(id: "guest\(number)", name: "Guest \(number)")
                pair.happen([.link(90 + number, .connected(peer))], to: .host)
                pair.feed(.input(.appoint(peer.id)), to: .host)
            }
            return Told(pair: pair, side: .host)
        case .nothingToUndo: return Told(pair: try fed(.input(.host(.undo)), to: .host), side: .host)
        case .nothingBefore: return Told(pair: try fed(.input(.host(.previous)), to: .host), side: .host)
        case .noVolume: return Told(pair: try fed(.input(.host(.volume(40))), to: .host), side: .host)
        case .noSuchPlaylist(let name, let known):
            let answer = PlaylistAnswer(asked: name, name: nil, known: known)
            return Told(pair: try asked(for: name, answered: answer), side: .host)
        case .playlistChosen(let name):
            let answer = PlaylistAnswer(asked: name, name: name)
            return Told(pair: try asked(for: name, answered: answer), side: .host)
        case .joinedAlready(let name): return Told(pair: try fed(.input(.join(name)), to: .guest), side: .guest)
        case .severalHosts(let hosts):
            var pair = try PairOfCores(knownHosts: hosts)
            pair.feed(.input(.forgetHost(hosts[0].name)), to: .guest)
            return Told(pair: pair, side: .guest)
        case .searchRefused(let words, let reason):
            var pair = try PairOfCores()
            pair.meet()
            // The host's own answer waits for its disk.
            pair.disks[Side.host.rawValue] = .hangs
            pair.feed(.input(.host(.pause)), to: .host)
            pair.feed(.input(.guest(.search(SongQuery(words)))), to: .guest)
            pair.say(.searchResults(SearchResults(number: 1, songs: [], refused: reason)))
            return Told(pair: pair, side: .guest)
        case .tooManyInvitations:
            var pair = try PairOfCores()
            for number in 0...Limits.invitations { pair.invite(UInt8(number)) }
            return Told(pair: pair, side: .host)
        case .invitationsTakenBack(let count):
            var pair = try PairOfCores()
            for number in 0..<count { pair.invite(UInt8(number)) }
            pair.feed(.input(.invite(InvitationWish(.none))), to: .host)
            return Told(pair: pair, side: .host)
        case .sessionEnded: return Told(pair: try fed(.input(.end), to: .host), side: .host)
        // A pairing has no node and reports the row itself.
        case .nothingAsked: return Told(pair: try fed(.input(.notice(Notice(problem))), to: .host), side: .host)
        default:
            Issue.record("nothing raises \(problem)")
            return Told(pair: try PairOfCores(), side: .guest)
        }
    }

    /// A host that rejects a wish, for a reason of its own if possible, else one of a foreign host.
    private static func refused(_ song: Song.ID, _ reason: RejectionReason) throws -> PairOfCores {
        switch reason {
        case .tooManySuggestions:
            var pair = try PairOfCores(songs: 8, opens: 0)
            pair.meet()
            for number in 2...7 { pair.feed(.input(.guest(.suggest("s\(number)"))), to: .guest) }
            return pair
        case .unknownSong: return try fed(.input(.guest(.suggest(song))), to: .guest)
        case .skippingNotAllowed: return try fed(.input(.guest(.skip)), to: .guest)
        case .notPlaying:
            var pair = try fed(.input(.guest(.vote("s2"))), to: .guest)
            pair.say(.rejection(.skip(songID: song), reason))
            return pair
        default:
            var pair = try PairOfCores()
            pair.meet()
            pair.feed(.input(.guest(.vote("s2"))), to: .guest)
            // The host's own answer waits for its disk.
            pair.disks[Side.host.rawValue] = .hangs
            pair.feed(.input(.host(.pause)), to: .host)
            pair.feed(.input(.guest(.suggest(song))), to: .guest)
            pair.acknowledge(upTo: 2)
            pair.say(.rejection(.suggestSong(songID: song), reason))
            return pair
        }
    }

    private static func raise(_ problem: HeadUnitProblem) throws -> Told {
        switch problem {
        case .songFailed(title: nil):
            var pair = try fed(.input(.guest(.vote("s2"))), to: .guest)
            pair.say(.rejection(.vote(songID: "s9"), .cannotBePlayed))
            return Told(pair: pair, side: .guest)
        case .songFailed: return Told(pair: try fed(.input(.player(.failed("s1"))), to: .host), side: .host)
        case .songsMissing(let count):
            let queue = (1...count).map { QueuedRecord(songID: "gone\($0)", addedBy: "ana", added: Int64($0)) }
            let left = HostRecord(epoch: 1, queue: queue + [QueuedRecord(songID: "s2", addedBy: "ana", added: 9)])
            return Told(pair: try PairOfCores(left: left), side: .host)
        case .otherAdapter, .adapterAppeared, .advertisingAgain:
            return Told(pair: try fed(.radioRepaired(Notice(problem)), to: .host), side: .host)
        case .twins:
            var pair = try PairOfCores()
            pair.happen(
                [.link(99, .connected(stranger)), .ended(99, stranger, .refused(.twin), besideRadio: false)], to: .host)
            return Told(pair: pair, side: .host)
        case .pinGuessed:
            var pair = try PairOfCores()
            pair.happen([.link(99, .guessedWrong(stranger))], to: .host)
            return Told(pair: pair, side: .host)
        case .copied:
            var pair = try PairOfCores()
            pair.meet()
            let copy = pair.cores[0]
            pair.feed(.input(.guest(.vote("s2"))), to: .guest)
            _ = pair.swap(host: copy)
            return Told(pair: pair, side: .host)
        case .broker(let problem):
            let condition: BrokerCondition =
                switch problem {
                case .unreachable(let cause): .unreachable(cause)
                case .refused(let cause): .refused(cause)
                case .untrusted(let cause): .untrusted(cause)
                case .clockWrong(let time): .clockWrong(time)
                case .silent(let topic): .silent(topic)
                }
            return Told(pair: try fed(.broker(BrokerReport(condition)), to: .host), side: .host)
        case .cannotStart, .keepsEnding, .noSound, .songsFail, .driveNotRecorded, .driveNotCollected, .pageNotShown,
            .pageUnreachable:
            return Told(pair: try fed(.input(.notice(Notice(problem))), to: .host), side: .host)
        }
    }

    // MARK: Clearing

    private static func clear(_ problem: Problem, by clearer: Problem.Clearer, _ told: inout Told) {
        let side = told.side
        switch clearer {
        case .time: told.pair.pass(.seconds(6))
        // If an outage was only inferred, no event reports its end.
        case .radioWorks where problem.raisedBy == .monitor: told.pair.pass(DJLimits.inferredOutage + .seconds(1))
        case .radioWorks: told.pair.feed(.radioRecovered, to: side)
        case .linked:
            let other = told.pair.cores[side.other.rawValue].mesh.local
            let peer = side == .guest ? Peer(id: other.id, name: "Car") : stranger
            told.pair.happen([.link(99, .connected(peer))], to: side)
        case .left: told.pair.feed(.input(.leave), to: side)
        case .refused: told.pair.happen([.inviteFailed(.refused(.full, by: stranger.id))], to: side)
        case .gaveUp: told.pair.pass(.seconds(31))
        case .retried: told.pair.feed(.input(.retry), to: side)
        case .written:
            told.pair.disks[side.rawValue] = .takes
            told.pair.pass(.seconds(5))
        case .loaded: told.pair.feed(.cover("s1", path: "/tmp/cover"), to: side)
        case .recovered: told.pair.feed(.input(.cleared(code: problem.code)), to: side)
        }
    }
}
