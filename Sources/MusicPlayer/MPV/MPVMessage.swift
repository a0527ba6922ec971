// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshProtocol

/// A line from mpv. Its content is untrusted, since it may come from files of unknown origin.
enum MPVMessage: Hashable, Sendable {
    case answer(request: Int, MPVAnswer)
    case event(MPVEvent)
    /// An error, in mpv's words.
    case log(String)
}

/// mpv's answer to a request.
enum MPVAnswer: Hashable, Sendable {
    case done
    /// mpv has accepted a file, under this number.
    case entry(Int)
    case place(MeshInstant)
    case text(String)
    case refused(String)
}

/// An event that mpv reports.
enum MPVEvent: Hashable, Sendable {
    /// The file with this number is opened.
    case began(Int)
    /// The file that was opened last is decoded, and its sound begins.
    case sounding
    /// The file with this number has ended.
    case ended(Int, MPVEnding)
    /// The audio devices, by mpv's names.
    case devices([String])

    /// mpv's name for the list of devices.
    static let devicesProperty = "audio-device-list"
}

/// How a file has ended.
enum MPVEnding: Hashable, Sendable {
    case atItsEnd
    case failed(String)
    /// Nothing of the file was played: it has no sound, or it began at its end.
    case nothingPlayed
    /// No device accepts the sound. The file is not at fault.
    case noSound
    /// The file was stopped or replaced on request, or mpv is ending.
    case stopped
}

extension MPVMessage {
    /// Reads a line of JSON. Nil if it is invalid, has another form, or is not needed.
    init?(line: [UInt8]) {
        // mpv's texts may contain invalid UTF-8, which is replaced.
        let text = Data(String(decoding: line, as: UTF8.self).utf8)
        guard let said = try? JSONDecoder().decode(Said.self, from: text) else { return nil }
        if let event = said.event {
            self.init(event, said)
        } else if let request = said.request_id, let error = said.error {
            self = .answer(request: request, error == "success" ? (said.data?.answer ?? .done) : .refused(error))
        } else {
            return nil
        }
    }

    private init?(_ event: String, _ said: Said) {
        switch (event, said.playlist_entry_id) {
        case ("start-file", let entry?): self = .event(.began(entry))
        case ("playback-restart", _): self = .event(.sounding)
        case ("end-file", let entry?): self = .event(.ended(entry, MPVEnding(said.reason, said.file_error)))
        case ("property-change", _):
            guard said.name == MPVEvent.devicesProperty, case .devices(let names)? = said.data else { return nil }
            self = .event(.devices(names))
        case ("log-message", _): self = .log("\(said.prefix ?? "mpv"): \(said.text ?? "")")
        default: return nil
        }
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    private struct Said: Decodable {
        var event: String?
        var name: String?
        var playlist_entry_id: Int?
        var reason: String?
        var file_error: String?
        var request_id: Int?
        var error: String?
        var data: Value?
        var prefix: String?
        var text: String?
    }

    private enum Value: Decodable {
        case seconds(Double)
        case entry(Int)
        case text(String)
        case devices([String])
        case nothing

        // swift-format-ignore: AlwaysUseLowerCamelCase
        private struct Entry: Decodable { var playlist_entry_id: Int }

        private struct Device: Decodable { var name: String }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let seconds = try? container.decode(Double.self) {
                self = .seconds(seconds)
            } else if let entry = try? container.decode(Entry.self) {
                self = .entry(entry.playlist_entry_id)
            } else if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let devices = try? container.decode([Device].self) {
                self = .devices(devices.map(\.name))
            } else {
                self = .nothing
            }
        }

        var answer: MPVAnswer {
            switch self {
            // No song lasts a year, and a larger number might not fit a `Duration`.
            case .seconds(let seconds): .place(.seconds(max(0, min(seconds, 365 * 86_400))))
            case .entry(let entry): .entry(entry)
            case .text(let text): .text(text)
            case .devices, .nothing: .done
            }
        }
    }
}

extension MPVEnding {
    fileprivate init(_ reason: String?, _ error: String?) {
        switch (reason, error) {
        case ("eof", _): self = .atItsEnd
        case ("error", "audio output initialization failed"): self = .noSound
        case ("error", "no audio or video data played"): self = .nothingPlayed
        case ("error", let error): self = .failed(error ?? "unknown error")
        default: self = .stopped
        }
    }
}
