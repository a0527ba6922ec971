// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BLETransport
import Dashboard
import Diagnostics
import FoundationEssentials
import Glibc
import Logging
import MeshNode
import MusicLibrary
import MusicPlayer
import TerminalUI

/// `roadmesh doctor`
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check this device, and show what to repair.",
        discussion:
            "It changes nothing without --fix. With two adapters, each advertises briefly while the other "
            + "listens."
    )

    @OptionGroup var options: NodeOptions

    @OptionGroup var music: DoctorMusicOptions

    @Flag(
        help: ArgumentHelp(
            "Show the changes that repair problems, ask once, make them, and check again. As root: sudo roadmesh "
                + "doctor --fix."))
    var fix = false

    @Flag(help: "Undo the changes of --fix that no other program has changed since. As root.")
    var undo = false

    @Flag(help: "With --fix or --undo: do not ask.")
    var yes = false

    func validate() throws {
        guard !(fix && undo) else { throw ValidationError("--fix and --undo exclude each other.") }
        guard !yes || fix || undo else { throw ValidationError("--yes goes with --fix or --undo.") }
    }

    func run() async throws {
        let report = DoctorReport(isJSON: options.json)
        let code =
            if fix {
                try await DoctorFix(report: report, options: options, music: music, isAgreed: yes).run()
            } else if undo {
                try await DoctorUndo(report: report, isAgreed: yes).run()
            } else {
                try await check(report)
            }
        if let code { throw ExitCode(code.rawValue) }
    }

    private func check(_ report: DoctorReport) async throws -> SetupProblem.ExitCode? {
        let check = try await DoctorCheck(options: options, music: music, isForUsers: false)
        let code = await check.tell(report)
        if check.doctor.findings.contains(where: { $0.level != .good && FixPlanner.repaired.contains($0.code) }) {
            report.say("To repair what RoadMesh can change: sudo roadmesh doctor --fix")
        }
        return code
    }
}

/// A check of the device.
struct DoctorCheck {
    private let options: NodeOptions
    let radio: RadioFacts?
    let doctor: Doctor

    /// Collects the facts. With `isForUsers`, root checks the permissions of a user who starts this program, since root
    /// has all of them.
    init(
        options: NodeOptions, music: DoctorMusicOptions, isForUsers: Bool,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws {
        self.options = options
        let folder = try options.statePath()
        let adapters = try RadioChoice.adapters(options.adapter)
        var radio: RadioFacts?
        if options.radio != .virtual {
            do {
                radio = try await RadioCheckup.collect()
            } catch {
                throw SetupProblem(error)
            }
        }
        if isForUsers {
            radio?.permissions = ProgramFile.running().permissions
            if radio?.service == .answers, let denial = await FixFacts.User(environment: environment)?.denial() {
                radio?.service = .denies(denial)
            }
        }
        self.radio = radio
        var doctor = Doctor(radio: radio, device: .collect(folder: folder), wanted: adapters)
        if isForUsers { doctor.permissionsAre = .anyUser }
        (doctor.music, doctor.phones) = (await music.facts(state: folder), await music.phones(state: folder))
        self.doctor = doctor
    }

    /// Reports all findings and tests the radios. Returns the exit code; nil if nothing is broken.
    func tell(_ report: DoctorReport) async -> SetupProblem.ExitCode? {
        var diagnosis = Diagnosis()
        func tell(_ findings: [Finding]) {
            for finding in findings { report.show(finding) }
            diagnosis.findings += findings
        }
        tell(doctor.findings)
        let maySet = radio?.permissions.mayAdminister == true
        let settings = options.settingsPolicy(maySet ? options.adapterSettings : .leave)
        for test in await ReceptionTest.run(
            adapters: doctor.adaptersToTry, settings: settings, logger: options.errorLogger)
        {
            tell([doctor.finding(test), doctor.kernelFinding(test)].compactMap(\.self))
        }
        report.show(diagnosis)
        return diagnosis.exitCode
    }
}

/// The music of a host to check.
struct DoctorMusicOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Check this folder of music, and mpv and its audio device as a host needs them.", valueName: "path"),
        completion: .directory)
    var library: String?

    @Option(help: ArgumentHelp("Check that mpv knows this audio device.", valueName: "name"))
    var audioDevice: String?

    func validate() throws {
        try refuseEmpty([("--library <path>", library), ("--audio-device <name>", audioDevice)])
    }

    /// Whether a host with music runs with this state folder, or has run.
    private func isHost(_ folder: String) -> Bool { library != nil || NodeOptions.isThere(folder + "/library.sqlite") }

    func facts(state folder: String) async -> MusicFacts {
        var facts = await MusicFacts.collect(hasPlayer: (try? MPVPlayer.find()) != nil, isHost: isHost(folder))
        facts.wantedDevice = audioDevice
        guard let library else { return facts }
        let path = NodeOptions.absolute(library)
        let look = FolderLook(at: path)
        let state: MusicFacts.Library =
            switch look.problem {
            case .missing?: .isMissing
            case .unreadable(let cause)?: .isUnreadable(cause)
            case nil: .isThere(songs: look.songs, unreadable: look.unreadable)
            }
        facts.library = (path, state)
        return facts
    }

    func phones(state folder: String) async -> PhoneFacts {
        let now = PhoneAddress.now()
        // The page of this state folder may have the port at present.
        let ports = FileManager.default.contents(atPath: folder + "/page-port")
        let isOwn = ports.map { String(decoding: $0, as: UTF8.self) } == String(now.port)
        return PhoneFacts(
            address: now.address, port: now.port, isPortFree: now.isPortFree || isOwn,
            firewall: now.address == nil ? .open : await .now(), isHost: isHost(folder))
    }
}
