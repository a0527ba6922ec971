// SPDX-License-Identifier: Apache-2.0

extension Doctor {
    /// The oldest version of mpv that works (docs/player.md).
    private static let oldestPlayer = [0, 33]

    /// Findings about mpv, its audio devices and the music folder. A missing player is no fault on a device that has
    /// not hosted music.
    var musicFindings: [Finding] {
        guard let music else { return [] }
        let player = playerFinding(music)
        let sound = player.level == .broken || music.player == .isMissing ? nil : soundFinding(music)
        return [player, sound, libraryFinding(music)].compactMap(\.self)
    }

    private func playerFinding(_ music: MusicFacts) -> Finding {
        let meaning =
            "A host plays a music folder with it. Without it there is no sound; --player none keeps time without sound."
        switch music.player {
        case .isMissing where !music.isHost:
            return Finding(
                .player, .good, "mpv is not installed. A host needs it to play music: sudo apt install mpv")
        case .isMissing:
            return Finding(
                .noPlayer, .broken, "mpv is not installed.", meaning: meaning, command: "sudo apt install mpv")
        case .fails(let cause):
            return Finding(
                .playerFails, .broken, "mpv is installed, but does not run (\(cause.prefix(120))).", meaning: meaning,
                command: "mpv --no-config --version")
        case .runs(let version) where !version.isEmpty && version.lexicographicallyPrecedes(Self.oldestPlayer):
            return Finding(
                .playerOld, .broken, "mpv \(Self.text(version)) is too old: RoadMesh needs 0.33 or newer.",
                meaning: meaning, command: "apt-cache policy mpv")
        case .runs(let version):
            return Finding(
                .player, .good, "mpv \(version.isEmpty ? "is installed" : Self.text(version) + " is installed").")
        }
    }

    private static func text(_ version: [Int]) -> String { version.map(String.init).joined(separator: ".") }

    private func soundFinding(_ music: MusicFacts) -> Finding {
        let list = "mpv --no-config --audio-device=help"
        if let wanted = music.wantedDevice {
            // mpv does not list its null output.
            guard wanted.hasPrefix("null") || music.devices.contains(wanted) else {
                return Finding(
                    .noSuchDevice, .broken, "mpv knows no audio device \"\(wanted)\".",
                    meaning: "With it a host plays no sound: every screen shows \"No sound\". The existing devices:",
                    command: list
                )
            }
            return Finding(.sound, .good, "mpv knows the audio device \"\(wanted)\".")
        }
        guard !music.hasLoudspeaker else {
            return Finding(.sound, .good, "mpv finds an audio device.")
        }
        let message = "mpv finds no sound card or loudspeaker."
        guard music.isHost else { return Finding(.sound, .good, message + " A host needs one.") }
        return Finding(
            .noSound, .broken, message,
            meaning:
                "The songs wait, and every screen shows \"No sound\". This user may not be in the group audio, or the sound "
                + "server does not run. The devices that mpv finds:", command: list)
    }

    private func libraryFinding(_ music: MusicFacts) -> Finding? {
        guard let (path, state) = music.library else { return nil }
        switch state {
        case .isMissing:
            return Finding(
                .libraryMissing, .worthKnowing, "The music folder \(path) does not exist.",
                meaning: "A host starts without it, and plays when it appears, for example with a stick.",
                command: "ls -ld \(Self.quoted(path))")
        case .isUnreadable(let cause):
            return Finding(
                .libraryUnreadable, .broken, "The music folder \(path) cannot be read (\(cause)).",
                meaning: "A host finds and plays none of its songs. The user of the host must be able to read it.",
                command: "sudo chmod -R a+rX \(Self.quoted(path))")
        case .isThere(0, _):
            return Finding(
                .libraryEmpty, .worthKnowing, "The music folder \(path) has no songs.",
                meaning: "A host has nothing to play. The folder of a stick that is not mounted is empty.",
                command: "findmnt -T \(Self.quoted(path))")
        case .isThere(let songs, let unreadable) where unreadable > 0:
            return Finding(
                .libraryPartlyRead, .worthKnowing,
                "The music folder \(path) has \(songs) songs; \(unreadable) files and folders in it cannot be read.",
                meaning: "A host skips files and folders that it cannot read.",
                command: "sudo chmod -R a+rX \(Self.quoted(path))")
        case .isThere(let songs, _):
            return Finding(
                .library, .good,
                "The music folder \(path) has \(songs == 1 ? "1 song" : "\(songs) songs").")
        }
    }

    /// The finding about whether phones can reach the page.
    var phonesFinding: Finding? {
        guard let phones else { return nil }
        guard let address = phones.address else {
            let message = "This device is in no network that phones can join."
            guard phones.isHost else {
                return Finding(.phones, .good, message + " Passengers with a browser need such a network.")
            }
            return Finding(
                .noNetwork, .worthKnowing, message,
                meaning:
                    "Passengers cannot open the page in a browser. Guests with the program use Bluetooth. The addresses of this "
                    + "device:", command: "ip -brief address")
        }
        if case .filters(let firewall) = phones.firewall {
            return Finding(
                .firewall, .worthKnowing, "\(firewall) refuses connections that its rules do not allow.",
                meaning: "Phones can open the page at \(address) only if a rule allows its port.",
                command: Self.allow(phones.port, by: firewall))
        }
        guard phones.isPortFree else {
            return Finding(
                .portTaken, .worthKnowing, "Another program uses port \(phones.port).",
                meaning:
                    "The page for phones uses another port, which a firewall may not allow. To choose one, use --http "
                    + "\(address):PORT. To see the program:",
                command: "sudo ss -ltnp 'sport = :\(phones.port)'")
        }
        let firewall = phones.firewall == .unknown ? "; only root can check the firewall" : ""
        return Finding(
            .phones, .good, "Phones in its network can reach a page at \(address):\(phones.port)\(firewall).")
    }

    private static func allow(_ port: Int, by firewall: String) -> String {
        switch firewall {
        case "ufw": "sudo ufw allow \(port)/tcp"
        case "firewalld": "sudo firewall-cmd --permanent --add-port=\(port)/tcp && sudo firewall-cmd --reload"
        default: "sudo nft list ruleset"
        }
    }
}
