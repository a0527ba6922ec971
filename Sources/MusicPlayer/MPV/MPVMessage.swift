// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshProtocol

/// A line that mpv has said. It is data, over files of unknown origin: a line of another form is nil.
enum MPVMessage: Hashable, Sendable {
    case answer(request: Int, MPVAnswer)
    case event(MPVEvent)
    /// An error, in mpv's words.
    case log(String)
}

/// How mpv answers a request.
enum MPVAnswer: Hashable, Sendable {
    case done
    /// A file has been taken on, under this number.
    case entry(Int)
    case place(MeshInstant)
    case text(String)
    case refused(String)
}

/// What mpv says without being asked.
enum MPVEvent: Hashable, Sendable {
    /// The file with this number is opened.
    case began(Int)
    /// The file that was opened last is decoded, and its sound begins.
    case sounding
    /// The file with this number has ended.
    case ended(Int, MPVEnding)
    /// These devices take sound, by mpv's names for them.
    case devices([String])

    /// What mpv calls the list of devices.
    static let devicesProperty = "audio-device-list"
}

/// How a file has ended.
enum MPVEnding: Hashable, Sendable {
    case atItsEnd
    case failed(String)
    /// There is nothing that takes the sound: it is not the file's fault.
    case noSound
    /// As somebody wanted.
    case stopped
}

extension MPVMessage {
    /// Reads a line of JSON. Nil for what is none, and for what nobody needs.
    init?(line: [UInt8]) {
        // mpv's own texts may not be UTF-8; what is not is replaced.
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
            // No song lasts a year, and a Duration has an end.
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
        case ("error", let error): self = .failed(error ?? "unknown error")
        default: self = .stopped
        }
    }
}
