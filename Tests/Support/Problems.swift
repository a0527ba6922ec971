// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

// One of each row of the notices. A new case does not compile until it is added here.

extension NetworkError {
    package struct Cause: Error, CustomStringConvertible {
        package var description = "the line is dead"

        package init() {}
    }

    /// One of each case. A new case does not compile until `next` includes it.
    package static let every: [NetworkError] = Array(sequence(first: .invalidURL, next: \.next))

    private var next: NetworkError? {
        switch self {
        case .invalidURL: .requestFailed(Cause())
        case .requestFailed: .invalidResponse
        case .invalidResponse: .httpError(statusCode: 404)
        case .httpError: .decodingError(Cause())
        case .decodingError: .noData
        case .noData: .offline
        case .offline: .emptyData
        case .emptyData: .serverMaintenance
        case .serverMaintenance: .rateLimited
        case .rateLimited: .radioOff
        case .radioOff: .noAdapter
        case .noAdapter: .blocked(bySwitch: false)
        case .blocked(bySwitch: false): .blocked(bySwitch: true)
        case .blocked(bySwitch: true): .adapterSilent
        case .adapterSilent: .adapterDead
        case .adapterDead: .serviceNotRunning
        case .serviceNotRunning: .notPermitted
        case .notPermitted: .unsupported(cause: "no free advertising slot")
        case .unsupported: .advertisingRefused(kernel: "Linux 6.1.175")
        case .advertisingRefused: .airUnusable(cause: "/tmp/air")
        case .airUnusable: .radioFailed(cause: "the line is dead")
        case .radioFailed: .networkUnavailable
        case .networkUnavailable: .connectionLost(host: Self.host)
        case .connectionLost: .hostNotFound(host: Self.host)
        case .hostNotFound: .hostEnded(host: Self.host)
        case .hostEnded: .hostStopped(host: Self.host)
        case .hostStopped: .hostLeft(host: Self.host)
        case .hostLeft: .hostFull
        case .hostFull: .refused
        case .refused: .kicked
        case .kicked: .versionMismatch
        case .versionMismatch: .otherHost(name: "Car", head: "deadbeef")
        case .otherHost: .unknownHost(Self.host)
        case .unknownHost: .hostKeyChanged(host: Self.host)
        case .hostKeyChanged: .sameIdentity
        case .sameIdentity: .proofRequired
        case .proofRequired: .wrongPIN
        case .wrongPIN: .tooManyGuesses
        case .tooManyGuesses: .unprovenHost
        case .unprovenHost: .pinAtRisk
        case .pinAtRisk: .invitationOver
        case .invitationOver: .bondRequired
        case .bondRequired: .notConnected
        case .notConnected: .tooManyPendingVotes
        case .tooManyPendingVotes: .storageFull
        case .storageFull: .storageReadOnly
        case .storageReadOnly: .storageBusy
        case .storageBusy: .storageVanished
        case .storageVanished: .storageFailed(cause: "the line is dead")
        case .storageFailed: .storageDamaged(setAside: "/tmp/store.damaged")
        case .storageDamaged: nil
        }
    }
    private static let host = Peer(id: "host", name: "Dad's Car")
}

extension CommandProblem {
    /// One of each row. A new case does not compile until `next` includes it.
    package static let every: [CommandProblem] = {
        var all: [CommandProblem] = []
        for problem in sequence(first: CommandProblem.badCommand("vot s3", expected: "vote ID"), next: \.next) {
            switch problem {
            case .incomplete:
                all += [
                    .incomplete("vote", needs: "a song", type: "a number of the list, or the beginning of a title"),
                    .incomplete("kick", needs: "a guest", type: "the guest's name"),
                    .incomplete("join", needs: "a host", type: "a name or an id of the list that hosts shows"),
                    .incomplete("unban", needs: "a guest", type: "a name or an id of the list that bans shows"),
                    .incomplete("passenger", needs: "a guest", type: "a name or an id of the list that driver shows"),
                    .incomplete("search", needs: "a word or two", type: "the words"),
                    .incomplete(
                        "move", needs: "a song and a place",
                        type: "two numbers of the list: the song, and its new place"),
                    .incomplete("volume", needs: "a number", type: "a number from 0 to 100"),
                    .incomplete(
                        "open", needs: "an artist or album", type: "its number, or the beginning of its name"),
                    .incomplete("pin", needs: "six digits", type: "the digits on the host's screen"),
                ]
            case .noSuchLine: all += [problem, .noSuchLine(1, of: 0)]
            case .noSuchPlaylist(let name, _): all += [problem, .noSuchPlaylist(name, [])]
            case .playlistChosen: all += [problem, .playlistChosen("")]
            case .searchRefused: all += [problem, .searchRefused("road", .votingOnly)]
            case .invitationsTakenBack: all += [problem, .invitationsTakenBack(1), .invitationsTakenBack(3)]
            case .cannotAdd(let song, _, _):
                all += RejectionReason.allCases.map { CommandProblem.cannotAdd(song, $0, waiting: 5) }
            default: all.append(problem)
            }
        }
        return all
    }()

