// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import MeshProtocol
import NodeCore
import Testing

@Suite("Commands of programs and pages")
struct ProgramCommandTests {
    private static func read(_ line: String, _ user: NodeCommand.User, isRecorded: Bool = false) -> NodeInput? {
        guard case .input(let input)? = meaning(line, user, isRecorded: isRecorded) else { return nil }
        return input
    }

    private static func meaning(
        _ line: String, _ user: NodeCommand.User, isRecorded: Bool = false
    ) -> NodeCommand.Meaning? {
        CommandReader(user, isRecorded: isRecorded).meaning(ofProgram: line)
    }

    private static let hostLines: [(String, NodeInput)] = [
        ("play", .host(.play)), ("  pause  ", .host(.pause)), ("skip", .host(.skip)),
        ("artists", .host(.search(SongQuery(on: .artists)))), ("albums", .host(.search(SongQuery(on: .albums)))),
        ("newest", .host(.search(SongQuery(on: .newest)))), ("history", .host(.search(SongQuery(on: .heard)))),
        ("open album s4", .host(.search(SongQuery("s4", on: .album)))), ("more", .host(.more)),
        ("next s4", .host(.playNext("s4"))), ("playNext s4", .host(.playNext("s4"))),
        ("move s4 1", .host(.move("s4", to: 0))), ("unpin s4", .host(.unpin("s4"))),
        ("clear", .host(.clear)), ("undo", .host(.undo)), ("previous", .host(.previous)),
        ("volume 40", .host(.volume(40))), ("duck", .host(.duck(DJLimits.duck))),
        ("duck 12", .host(.duck(12))), ("duck 12 dB", .host(.duck(12))), ("duck off", .host(.duck(0))),
        ("unduck", .host(.duck(0))), ("resume", .host(.play)), ("seek 1:30", .host(.seek(90))),
        ("shuffle on", .host(.shuffle(true))),
        ("shuffle off", .host(.shuffle(false))), ("playlist Party.m3u", .host(.choosePlaylist("Party.m3u"))),
        ("search open road", .host(.search("open road"))), ("add s1", .host(.add("s1"))),
        ("remove  s1 ", .host(.remove("s1"))), ("kick Little Bob", .host(.kick("Little Bob"))), ("retry", .retry),
        ("ban Little Bob 2h", .ban("Little Bob", seconds: 7_200)), ("ban Bob", .ban("Bob", seconds: nil)),
        ("unban Little Bob", .unban("Little Bob")), ("bans", .bans), ("driver", .drivers),
        ("driver Little Bob", .appoint("Little Bob")), ("passenger Bob", .dismiss("Bob")),
        ("invite", .invite(InvitationWish(.once))),
        ("invite 30m", .invite(InvitationWish(.seconds(1_800)))), ("invite none", .invite(InvitationWish(.none))),
        ("end", .end), ("quit", .quit(.quit)),
    ]

    private static let pin = JoiningSecret(random: 314_159)
    private static let invitation = Invitation(
        host: String(repeating: "c1", count: 16), service: .democracyDJ, name: Array(0..<8), secret: Array(16..<32))
    private static let guestLines: [(String, NodeInput)] = [
        ("vote s1", .guest(.vote("s1"))), ("unvote s1", .guest(.takeBackVote("s1"))),
        ("artists", .guest(.search(SongQuery(on: .artists)))), ("albums", .guest(.search(SongQuery(on: .albums)))),
        ("newest", .guest(.search(SongQuery(on: .newest)))), ("history", .guest(.search(SongQuery(on: .heard)))),
        ("open artist s4", .guest(.search(SongQuery("s4", on: .artist)))), ("more", .guest(.more)),
        ("suggest s2", .guest(.suggest("s2"))), ("search open road", .guest(.search("open road"))),
        ("remove s1", .guest(.steer(.remove(songID: "s1")))), ("kick Bob", .guest(.steer(.kick("Bob")))),
        ("move s1 2", .guest(.steer(.move(songID: "s1", to: 1)))),
        ("skip", .guest(.skip)), ("retry", .retry), ("pin 314159", .pin(pin)), ("leave", .leave),
        ("hosts", .hosts), ("join Dad's Car", .join("Dad's Car")), ("forget Dad's Car", .forgetHost("Dad's Car")),
        ("join \(invitation.text)", .joinInvited(invitation)), ("quit", .quit(.quit)),
    ]

