// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Decides which song or guest a person means, by what is on view: a number, an identifier, or the beginning of a name.
public struct SongChoice: Hashable, Sendable {
    /// What plays and what comes next, as it was shown last; nil before anything was.
    public var shown: HostSnapshot?
    /// What the last search has found.
    public var found: [Song] = []
    /// The artists and albums that were found last, artists first.
    public var groups: [SongGroup] = []
    /// How many of these are artists.
    public var artists = 0
    /// The songs that a host can add; a guest does not know them.
    public var library: [Song] = []

    /// Nothing is on view.
    public init(shown: HostSnapshot? = nil, found: [Song] = [], library: [Song] = []) {
        self.shown = shown
        self.found = found
        self.library = library
    }

    /// What a song is wanted for. It decides which list a number counts in.
    public enum Use: Hashable, Sendable {
        /// A song of the queue.
        case queued
        /// A song that the last search has found; a beginning may also be that of a queued one.
        case suggested
        /// A song that the last search has found, or any of the host's library.
        case added
    }

    /// What was meant.
    public enum Meaning: Hashable, Sendable {
        /// This identifier: of a song on view, or as it was typed where nothing on view fits it.
        case id(String)
        /// One of several, by what they are called.
        case several([String])
        /// A line further down than a list has any.
        case noSuchLine(Int, of: Int)
        /// Nothing that is on view, where everything is that could be meant.
        case nothing
    }

    /// The song that a person means.
    public func song(_ text: String, for use: Use) -> Meaning {
        let known = known(for: use)
        if known.contains(where: { $0.id == text }) { return .id(text) }
        let numbered = text.hasPrefix("+") ? nil : numbered(use)
        let number = numbered == nil ? nil : Int(text)
        if let number, let numbered, numbered.indices.contains(number - 1) { return .id(numbered[number - 1].id) }
        let meaning = Self.beginning(text, among: known.map { (id: $0.id, name: UntrustedText.shown($0.title)) })
        // There are songs that are called 1999.
        if let number, let numbered, meaning == .id(text) { return .noSuchLine(number, of: numbered.count) }
        return meaning == .id(text) && !canBeUnseen(text, use) ? .nothing : meaning
    }

    /// The song on a line of the list that a number counts in; nil for any other text, and for the id of a song that is known.
    func line(_ text: String, for use: Use) -> Song.ID? {
        guard !known(for: use).contains(where: { $0.id == text }), let number = Int(text), let list = numbered(use),
            list.indices.contains(number - 1)
        else { return nil }
        return list[number - 1].id
    }

    /// The guest that a person means: by digits of its identifier, or its whole name. The beginning of a name is asked about,
    /// since the one that was meant may have left, and nobody is sent away by chance.
    public func guest(_ text: String) -> Meaning {
        let guests = shown?.connectedPeers ?? []
        // Digits of an identifier are no beginning of a name, whether their guest is there or not.
        if Identity.digits(in: text) != nil || guests.contains(where: { $0.name == text }) { return .id(text) }
        // Of several with one name the host asks which is meant.
        let named = guests.filter { TypedName.isMeant($0.name, by: text) }
        if named.count > 1, Set(named.map(\.name)).count == 1 { return .id(named[0].name) }
        let known = guests.map { (id: $0.id, name: UntrustedText.shown($0.name)) }
        guard case .id(let id) = Self.beginning(text, among: known), let guest = known.first(where: { $0.id == id }),
            !TypedName.isMeant(guest.name, by: text)
        else { return Self.beginning(text, among: known) }
        return .several([guest.name])
    }

    /// Takes what was found; what comes behind it takes its place there, so that numbers go on.
    public mutating func take(_ found: FoundSongs, for query: SongQuery) {
        if query.shelf == .artists || query.shelf == .albums {
            groups = query.from == 0 || query.from != groups.count ? found.groups : groups + found.groups
            artists = query.shelf == .artists ? groups.count : 0
        } else {
            if query.shelf == .words, query.from == 0 {
                (groups, artists) = (found.artists + found.albums, found.artists.count)
            }
            self.found = query.from == 0 || query.from != self.found.count ? found.songs : self.found + found.songs
        }
    }

    /// The artist or album that a person means: `artist` or `album`, and the identifier of one of its songs.
    public func group(_ text: String) -> Meaning {
        func meaning(_ place: Int) -> Meaning { .id("\(place < artists ? "artist" : "album") \(groups[place].id)") }
        if let number = Int(text), !groups.contains(where: { $0.name.hasPrefix(text) }) {
            guard groups.indices.contains(number - 1) else { return .noSuchLine(number, of: groups.count) }
            return meaning(number - 1)
        }
        // An artist and an album may have the same song as their id.
        let named = groups.enumerated().map { (id: "\u{0}\($0)", name: UntrustedText.shown($1.name)) }
        switch Self.beginning(text, among: named) {
        case .id(let id) where id.hasPrefix("\u{0}"): return Int(id.dropFirst()).map(meaning) ?? .nothing
        case .several(let names): return .several(names)
        default: return .nothing
        }
    }

    /// Whether a text may be the identifier of a song that this device does not know. None has spaces.
    private func canBeUnseen(_ text: String, _ use: Use) -> Bool {
        use != .queued && !text.contains(" ") && !(use == .added && !library.isEmpty)
    }

    /// The songs that can be named.
    func known(for use: Use) -> [Song] {
        // What plays is in no queue, and the answer to a wish for it says so.
        let queue = (shown?.queue.map(\.song) ?? []) + [shown?.nowPlaying?.song].compactMap(\.self)
        return switch use {
        case .queued: queue
        case .suggested: unique(found + queue)
        case .added: unique(found + library + queue)
        }
    }

    /// The list that a number counts in; nil where no queue is known yet.
    private func numbered(_ use: Use) -> [Song]? {
        switch use {
        case .queued: shown?.queue.map(\.song)
        case .suggested, .added: found
        }
    }

    private func unique(_ songs: [Song]) -> [Song] {
        var ids: Set<Song.ID> = []
        return songs.filter { ids.insert($0.id).inserted }
    }

    /// A whole name goes before the beginning of a longer one.
    private static func beginning(_ text: String, among named: [(id: String, name: String)]) -> Meaning {
        let wanted = TypedName.folded(text)
        let fitting = named.map { ($0, name: TypedName.folded($0.name)) }.filter { $0.name.hasPrefix(wanted) }
        let whole = fitting.filter { $0.name == wanted }
        let meant = (whole.isEmpty ? fitting : whole).map(\.0)
        return switch meant.count {
        case 0: .id(text)
        case 1: .id(meant[0].id)
        default: .several(meant.map(\.name))
        }
    }
}
