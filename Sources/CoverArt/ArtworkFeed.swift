// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Decides which pictures a host loads for the current song and the next songs, and which failures a person sees.
public struct ArtworkFeed: Sendable {
    /// An event of the feed.
    public enum Event: Sendable {
        /// These songs are shown, the current one first.
        case songs([Song])
        /// A picture is loaded.
        case loaded(url: String, path: String)
        /// A picture could not be loaded.
        case failed(url: String, NetworkError)
        /// The person wants another attempt and wants to see the result.
        case retry
        /// Time has passed: see `deadline`.
        case tick
    }

    /// An action for the loader.
    public enum Action: Sendable {
        /// Load the picture at this URL, and report the result.
        case load(url: String)
        /// This song's picture is in this file.
        case show(Song.ID, path: String)
        /// Pictures cannot be loaded, for this cause. Each cause is reported once until no picture fails for it. An
        /// expected failure is not shown.
        case fails(NetworkError, isExpected: Bool)
        /// No shown picture fails for this cause any more.
        case recovered(NetworkError)
    }

    private enum State: Hashable, Sendable {
        case loading
        case loaded(path: String)
        case failed(at: MeshInstant)
    }

    private let limits: ArtworkLimits
    private var songs: [(id: Song.ID, url: String)] = []
    private var states: [String: State] = [:]
    private var shown: [Song.ID: String] = [:]
    /// The errors of the shown songs' pictures. During a new attempt, a picture counts as failed until it has arrived.
    private var failing: [String: NetworkError] = [:]
    /// The reported causes.
    private var causes: Set<NetworkError> = []
    /// Causes to report again, since the person has requested another attempt.
    private var tried: Set<NetworkError> = []
    /// URLs of failures that the person has seen, in order.
    private var told: [String] = []
    /// Whether the person has requested the current downloads.
    private var isAsked = false

    /// A feed without songs.
    public init() {
        self.init(limits: .standard)
    }

    init(limits: ArtworkLimits) {
        self.limits = limits
    }

    /// When `tick` is due.
    public var deadline: MeshInstant? {
        states.values.compactMap { if case .failed(let at) = $0 { at + limits.askAgain } else { nil } }.min()
    }

    /// Decides the actions for an event.
    public mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        switch event {
        case .songs(let songs): return show(songs, now: now)
        case .loaded(let url, let path):
            guard states[url] != nil else { return [] }
            states[url] = .loaded(path: path)
            failing[url] = nil
            return showLoaded() + recovered()
        case .failed(let url, let error):
            guard states[url] != nil else { return [] }
            states[url] = .failed(at: now)
            failing[url] = error
            return recovered() + report(error, of: url)
        case .retry:
            states = states.filter { if case .failed = $0.value { false } else { true } }
            (told, tried, isAsked) = ([], causes, true)
            return loadMissing(now: now)
        case .tick:
            isAsked = false
            return loadMissing(now: now)
        }
    }

    private mutating func show(_ all: [Song], now: MeshInstant) -> [Action] {
        songs = all.prefix(limits.songsAhead).compactMap { song in song.albumArtURL.map { (song.id, $0) } }
        let wanted = Set(songs.map(\.url)), present = Set(songs.map(\.id))
        states = states.filter { wanted.contains($0.key) }
        failing = failing.filter { wanted.contains($0.key) }
        shown = shown.filter { present.contains($0.key) }
        return showLoaded() + recovered() + loadMissing(now: now)
    }

    private mutating func showLoaded() -> [Action] {
        songs.compactMap { song in
            guard case .loaded(let path) = states[song.url], shown[song.id] != path else { return nil }
            shown[song.id] = path
            return .show(song.id, path: path)
        }
    }

    private mutating func loadMissing(now: MeshInstant) -> [Action] {
        songs.compactMap { song in
            switch states[song.url] {
            case .loading, .loaded: return nil
            case .failed(let at) where now < at + limits.askAgain: return nil
            case .failed, nil:
                states[song.url] = .loading
                return .load(url: song.url)
            }
        }
    }

    private mutating func report(_ error: NetworkError, of url: String) -> [Action] {
        let isAgain = tried.remove(error) != nil
        guard causes.insert(error).inserted || isAgain else { return [] }
        return [.fails(error, isExpected: isExpected(error, of: url))]
    }

    private mutating func isExpected(_ error: NetworkError, of url: String) -> Bool {
        // Being offline is reported only if the person has requested the download. A critical error is reported each
        // time that it begins.
        if case .offline = error { return !isAsked }
        if error.isCritical { return false }
        guard !told.contains(url) else { return true }
        told.append(url)
        if told.count > limits.toldFailures { told.removeFirst() }
        return false
    }

    private mutating func recovered() -> [Action] {
        let over = causes.subtracting(failing.values)
        causes.subtract(over)
        tried.subtract(over)
        return over.map { .recovered($0) }
    }
}
