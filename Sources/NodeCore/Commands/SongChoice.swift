// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Decides which song or guest a person means: by a number, an identifier, or the beginning of a name on view.
public struct SongChoice: Hashable, Sendable {
    /// The host's state as last shown; nil before the first one.
    public var shown: HostSnapshot?
    /// The songs that the last search found.
    public var found: [Song] = []
    /// The artists and albums that the last search found, artists first.
    public var groups: [SongGroup] = []
    /// How many of `groups` are artists.
    public var artists = 0
    /// The songs that a host can add; a guest does not know them.
    public var library: [Song] = []

    /// Creates a choice. By default nothing is on view.
    public init(shown: HostSnapshot? = nil, found: [Song] = [], library: [Song] = []) {
        self.shown = shown
        self.found = found
        self.library = library
    }

    /// The purpose of a song. It decides in which list a number counts.
    public enum Use: Hashable, Sendable {
        /// A song of the queue.
        case queued
        /// A song that the last search found. A typed beginning can also match a queued song.
        case suggested
        /// A song that the last search found, or any song in the host's library.
        case added
    }

    /// The song or guest that the person means.
    public enum Meaning: Hashable, Sendable {
        /// This identifier. If nothing on view matches but the identifier may still exist, this is the typed text.
        case id(String)
        /// The person may mean several songs or guests, which have these names.
        case several([String])
        /// A number beyond the end of a list.
        case noSuchLine(Int, of: Int)
        /// No match, although everything that the person can mean is on view.
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
        // Some songs have titles such as 1999.
        if let number, let numbered, meaning == .id(text) { return .noSuchLine(number, of: numbered.count) }
        return meaning == .id(text) && !canBeUnseen(text, use) ? .nothing : meaning
    }

    /// The song at a number in the list. Nil for any other text, and for the identifier of a known song.
    func line(_ text: String, for use: Use) -> Song.ID? {
        guard !known(for: use).contains(where: { $0.id == text }), let number = Int(text), let list = numbered(use),
            list.indices.contains(number - 1)
        else { return nil }
        return list[number - 1].id
    }

    /// The guest that a person means, by digits of its identifier or by its full name. For the beginning of a name the
    /// person is asked to confirm: the guest that was meant may have left, and the wrong guest must not be removed.
    public func guest(_ text: String) -> Meaning {
        let guests = shown?.connectedPeers ?? []
        // Digits of an identifier are not the beginning of a name, whether their guest is present or not.
        if Identity.digits(in: text) != nil || guests.contains(where: { $0.name == text }) { return .id(text) }
        // If several guests share the name, the host asks which one is meant.
        let named = guests.filter { TypedName.isMeant($0.name, by: text) }
        if named.count > 1, Set(named.map(\.name)).count == 1 { return .id(named[0].name) }
        let known = guests.map { (id: $0.id, name: UntrustedText.shown($0.name)) }
        guard case .id(let id) = Self.beginning(text, among: known), let guest = known.first(where: { $0.id == id }),
            !TypedName.isMeant(guest.name, by: text)
        else { return Self.beginning(text, among: known) }
        return .several([guest.name])
    }

    /// Stores search results. Further results of the same search are appended, so that the numbers continue. An empty
    /// page after the last results changes nothing: they are still on view.
    public mutating func take(_ found: FoundSongs, for query: SongQuery) {
        if query.from > 0, found.songs.isEmpty, found.groups.isEmpty { return }
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
        // An artist and an album may have the same song as their identifier.
        let named = groups.enumerated().map { (id: "\u{0}\($0)", name: UntrustedText.shown($1.name)) }
        switch Self.beginning(text, among: named) {
        case .id(let id) where id.hasPrefix("\u{0}"): return Int(id.dropFirst()).map(meaning) ?? .nothing
        case .several(let names): return .several(names)
        default: return .nothing
        }
    }

    /// Whether a text may be the identifier of a song that this device does not know. Identifiers contain no spaces.
    private func canBeUnseen(_ text: String, _ use: Use) -> Bool {
        use != .queued && !text.contains(" ") && !(use == .added && !library.isEmpty)
    }

    /// The songs that can be named.
    func known(for use: Use) -> [Song] {
        // The present song is not in the queue. The answer to a wish for it says that it is playing.
        let queue = (shown?.queue.map(\.song) ?? []) + [shown?.nowPlaying?.song].compactMap(\.self)
        return switch use {
        case .queued: queue
        case .suggested: unique(found + queue)
        case .added: unique(found + library + queue)
        }
    }

    /// The list that a number counts in; nil if no queue is known yet.
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

    /// A full name takes precedence over the beginning of a longer one.
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
