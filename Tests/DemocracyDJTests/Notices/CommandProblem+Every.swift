// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

extension CommandProblem {
    /// One of each row. A new case does not compile until `next` has a place for it.
    static let every: [CommandProblem] = {
        var all: [CommandProblem] = []
        for problem in sequence(first: CommandProblem.badCommand("vot s3", expected: "vote ID"), next: \.next) {
            switch problem {
            case .incomplete(let word, _): all += Missing.allCases.map { CommandProblem.incomplete(word, $0) }
            case .cannotAdd(let song, _, _):
                all += RejectionReason.allCases.map { CommandProblem.cannotAdd(song, $0, waiting: 5) }
            default: all.append(problem)
            }
        }
        return all
    }()

    private var next: CommandProblem? {
        switch self {
        case .badCommand: .incomplete("vote", .song)
        case .incomplete: .severalMeant("r", ["Road Trip", "Rest Stop"])
        case .severalMeant: .notOnView("jazz")
        case .notOnView: .notFound("jazz")
        case .notFound: .noSuchLine(4, of: 3)
        case .noSuchLine: .emptyQueue
        case .emptyQueue: .nothingFoundYet
        case .nothingFoundYet: .nobodyHere
        case .nobodyHere: .noSuchGuest("Ana")
        case .noSuchGuest: .severalGuests([Peer(id: "0a0a0a0a", name: "Ana"), Peer(id: "b1b1b1b1", name: "Ana")])
        case .severalGuests: .notInQueue("s3")
        case .notInQueue: .cannotAdd("s3", .unknownSong)
        case .cannotAdd: .nothingPlays
        case .nothingPlays: .nothingToPlay
        case .nothingToPlay: .nothingToRetry
        case .nothingToRetry: .searchTooLong
        case .searchTooLong: .nothingAsked
        case .nothingAsked: nil
        }
    }
}
