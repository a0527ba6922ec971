// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FieldTest
import FoundationEssentials
import MeshNode
import NodeCore
import NodeStore
import TerminalUI
import UnixSignals

/// `roadmesh fieldtest collect`
struct CollectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collect", abstract: "Collect the drives of a fleet from a broker, until it is stopped.",
        discussion: """
            Cars send their recordings of fieldtest record … --broker URL --share. Each row is confirmed when it is on the disk, \
            and is stored once. fieldtest list shows the drives, and fieldtest fleet makes a page about all of them.
            """)

    @Flag(help: "One JSON object per line.")
    var json = false

    @OptionGroup(title: "The broker") var broker: BrokerOptions
    @OptionGroup var options: DriveOptions

    func run() async throws {
        guard let choice = try broker.choice(ProcessInfo.processInfo.environment) else {
            throw SetupProblem(.usage, "Drives are collected at a broker: name it with --broker.")
        }
        let collector = try collector(at: choice, store(in: try NodeOptions.statePath(options.state)))
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await collector.run() }
            for await _ in signals { break }
            group.cancelAll()
        }
    }

    private func collector(at choice: BrokerChoice, _ store: DriveStore) throws(SetupProblem) -> DriveCollector {
        let isJSON = json
        do throws(NodeStoreError) {
            return try DriveCollector(into: store, broker: choice.address, files: choice.files) { news in
                let event = CollectEvent(news, at: Date().timeIntervalSince1970)
                StandardOutput.write(isJSON ? JSONLine.text(event) : event.sentence(choice.address.text))
            }
        } catch {
            throw SetupProblem(.data, "The drives that are here cannot be read (\(error.cause)); check the disk.")
        }
    }

    private func store(in folder: String) throws(SetupProblem) -> DriveStore {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let store = try DriveStore.record(in: folder, now: Date())
            if let path = store.setAside {
                StandardError.write(
                    "roadmesh: The drives here are damaged. They were moved to \(path); a new list "
                        + "begins.")
            }
            return store
        } catch {
            if let problem = SetupProblem.newer(error as? NodeStoreError, in: folder) { throw problem }
            let cause = (error as? NodeStoreError)?.cause ?? "the folder cannot be made"
            throw SetupProblem(
                .cannotCreate,
                "Drives cannot be saved in \(folder) (\(cause)); make room and make it writable, or name another folder with "
                    + "--state.")
        }
    }
}

/// An event while drives are collected, for programs and in words.
struct CollectEvent: Encodable {
    struct Car: Encodable {
        var id: String
        var name: String
    }

    var at: Double
    /// `broker`, `drive`, `noRoom`, `notKept` or `otherCollector`.
    var event: String
    var state: String?
    var cause: String?
    var drive: Int64?
    var name: String?
    var car: Car?
    var role: String?
    var version: String?
    var rows: Int?
    var seconds: Double?
    var unreadableRows: Int?
    var ending: Drive.Ending?

    init(_ news: DriveCollector.News, at: Double) {
        (self.at, event) = (at, "drive")
        switch news {
        case .connected: (event, state) = ("broker", "connected")
        case .unreachable(let cause): (event, state, self.cause) = ("broker", "unreachable", cause)
        case .notKept(let cause): (event, self.cause) = ("notKept", cause)
        case .drive(.begins(let progress)): set("begins", progress, .underWay)
        case .drive(.goesOn(let progress)): set("goesOn", progress, .underWay)
        case .drive(.complete(let progress)):
            set("complete", progress, progress.isCutOff ? .cutOff : .complete)
        case .drive(.noRoom(let car)): (event, self.car) = ("noRoom", Car(id: car, name: ""))
        case .drive(.other): event = "otherCollector"
        }
    }

    private mutating func set(_ state: String, _ progress: CollectMachine.Progress, _ ending: Drive.Ending) {
        self.state = state
        (drive, name, rows) = (progress.number, progress.header.name, progress.rows)
        car = Car(id: progress.header.peer.id, name: progress.header.peer.name)
        (role, version) = (progress.header.role.rawValue, progress.header.version)
        (seconds, unreadableRows, self.ending) = (progress.seconds, progress.unreadable, ending)
    }

    func sentence(_ broker: String) -> String {
        switch (event, state) {
        case ("broker", "connected"): return "Collecting drives at \(broker). Stop with Ctrl-C."
        case ("broker", _): return "The broker cannot be reached: \(cause ?? "?"). RoadMesh keeps trying."
        case ("notKept", _):
            return
                "The disk accepts no writes: \(cause ?? "?"). Cars send the rows again; make room, or make it writable."
        case ("noRoom", _): return "There is no room for the drives of \(car?.id ?? "?"); delete some that are here."
        case ("otherCollector", _):
            return "Another collector runs at this broker. Stop one of the two: cars cannot tell them apart."
        default: return drivesSentence
        }
    }

    private var drivesSentence: String {
        let what = "\(drive ?? 0)  \(name ?? "?")  (\(car?.name ?? "?"), \(role ?? "?"), roadmesh \(version ?? "?"))"
        let unreadable = unreadableRows.flatMap { $0 > 0 ? "; \($0) could not be read" : nil } ?? ""
        let length = "\(rows ?? 0) rows, \(Format.time(seconds ?? 0))\(unreadable)"
        switch state {
        case "begins": return "\(what) begins."
        case "goesOn": return "\(what) goes on: \(length)."
        default: return "\(what) is complete\(ending == .cutOff ? " as far as it goes" : ""): \(length)."
        }
    }
}
