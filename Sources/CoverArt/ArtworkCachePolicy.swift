// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides which pictures stay on the disk. All times are times of files, counted from 1970.
struct ArtworkCachePolicy: Sendable {
    /// A picture on the disk.
    struct Entry: Hashable, Sendable {
        var kind: ArtworkKind
        var bytes: Int
        var storedAt: MeshInstant
        var usedAt: MeshInstant
    }

    private(set) var entries: [String: Entry]
    private(set) var bytes: Int
    private let limits: ArtworkLimits

    /// A policy for the pictures that were found in the folder.
    init(_ entries: [String: Entry] = [:], limits: ArtworkLimits) {
        self.entries = entries
        self.limits = limits
        bytes = entries.values.reduce(0) { $0 + $1.bytes }
    }

    /// Whether a picture is recent enough to need no new request. A picture with a time in the future is also fresh:
    /// the clock of a head unit without a battery starts in 1970.
    func isFresh(_ entry: Entry, now: MeshInstant) -> Bool { now - entry.storedAt < limits.freshFor }

    /// A picture is shown.
    mutating func used(_ key: String, now: MeshInstant) { entries[key]?.usedAt = now }

    /// A picture was stored.
    mutating func stored(_ key: String, _ entry: Entry) {
        removed(key)
        entries[key] = entry
        bytes += entry.bytes
    }

    /// A picture was removed.
    mutating func removed(_ key: String) {
        if let old = entries.removeValue(forKey: key) { bytes -= old.bytes }
    }

    /// Removes the least recently used pictures from the table until the limits hold, and returns them. The picture
    /// `key` stays.
    mutating func evict(sparing key: String?) -> [String] {
        guard bytes > limits.cacheBytes || entries.count > limits.cachedPictures else { return [] }
        var evicted: [String] = []
        for (name, _) in entries.sorted(by: { ($0.value.usedAt, $0.key) < ($1.value.usedAt, $1.key) })
        where name != key {
            guard bytes > limits.cacheBytes || entries.count > limits.cachedPictures else { break }
            removed(name)
            evicted.append(name)
        }
        return evicted
    }
}
