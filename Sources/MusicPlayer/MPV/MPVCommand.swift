// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshProtocol

/// What mpv is asked for (mpv(1), "List of Input Commands").
enum MPVCommand: Hashable, Sendable {
    /// Play this file now, from this place and so many decibels louder, and forget all others.
    case load(path: String, from: MeshInstant, gain: Double = 0)
    /// Play this file after the present one, without a gap.
    case append(path: String, gain: Double = 0)
    /// Forget what was appended.
    case dropAppended
    /// Pause, or go on.
    case pause(Bool)
    /// How loud to play, in percent.
    case volume(Int)
    /// Set mpv's own volume: a step of a fade, or its end.
    case level(Double)
    /// Where is the present file?
    case position
    /// Be silent.
    case stop
    /// Say which errors there were: for the log.
    case sayErrors
    /// Say which devices take sound, now and at each change.
    case sayDevices
    /// By which of mpv's drivers does the sound go?
    case driver
}

extension MPVCommand {
    /// The line that asks for it (mpv(1), "JSON IPC").
    func line(request: Int) throws -> [UInt8] {
        var bytes = Array(try JSONEncoder().encode(Line(command: command, request_id: request)))
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private struct Line: Encodable {
        var command: Command
        // mpv's name for it.
        // swift-format-ignore: AlwaysUseLowerCamelCase
        var request_id: Int
    }

    private enum Command: Encodable {
        /// By names, since the place of `options` differs between mpv's versions.
        case named([String: String], [String: String] = [:])
        case words([String], Bool? = nil)
        /// Set a property to a number.
        case set(String, to: Double)
        /// Tell of a property, under this number.
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

    /// The filter for a gain. It belongs to one file, so that not a sample of another gets it.
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
        // It plays at once where the present file has ended in the meantime: mpv then says so as it does of any.
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
