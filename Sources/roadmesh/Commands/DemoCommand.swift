// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Bearers
import DemocracyDJ
import FoundationEssentials
import Glibc
import MeshNode
import MeshProtocol
import TerminalUI
import UnixSignals

/// `roadmesh demo`
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "A host, two guests and a dead zone on this machine, in about 15 seconds.")

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/roadmesh-demo-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let air: VirtualAir
        do {
            air = try VirtualAir(directory: folder + "/air")
        } catch {
            throw SetupProblem(error)
        }
        let story = DemoStory(
            air: air, car: DemoNode("host", "Dad's Car", folder: folder, address: "car"),
            ana: DemoNode("guest", "Ana", folder: folder, address: "ana"),
            bob: DemoNode("guest", "Bob", folder: folder, address: "bob"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for node in [story.car, story.ana, story.bob] { group.addTask { try await node.run() } }
            group.addTask {
                try await Task.sleep(for: .seconds(55))
                throw SetupProblem(
                    .unavailable, "The demo did not finish in time; run it again when this machine is less busy.")
            }
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sigterm, .sigint) { throw CancellationError() }
            }
            group.addTask { try await story.tell() }
            // The three programs and the story end on their own. The alarm and the signals do not.
            for _ in 0..<4 { try await group.next() }
            group.cancelAll()
        }
    }
}

/// The story of the demo.
struct DemoStory: Sendable {
    let air: VirtualAir
    let car: DemoNode
    let ana: DemoNode
    let bob: DemoNode

    /// Length of the dead zone.
    private static let deadZone: Duration = .seconds(10)

    /// Runs the story. Each line is printed after the event has happened.
    func tell() async throws {
        let stage = DemoStage()
        StandardOutput.write(
            """
            RoadMesh demo: a head unit in a car and two passengers vote on the music.
            Three programs on this machine, no Wi-Fi and no Internet; a folder replaces the radio.
            """)
        try await join(stage)
        try await vote(stage)
        try await deadZone(stage)
        try await end(stage)
    }

    private func join(_ stage: DemoStage) async throws {
        stage.scene("All join")
        _ = try await car.next { $0.event == "ready" }
        stage.tell("Dad's Car", "is on the air; guests need no password and no prompt.")
        for guest in [ana, bob] {
            let ready = try await guest.next { $0.event == "ready" }
            let joined = try await guest.next { $0.event == "snapshot" }
            stage.tell(
                guest.name, "hears the car, joins, and sees the queue \(Self.milliseconds(ready, joined)) later.")
        }
        stage.show(try await car.next { $0.connectedPeers?.count == 2 })
        try await stage.pause()
    }

    private func vote(_ stage: DemoStage) async throws {
        stage.scene("They vote")
        try await cast(ana, "s6", "Headlights", stage)
        try await stage.pause()
        try await cast(bob, "s4", "Windows Down", stage)
        try await cast(bob, "s6", "Headlights", stage)
        stage.show(try await car.next { $0.event == "snapshot" && $0.votes(for: "s6") == 2 })
        try await stage.pause()
    }

    private func cast(_ guest: DemoNode, _ songID: Song.ID, _ title: String, _ stage: DemoStage) async throws {
        guest.say("vote \(songID)")
        let queued = try await guest.next { $0.isVote(songID, "queued") }
        let confirmed = try await guest.next { $0.isVote(songID, "confirmed") }
        stage.tell(
            guest.name, "votes for \"\(title)\"; it counts \(Self.milliseconds(queued, confirmed)) later.")
    }

    private func deadZone(_ stage: DemoStage) async throws {
        stage.scene("Bob is out of reach for ten seconds")
        let began = ContinuousClock.now
        try air.cut("bob")
        _ = try await car.next { $0.event == "peerDisconnected" && $0.reason == "linkLost" }
        stage.tell("Dad's Car", "no longer hears Bob. The music plays on.")
        _ = try await bob.next { $0.event == "connection" && $0.state == "reconnecting" }
        stage.tell("Bob", "still sees the last queue, and reconnects as soon as he hears the car.")
        try await stage.pause()
        bob.say("vote s8")
        _ = try await bob.next { $0.isVote("s8", "queued") }
        stage.tell("Bob", "votes for \"Last Exit Home\" anyway; the vote is saved.")
        try await stage.pause()
        try await cast(ana, "s8", "Last Exit Home", stage)
        try await Task.sleep(until: began + Self.deadZone, clock: .continuous)

        let healed = Date().timeIntervalSince1970
        air.heal("bob")
        let back = try await bob.next { $0.event == "connection" && $0.state == "connected" }
        let counted = try await bob.next { $0.isVote("s8", "confirmed") }
        stage.tell("Bob", "is in range again, and back after \(Self.milliseconds(healed, back.at)).")
        stage.tell("Bob", "sees his vote counted after \(Self.milliseconds(healed, counted.at)).")
        let final = try await car.next { $0.event == "snapshot" && $0.votes(for: "s8") == 2 }
        stage.show(final)
        let votes = (final.queue ?? []).reduce(0) { $0 + $1.votes }
        guard votes == 5 else {
            throw SetupProblem(
                .unavailable, "5 votes were cast, but \(votes) are counted; please report this as a bug.")
        }
        stage.scene("5 votes were cast, and 5 are counted, each once.")
        try await stage.pause()
    }

    private func end(_ stage: DemoStage) async throws {
        stage.scene("The ride is over")
        car.say("end")
        _ = try await ana.next { $0.event == "peerDisconnected" && $0.reason == "goodbye" }
        stage.tell("Dad's Car", "ends the session; Ana and Bob see that it is over.")
        for node in [ana, bob, car] { node.say("quit") }
        StandardOutput.write(
            """

            Now on two devices with Bluetooth:
              on one       roadmesh host "Dad's Car" --library ~/Music
              on another   roadmesh guest Ana
            """)
    }

    private static func milliseconds(_ from: DemoEvent, _ to: DemoEvent) -> String { milliseconds(from.at, to.at) }

    private static func milliseconds(_ from: Double, _ to: Double) -> String {
        "\(Int(((to - from) * 1_000).rounded(.up))) ms"
    }
}

extension DemoEvent {
    func isVote(_ songID: Song.ID, _ state: String) -> Bool {
        event == "vote" && self.songID == songID && self.state == state
    }

    func votes(for songID: Song.ID) -> Int? {
        queue?.first { $0.id == songID }?.votes
    }
}
