// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// The people in the car: guests' wishes, with or without a link, and commands at the head unit.
extension World {
    /// The parameters of hosting. The wall clock runs fast, so that each run has its own time.
    var hosting: Hosting {
        Hosting(
            people.story.library, scenario.fairness, hasPlayer: scenario.hasPlayer, opens: scenario.opens,
            wallClockSeconds: 1_000_000 + UInt32(clamping: now / 10_000))
    }

    // MARK: Acts

    mutating func acts() {
        if !people.browsers.isEmpty, random.chance(40) { return actsAtAPage() }
        if random.chance(25) { return actAtTheHost() }
        let guest = random.pick(1...nodes.count - 1)
        let count = random.pick(1...scenario.burst)
        // Wishes are for few songs, so that several people want the same song.
        let song = anySong()
        for _ in 0..<count {
            let input = anyWish(random.chance(70) ? song : anySong())
            // The inputs come at once, or one after another.
            later(random.chance(50) ? 0...0 : 0...2_000) { $0.say(input, guest) }
        }
    }

    private mutating func anySong() -> Song.ID { people.story.songID(random.below(scenario.favourites)) }

    /// A guest's person makes a random wish.
    mutating func wishes(_ guest: Int, after time: ClosedRange<Int>) {
        let wish = anyWish()
        later(time) { $0.say(wish, guest) }
    }

    /// A random wish of a guest's person, for one of the songs that people make wishes for.
    mutating func anyWish() -> NodeInput { anyWish(anySong()) }

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
        switch random.below(8) {
        case 7:
            // In the stored state, an empty library looks like the end of a session.
            let missing = scenario.songs > 1 && random.chance(50) ? random.below(scenario.songs) : nil
            people.story.changeLibrary(without: missing)
            say(.library(people.story.library), 0)
        case 0: say(.host(.skip), 0)
        case 1: say(.host(.pause), 0)
        case 2: say(.host(.play), 0)
        case 3: say(.host(.add(song)), 0)
        case 4: say(.host(.remove(song)), 0)
        default:
            guard scenario.hasPlayer, let playing = people.screens[0].playing else { return say(.host(.play), 0) }
            switch random.below(4) {
            case 0: say(.player(.ended(playing)), 0)
            case 1: say(.player(.failed(playing)), 0)
            default: say(.player(.elapsed(playing, random.time(0...60_000))), 0)
            }
        }
    }

    /// A vote on a road. The next vote of the road takes this one back, so that each causes a message.
    mutating func votes() {
        people.roadVotes += 1
        let song = people.story.songID((people.roadVotes - 1) / 2 % scenario.favourites)
        say(.guest(people.roadVotes % 2 == 0 ? .takeBackVote(song) : .vote(song)), 1)
    }

    /// The person at a guest without a host tries to join again.
    mutating func retries(_ node: Int, after time: ClosedRange<Int>) { later(time) { $0.say(.retry, node) } }

    /// Records an input that is a cause in the host's story, or the last wish of a guest for its song.
    mutating func note(_ input: NodeInput, _ node: Int) {
        switch input {
        case .guest(.vote(let song)): wished(song, .vote, node)
        case .guest(.takeBackVote(let song)): wished(song, .takeBack, node)
        case .guest(.suggest(let song)): wished(song, .suggest, node)
        case .host(let command):
            people.story.causes.append(input)
            if case .kick(let guest) = command { people.story.kicked.insert(guest) }
        case .player, .library: people.story.causes.append(input)
        case .end: people.story.endings += 1
        default: break
        }
    }

    private mutating func wished(_ song: Song.ID, _ kind: Wish.Kind, _ node: Int) {
        people.figures.wishes += 1
        people.story.wished(nodes[node].peer, song, at: instant)
        people.wishes.wished(node, song, kind, at: instant)
    }
}

extension NodeInput {
    /// The input in a few words, for people.
    var words: String {
        switch self {
        case .guest(let event): "\(event)".replacing("GuestFeature.Event.", with: "")
        case .host(let command): "\(command)"
        case .player(let report): "that the player says \(report)"
        case .library(let library): "that its library has \(library.songs.count) songs"
        case .retry: "to retry"
        case .leave: "to leave"
        case .end: "to end the session"
        case .quit: "to quit"
        default: "something else"
        }
    }
}
