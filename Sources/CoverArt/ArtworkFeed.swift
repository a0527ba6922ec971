// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Decides which pictures a host loads, for the song that plays and those that come next, and what a person is told.
public struct ArtworkFeed: Sendable {
    /// What happens.
    public enum Event: Sendable {
        /// These songs are shown, the one that plays first.
        case songs([Song])
        /// A picture is here.
        case loaded(url: String, path: String)
        /// A picture could not be had.
        case failed(url: String, NetworkError)
        /// The person wants to have it tried again, and to be told what comes of it.
        case retry
        /// Time has passed: see `deadline`.
        case tick
    }

    /// What is to be done.
    public enum Action: Sendable {
        /// Load the picture at this address, and say what came of it.
        case load(url: String)
        /// This song's picture is in this file.
        case show(Song.ID, path: String)
        /// Pictures cannot be had, for this cause: once for as long as there are any. Where it `isExpected`, nobody is told.
        case fails(NetworkError, isExpected: Bool)
        /// None that is shown fails for this cause any more.
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
    /// Why those of the shown songs' pictures fail that do; one that is tried again fails until it has come.
    private var failing: [String: NetworkError] = [:]
    /// The causes that are reported.
    private var causes: Set<NetworkError> = []
    /// Those of them that are to be reported again, since the person has asked to have it tried.
    private var tried: Set<NetworkError> = []
    /// Addresses whose failure the person was told of, in their order.
    private var told: [String] = []
    /// The person has asked for what is being loaded.
    private var isAsked = false

    /// A feed that knows of no song yet.
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

    /// Takes an event.
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
        // A dead zone is told only to somebody who has asked; what is told until it is over, each time that it begins.
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