    private var next: CommandProblem? {
        switch self {
        case .badCommand: .incomplete("vote", needs: "", type: "")
        case .incomplete: .severalMeant("r", ["Road Trip", "Rest Stop"])
        case .severalMeant: .guestsMeant("Ana", ["Ana 🎸"])
        case .guestsMeant: .notOnView("jazz")
        case .notOnView: .notFound("hot jazz")
        case .notFound: .noSuchLine(4, of: 3)
        case .noSuchLine: .noQueueYet
        case .noQueueYet: .emptyQueue
        case .emptyQueue: .nothingFoundYet
        case .nothingFoundYet: .nothingListedYet
        case .nothingListedYet: .nobodyHere
        case .nobodyHere: .noSuchGuest("Ana")
        case .noSuchGuest: .severalGuests([Peer(id: "0a0a0a0a", name: "Ana"), Peer(id: "b1b1b1b1", name: "Ana")])
        case .severalGuests: .notInQueue("s9")
        case .notInQueue: .notPinned("Headlights")
        case .notPinned: .cannotAdd("s9", .unknownSong)
        case .cannotAdd: .nothingPlays
        case .nothingPlays: .nothingToPlay
        case .nothingToPlay: .nothingToUndo
        case .nothingToUndo: .nothingBefore
        case .nothingBefore: .noVolume
        case .noVolume: .noSuchPlaylist("Party", ["Road Trip.m3u"])
        case .noSuchPlaylist: .playlistChosen("Road Trip.m3u")
        case .playlistChosen: .nothingToRetry
        case .nothingToRetry: .notKept
        case .notKept: .searchTooLong
        case .searchTooLong: .searchRefused("road", .tooFast)
        case .searchRefused: .notKeptOut("Eve")
        case .notKeptOut: .noDriver("Eve")
        case .noDriver: .tooManyDrivers
        case .tooManyDrivers: .noSuchHost("Bus")
        case .noSuchHost: .severalHosts([Peer(id: "0a0a0a0a", name: "Bus"), Peer(id: "b1b1b1b1", name: "Bus")])
        case .severalHosts: .joinedAlready("Car")
        case .joinedAlready: .noInvitation
        case .noInvitation: .noPIN("12345")
        case .noPIN: .noSpan("2x")
        case .noSpan: .tooManyInvitations
        case .tooManyInvitations: .invitationsTakenBack(0)
        case .invitationsTakenBack: .sessionEnded
        case .sessionEnded: .nothingAsked
        case .nothingAsked: nil
        }
    }
}

extension HeadUnitProblem {
    package static let every: [HeadUnitProblem] =
        Array(
            sequence(first: .cannotStart("the line is dead"), next: \.next)) + [.songFailed(title: nil)]

    private var next: HeadUnitProblem? {
        switch self {
        case .cannotStart: .keepsEnding("the line is dead")
        case .keepsEnding: .noSound
        case .noSound: .songsFail
        case .songsFail: .songFailed(title: "Song 1")
        case .songFailed: .songsMissing(3)
        case .songsMissing: .driveNotRecorded("the line is dead")
        case .driveNotRecorded: .driveNotCollected("the line is dead")
        case .driveNotCollected: .pageNotShown(at: "192.168.4.1:8080", cause: "the line is dead")
        case .pageNotShown: .pageUnreachable
        case .pageUnreachable: .otherAdapter("hci1", insteadOf: "hci0")
        case .otherAdapter: .adapterAppeared("bluez hci0")
        case .adapterAppeared: .advertisingAgain
        case .advertisingAgain: .twins(Peer(id: "0a", name: "Ana"))
        case .twins: .copied(host: Peer(id: "0c", name: "Dad's Car"), guest: Peer(id: "0a", name: "Ana"))
        case .copied: .pinGuessed(by: Peer(id: "0a", name: "Ana"))
        case .pinGuessed: .broker(.unreachable("the line is dead"))
        case .broker(.unreachable): .broker(.refused("the line is dead"))
        case .broker(.refused): .broker(.untrusted("the line is dead"))
        case .broker(.untrusted): .broker(.clockWrong("2026-11-29"))
        case .broker(.clockWrong): .broker(.silent("roadmesh/to/0a0a0a0a0a0a0a0a/+"))
        case .broker(.silent): nil
        }
    }
}

extension LibraryProblem {
    package static let every: [LibraryProblem] =
        Array(sequence(first: .folderMissing(path: stick), next: \.next)) + [
            .unreadableFiles(count: 1, example: "a.mp3")
        ]

    private static let stick = "/media/stick"
    private static let list = "/media/stick/party.m3u"

    private var next: LibraryProblem? {
        switch self {
        case .folderMissing: .folderAway(path: Self.stick)
        case .folderAway: .folderUnreadable(path: Self.stick, cause: "the line is dead")
        case .folderUnreadable: .noSongs(path: Self.stick)
        case .noSongs: .tooMuch(path: Self.stick)
        case .tooMuch: .unreadableFiles(count: 2, example: "a.mp3")
        case .unreadableFiles: .notWatched(path: Self.stick, cause: "the line is dead")
        case .notWatched: .playlistUnreadable(path: Self.list)
        case .playlistUnreadable: .playlistEmpty(path: Self.list, missing: 12)
        case .playlistEmpty: .playlistIncomplete(missing: 2, entries: 12, example: "Queen/Jazz.mp3")
        case .playlistIncomplete: .readerFailed
        case .readerFailed: .indexUnusable(path: Self.stick, cause: "the line is dead")
        case .indexUnusable: nil
        }
    }
}

extension Problem {
    /// Every row.
    package static let every: [Problem] =
        NetworkError.every.map(\.problem) + CommandProblem.every.map(\.problem) + HeadUnitProblem.every.map(\.problem)
        + LibraryProblem.every.map(\.problem)
}
