// SPDX-License-Identifier: Apache-2.0

import Foundation
import MusicLibrary
import Testing

@testable import Diagnostics

@Suite("The doctor's findings about music and the page")
struct MusicFindingTests {
    static let faults = [
        DoctorTests.Fault(.noPlayer, .broken, 69) { $0.music?.player = .isMissing },
        .init(.playerFails, .broken, 69) { $0.music?.player = .fails("signal 11") },
        .init(.playerOld, .broken, 69) { $0.music?.player = .runs(version: [0, 32, 0]) },
        .init(.noSound, .broken, 69) { $0.music?.devices = ["auto", "alsa", "jack", "sdl", "alsa/pulse"] },
        .init(.noSound, .broken, 69) { $0.music?.devices = ["auto", "pulse", "pulse/auto_null"] },
        .init(.noSuchDevice, .broken, 69) { $0.music?.wantedDevice = "alsa/plughw:CARD=Gone" },
        .init(.libraryMissing, .worthKnowing, 0) { $0.music?.library = ("/media/stick", .isMissing) },
        .init(.libraryUnreadable, .broken, 77) {
            $0.music?.library = ("/root/music", .isUnreadable("Permission denied"))
        },
        .init(.libraryEmpty, .worthKnowing, 0) {
            $0.music?.library = ("/srv/music", .isThere(songs: 0, unreadable: 0))
        },
        .init(.libraryPartlyRead, .worthKnowing, 0) {
            $0.music?.library = ("/srv/music", .isThere(songs: 7, unreadable: 2))
        },
        .init(.noNetwork, .worthKnowing, 0) { $0.phones?.address = nil },
        .init(.portTaken, .worthKnowing, 0) { $0.phones?.isPortFree = false },
        .init(.firewall, .worthKnowing, 0) { $0.phones?.firewall = .filters("ufw") },
    ]

    @Test("each fault is reported once, with its meaning and a command", arguments: faults)
    func fault(_ fault: DoctorTests.Fault) throws {
        var doctor = DoctorTests.playing()
        #expect(doctor.findings.allSatisfy { $0.level == .good })
        fault.plant(&doctor)
        let found = doctor.findings.filter { $0.level != .good }
        #expect(found.map(\.code) == [fault.code])
        let finding = try #require(found.first)
        #expect(finding.level == fault.level && !finding.meaning.isEmpty && finding.command?.isEmpty == false)
        #expect(finding.exitCode?.rawValue ?? 0 == fault.exitCode)
    }

    @Test("a device that has hosted no music needs no player, no loudspeaker and no network")
    func guest() {
        var doctor = DoctorTests.healthy()
        doctor.music = MusicFacts(player: .isMissing)
        doctor.phones = PhoneFacts(address: nil, port: 8_080)
        #expect(doctor.findings.allSatisfy { $0.level == .good })
        #expect(doctor.findings.contains { $0.message.contains("sudo apt install mpv") })
        doctor.music = MusicFacts(player: .runs(version: []))
        #expect(doctor.findings.allSatisfy { $0.level == .good })
    }

    @Test("a device that was named is looked for in mpv's list, and a null output is in none")
    func device() {
        var doctor = DoctorTests.playing()
        for name in ["alsa/sysdefault:CARD=PCH", "null/", "null"] {
            doctor.music?.wantedDevice = name
            #expect(doctor.findings.allSatisfy { $0.level == .good }, "\(name)")
        }
    }

    @Test(
        "mpv's version is read from its first line",
        arguments: [
            ("mpv 0.35.1 Copyright © 2000-2023 mpv/MPlayer", [0, 35, 1]), ("mpv v0.40.0-dirty", [0, 40, 0]),
            ("mpv git-2024", []), ("", []),
        ])
    func version(text: String, numbers: [Int]) { #expect(MusicFacts.version(text) == numbers) }

    @Test("mpv's list of audio devices is read, whatever is in their descriptions")
    func devices() {
        let text = """
            List of detected audio devices:
              'auto' (Autoselect device)
              'alsa' (Default (alsa))
              'alsa/sysdefault:CARD=PCH' (HDA Intel PCH, 'Analog'/Default Audio Device)

            """
        #expect(MusicFacts.devices(text) == ["auto", "alsa", "alsa/sysdefault:CARD=PCH"])
    }

    @Test("the mpv of this machine says which version it is, and which devices there are")
    func real() async {
        let facts = await MusicFacts.collect(hasPlayer: true, isHost: false)
        guard case .runs(let version) = facts.player else {
            Issue.record("\(facts.player)")
            return
        }
        #expect(version.count >= 2 && facts.devices.first == "auto")
    }

    @Test("ufw is on where its settings say so, and a chain that drops by default is a firewall")
    func firewall() {
        #expect(PhoneFacts.Firewall.isUFWOn("# on\nENABLED=yes\nLOGLEVEL=low\n"))
        #expect(!PhoneFacts.Firewall.isUFWOn("#ENABLED=yes\nENABLED=no\n"))
        let chain = "table inet filter {\n\tchain input {\n\t\ttype filter hook input priority filter; policy "
        #expect(PhoneFacts.Firewall.drops(chain + "drop;\n\t}\n}\n"))
        #expect(!PhoneFacts.Firewall.drops(chain + "accept;\n\t}\n}\n"))
    }

    @Test("the songs of a folder are counted by their names, and a folder that is not there is missing")
    func library() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "look-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(FolderLook(at: folder.path).problem == .missing)
        try FileManager.default.createDirectory(
            at: folder.appending(path: "album"), withIntermediateDirectories: true)
        #expect(FolderLook(at: folder.path) == FolderLook())
        for name in ["a.mp3", "album/b.flac", "album/cover.jpg", "readme.txt"] {
            try Data().write(to: folder.appending(path: name))
        }
        #expect(FolderLook(at: folder.path) == FolderLook(songs: 2))
        #expect(FolderLook(at: folder.appending(path: "a.mp3").path).problem == .missing)
    }
}
