// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol

/// The people in the car: what guests wish for, linked or not, and what is said at the head unit.
extension World {
    /// What the host hosts with. Its wall clock runs fast, so that each run of it has a time of its own.
    var hosting: Hosting {
        let hundredths = now.components.seconds * 100 + now.components.attoseconds / 10_000_000_000_000_000
        return Hosting(
            story.library, scenario.fairness, hasPlayer: scenario.hasPlayer, opens: scenario.opens,
            wallClockSeconds: 1_000_000 + UInt32(clamping: hundredths))
    }

    // MARK: Acts

    mutating func acts() {
        if random.chance(25) { return actAtTheHost() }
        let guest = random.pick(1...nodes.count - 1)
        let count = random.pick(1...scenario.burst)
        // Of few songs, so that wishes meet.
        let song = anySong()
        for _ in 0..<count {
            let input = anyWish(random.chance(70) ? song : anySong())
            // In one breath, or one after the other.
            schedule(.says(node: guest, input), after: random.chance(50) ? .zero : random.time(0...2_000))
        }
    }

    private mutating func anySong() -> Song.ID { Story.songID(random.below(scenario.favourites)) }

    private mutating func anyWish(_ song: Song.ID) -> NodeInput {
        switch random.below(100) {
        case ..<34: .guest(.vote(song))
        case ..<58: .guest(.takeBackVote(song))
        case ..<86: .guest(.suggest(song))
        case ..<93: .guest(.skip)
        default: .guest(.search("song"))
        }
    }

    private mutating func actAtTheHost() {
        let song = anySong()
        switch random.below(7) {
        case 0: say(.host(.skip), 0)
        case 1: say(.host(.pause), 0)
        case 2: say(.host(.play), 0)
        case 3: say(.host(.add(song)), 0)
        case 4: say(.host(.remove(song)), 0)
        default:
            guard scenario.hasPlayer, let playing = nodes[0].screen.playing else { return say(.host(.play), 0) }
            switch random.below(4) {
            case 0: say(.player(.ended(playing)), 0)
            case 1: say(.player(.failed(playing)), 0)
            default: say(.player(.elapsed(playing, random.time(0...60_000))), 0)
            }
        }
    }

    /// A vote of a road: given, and taken back with the next one, so that each is a message.
    mutating func votes() {
        roadVotes += 1
        let song = Story.songID((roadVotes - 1) / 2 % scenario.favourites)
        say(.guest(roadVotes % 2 == 0 ? .takeBackVote(song) : .vote(song)), 1)
    }

    /// The person at a guest that has no host wants to be in.
    mutating func retries(_ node: Int) { say(.retry, node) }

    /// Something is said that has a cause in the host's story, or makes a wish of a guest's the last one of its song.
    mutating func note(_ input: NodeInput, _ node: Int) {
        switch input {
        case .guest(.vote(let song)), .guest(.takeBackVote(let song)), .guest(.suggest(let song)):
            figures.wishes += 1
            story.wished(nodes[node].peer, song, at: now)
        case .host(let command):
            story.causes.append(input)
            if case .kick(let guest) = command { story.kicked.insert(guest) }
        case .player: story.causes.append(input)
        case .end: story.isEnded = true
        default: break
        }
    }
}

extension NodeInput {
    /// In a few words, for people.
    var words: String {
        switch self {
        case .guest(let event): "\(event)".replacing("GuestFeature.Event.", with: "")
        case .host(let command): "\(command)"
        case .player(let report): "that the player says \(report)"
        case .retry: "to retry"
        case .leave: "to leave"
        case .end: "to end the session"
        case .quit: "to quit"
        default: "something else"
        }
    }
}
