// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshProtocol

/// A request to mpv (mpv(1), "List of Input Commands").
enum MPVCommand: Hashable, Sendable {
    /// Play this file now, from this position and with this gain in decibels, and drop all other files.
    case load(path: String, from: MeshInstant, gain: Double = 0)
    /// Play this file after the present one, without a gap.
    case append(path: String, gain: Double = 0)
    /// Drop the appended files.
    case dropAppended
    /// Pause, or continue.
    case pause(Bool)
    /// Set the volume, in percent.
    case volume(Int)
    /// Set mpv's own volume: a step of a fade, or its end.
    case level(Double)
    /// Get the position in the present file.
    case position
    /// Stop, and drop all files.
    case stop
    /// Report errors, for the log.
    case sayErrors
    /// Report the audio devices, now and at each change.
    case sayDevices
    /// Get the name of the audio driver in use.
    case driver
}

extension MPVCommand {
    /// The request as a line (mpv(1), "JSON IPC").
    func line(request: Int) throws -> [UInt8] {
        var bytes = Array(try JSONEncoder().encode(Line(command: command, request_id: request)))
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private struct Line: Encodable {
        var command: Command
        // mpv defines this name.
        // swift-format-ignore: AlwaysUseLowerCamelCase
        var request_id: Int
    }

    private enum Command: Encodable {
        /// Named arguments, since the position of `options` differs between mpv's versions.
        case named([String: String], [String: String] = [:])
        case words([String], Bool? = nil)
        /// Set a property to a number.
        case set(String, to: Double)
        /// Report a property, under this number.
        case observe(String, as: Int)

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .named(let fields, let options):
                var container = encoder.container(keyedBy: Name.self)
                for (name, text) in fields { try container.encode(text, forKey: Name(stringValue: name)) }
                if !options.isEmpty { try container.encode(options, forKey: Name(stringValue: "options")) }
            case .words(let words, let value):
                var container = encoder.unkeyedContainer()
                for word in words { try container.encode(word) }
                if let value { try container.encode(value) }
            case .set(let property, let number):
                var container = encoder.unkeyedContainer()
                try container.encode("set_property")
                try container.encode(property)
                try container.encode(number)
            case .observe(let property, let number):
                var container = encoder.unkeyedContainer()
                try container.encode("observe_property")
                try container.encode(number)
                try container.encode(property)
            }
        }
    }

    private struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// The filter for a gain, as an option of one file, so that it changes no sample of another file.
    private static func options(gain: Double) -> [String: String] {
        guard gain != 0 else { return [:] }
        return ["af": "lavfi=[volume=volume=\((gain * 100).rounded() / 100)dB]"]
    }

    private var command: Command {
        switch self {
        case .load(let path, let place, let gain):
            .named(
                ["name": "loadfile", "url": path, "flags": "replace"],
                ["start": "\(place / .seconds(1))"].merging(Self.options(gain: gain)) { first, _ in first })
        // If the present file has ended in the meantime, this one plays at once, and mpv reports it as usual.
        case .append(let path, let gain):
            .named(["name": "loadfile", "url": path, "flags": "append-play"], Self.options(gain: gain))
        case .dropAppended: .words(["playlist-clear"])
        case .pause(let pauses): .words(["set_property", "pause"], pauses)
        case .volume(let percent): .set("volume", to: PlayerLimits.playersVolume(percent))
        case .level(let level): .set("volume", to: level)
        case .position: .words(["get_property", "time-pos"])
        case .stop: .words(["stop"])
        case .sayErrors: .words(["request_log_messages", "error"])
        case .sayDevices: .observe(MPVEvent.devicesProperty, as: 1)
        case .driver: .words(["get_property", "current-ao"])
        }
    }
}