    @Test("a host's commands", arguments: hostLines)
    func host(line: String, input: NodeInput) { #expect(Self.read(line, .host) == input) }

    @Test("a guest's commands", arguments: guestLines)
    func guest(line: String, input: NodeInput) { #expect(Self.read(line, .guest) == input) }

    @Test("a number means a song of the list, but a song with that id comes first")
    func numbers() {
        let songs = ["s1", "s2", "2"].map { Song(id: $0, title: "Title \($0)", artist: "A", duration: 1) }
        let choice = SongChoice(found: songs)
        func input(_ line: String) -> NodeInput? {
            guard case .input(let input)? = CommandReader(.host).meaning(ofProgram: line, choice) else { return nil }
            return input
        }
        #expect(input("add 1") == .host(.add("s1")))
        #expect(input("add 2") == .host(.add("2")) && input("add 4") == .host(.add("4")))
        #expect(input("remove 1") == .host(.remove("1")), "no queue is known yet")
    }

    @Test("every command of a program is tested here, so that a new one is")
    func complete() {
        for (user, tested) in [(NodeCommand.User.host, Self.hostLines), (.guest, Self.guestLines)] {
            let words = Set(tested.map { $0.0.split(separator: " ").first.map(String.init) ?? "" })
            // `help` and `view` are tested below. `playNext` is a synonym of `next`.
            let shown = Set(["help", "view"])
            #expect(
                Set(CommandReader(user).commands.map(\.word)).subtracting(shown)
                    == words.subtracting(["playNext", "resume"]))
        }
    }

    @Test("a program can request the view of its node", arguments: [NodeCommand.User.host, .guest])
    func view(user: NodeCommand.User) { #expect(Self.meaning("view", user) == .view) }

    @Test(
        "a duck is 1 to 60 dB, and anything else is answered", arguments: ["duck 0", "duck 61", "duck -3", "duck loud"])
    func duck(line: String) {
        guard case .notice(let notice)? = Self.read(line, .host) else {
            Issue.record("\(line) was taken for a command")
            return
        }
        #expect(notice.code == "badCommand" && notice.suggestion == "Try: duck 20, or duck off.")
    }

    @Test("a moment can be marked only while the drive is recorded")
    func mark() {
        for user in [NodeCommand.User.host, .guest] {
            #expect(Self.read("mark tunnel \u{1B}[31min", user, isRecorded: true) == .mark("tunnel [31min"))
            for (line, isRecorded) in [("mark", true), ("mark tunnel in", false)] {
                guard case .notice = Self.read(line, user, isRecorded: isRecorded) else {
                    Issue.record("\(line) was taken")
                    return
                }
            }
        }
    }

    @Test("an empty line has no effect", arguments: ["", "   ", "\t"])
    func empty(line: String) {
        #expect(Self.meaning(line, .host) == nil)
        #expect(Self.meaning(line, .guest) == nil)
    }

    @Test(
        "any other text is answered as unknown, and changes nothing",
        arguments: ["vote", "skip now", "Vote s1", "x", "help", "view all"])
    func bad(line: String) {
        guard case .notice(let notice) = Self.read(line, .guest) else {
            Issue.record("\(line) was taken for a command")
            return
        }
        #expect(notice.code == "badCommand")
        #expect(
            notice.suggestion
                == "Try: vote ID, unvote ID, search WORDS, suggest ID, skip, remove ID, move ID PLACE, kick NAME, artists, "
                + "albums, newest, history, open artist|album ID, more, retry, hosts, join HOST, forget HOST, pin DIGITS, leave, view, quit."
        )
    }

    // MARK: Pages

    private static func request(_ json: String) throws -> PageRequest {
        try JSONDecoder().decode(PageRequest.self, from: Data(json.utf8))
    }

    @Test(
        "a page has the commands of its viewer, and no others",
        arguments: [
            (
                NodeCommand.User.driverPage,
                [
                    "play", "pause", "skip", "add", "remove", "next", "move", "unpin", "clear", "undo", "previous",
                    "volume", "seek", "shuffle", "playlist", "kick", "ban", "unban", "driver", "passenger", "retry",
                    "invite", "end",
                ]
            ),
            (
                .guestPage,
                [
                    "vote", "unvote", "suggest", "skip", "remove", "move", "kick", "retry", "join", "forget", "pin",
                    "leave",
                ]
            ),
            (.passenger, ["vote", "unvote", "suggest", "skip", "remove", "move", "kick", "retry", "leave"]),
        ])
    func pages(user: NodeCommand.User, words: [String]) throws {
        #expect(CommandReader(user).commands.map(\.word) == words)
        for command in NodeCommand.all {
            let request = try Self.request(
                """
                {"command": "\(command.word)", "songID": "s1", "peer": "ana", "position": 1, "percent": 40, "digits": "314159",
                "host": "Car", "seconds": 90, "isOn": true, "playlist": "Party.m3u"}
                """)
            #expect((CommandReader(user).input(of: request) != nil) == words.contains(command.word), "\(command.word)")
        }
    }

    @Test("a page's request without its song or guest is invalid, and so is one that is too long")
    func incomplete() throws {
        let long = String(repeating: "x", count: 65)
        for json in [
            "{\"command\": \"add\"}", "{\"command\": \"add\", \"songID\": \"\"}",
            "{\"command\": \"remove\", \"songID\": \"\(long)\"}", "{\"command\": \"kick\", \"songID\": \"s1\"}",
            "{\"command\": \"kick\", \"peer\": \"\(long)\"}", "{\"command\": \"quit\"}",
        ] {
            #expect(CommandReader(.driverPage).input(of: try Self.request(json)) == nil, "\(json)")
        }
        let takeBack = try Self.request("{\"command\": \"takeBack\", \"songID\": \"s1\"}")
        #expect(CommandReader(.passenger).input(of: takeBack) == .guest(.takeBackVote("s1")))
    }
}
