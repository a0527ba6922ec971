// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Decides which commands to send to mpv while it plays one file to its end, without sound and as fast as it can
/// (mpv(1), "JSON IPC").
///
/// With `--keep-open` mpv keeps the file open at its end, and then reports the position and the loudness.
struct PlayerTalk: Sendable {
    /// The result, when it is known.
    private(set) var outcome: PlayedOutcome?

    private enum Stage: Hashable {
        case loading
        /// mpv has accepted the file and has given it this entry number.
        case waiting(entry: Int)
        case playing(entry: Int, isAsked: Bool)
        /// mpv is at the end of the file. This many answers are missing.
        case asking(Int)
    }

    private enum Request: Int {
        case load = 1, end, place, tags, loudness
    }

    private let path: String
    private let number: Int
    private let limits: LibraryLimits
    private var stage = Stage.loading
    private var played = PlayedFile(milliseconds: 0)

    /// Starts with a file. `number` must differ between the files of one mpv process.
    init(_ path: String, number: Int, limits: LibraryLimits) {
        (self.path, self.number, self.limits) = (path, number, limits)
    }

    /// The name of the filter that measures.
    static let filter = "measure"

    /// The first question. Its answer distinguishes a player that does not start from one that a file ends.
    static let greeting = Array("{\"command\":[\"get_property\",\"pid\"],\"request_id\":0}\n".utf8)

    /// The first line to send.
    func begin() -> [UInt8] {
        line(["name": "loadfile", "url": path, "flags": "replace"], .load)
    }

    /// Called after a short silence of the player. Returns a line to send.
    mutating func tick() -> [UInt8]? {
        guard case .playing(let entry, false) = stage else { return nil }
        stage = .playing(entry: entry, isAsked: true)
        return get("eof-reached", .end)
    }

    /// Handles a line from mpv and returns the lines to send. The line is untrusted, because mpv reads files of
    /// strangers.
    mutating func heard(_ line: [UInt8]) -> [[UInt8]] {
        let text = Data(String(decoding: line, as: UTF8.self).utf8)
        guard let said = try? JSONDecoder().decode(Said.self, from: text) else { return [] }
        if let event = said.event {
            take(event, said)
        } else if let number = said.request_id, number >= self.number,
            let request = Request(rawValue: number - self.number)
        {
            return answered(request, said)
        }
        return []
    }

    private mutating func take(_ event: String, _ said: Said) {
        switch (event, stage) {
        case ("start-file", .waiting(said.playlist_entry_id)):
            if let entry = said.playlist_entry_id { stage = .playing(entry: entry, isAsked: false) }
        case ("end-file", .waiting(said.playlist_entry_id)), ("end-file", .playing(said.playlist_entry_id ?? -1, _)):
            outcome = .fails(Self.shown(said.file_error ?? "it has no sound"))
        default: break
        }
    }

    private mutating func answered(_ request: Request, _ said: Said) -> [[UInt8]] {
        switch (request, stage) {
        case (.load, .loading):
            if case .entry(let entry)? = said.data {
                stage = .waiting(entry: entry)
            } else {
                outcome = .fails(Self.shown(said.error ?? "it is refused"))
            }
        case (.end, .playing(let entry, _)):
            guard case .flag(true)? = said.data else {
                stage = .playing(entry: entry, isAsked: false)
                return []
            }
            stage = .asking(3)
            return [
                get("time-pos", .place), get("metadata", .tags), get("af-metadata/" + Self.filter, .loudness),
            ]
        case (_, .asking(let missing)):
            note(request, said)
            stage = .asking(missing - 1)
            if missing == 1 { conclude() }
        default: break
        }
        return []
    }

    private mutating func note(_ request: Request, _ said: Said) {
        switch (request, said.data) {
        case (.place, .number(let seconds)?) where seconds.isFinite:
            played.milliseconds = Int((max(0, min(seconds, 1e6)) * 1_000).rounded())
        case (.tags, .texts(let tags)?):
            for (name, text) in tags.prefix(limits.playerTags) {
                played.tags[name.lowercased()] = String(text.unicodeScalars.prefix(Int(limits.tagTextBytes)))
            }
        case (.loudness, .texts(let figures)?):
            let loudness = figures["lavfi.r128.I"].flatMap { Double($0) } ?? -.infinity
            played.loudness = (SongGain.silence...20).contains(loudness) ? loudness : nil
            let peaks = figures.filter { $0.key.hasPrefix("lavfi.r128.sample_peaks_ch") }.values
            played.peak = peaks.compactMap { Double($0) }.filter { (0...SongGain.largestPeak).contains($0) }.max()
        default: break
        }
    }

    private mutating func conclude() {
        outcome = played.milliseconds > 0 ? .plays(played) : .fails("it has no sound")
    }

    private static func shown(_ text: String) -> String { String(text.prefix(100)) }

    // MARK: Lines

    private func get(_ property: String, _ request: Request) -> [UInt8] {
        line(["get_property", property], request)
    }

    private func line(_ command: some Encodable, _ request: Request) -> [UInt8] {
        let line = Line(command: command, request_id: number + request.rawValue)
        return Array((try? JSONEncoder().encode(line)) ?? Data()) + [UInt8(ascii: "\n")]
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    private struct Line<Command: Encodable>: Encodable {
        var command: Command
        var request_id: Int
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    private struct Said: Decodable {
        var event: String?
        var playlist_entry_id: Int?
        var file_error: String?
        var request_id: Int?
        var error: String?
        var data: Value?
    }

    private enum Value: Decodable {
        case number(Double)
        case flag(Bool)
        case entry(Int)
        case texts([String: String])
        case nothing

        // swift-format-ignore: AlwaysUseLowerCamelCase
        private struct Entry: Decodable { var playlist_entry_id: Int }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) {
                self = .flag(flag)
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else if let entry = try? container.decode(Entry.self) {
                self = .entry(entry.playlist_entry_id)
            } else if let texts = try? container.decode([String: String].self) {
                self = .texts(texts)
            } else {
                self = .nothing
            }
        }
    }
}
