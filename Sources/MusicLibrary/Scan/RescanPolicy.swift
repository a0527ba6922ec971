// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A change in a watched folder. Paths are relative to the folder.
enum FolderChange: Hashable, Sendable {
    /// A music file is being created and is incomplete.
    case growing(String)
    /// A music file was completed or moved in.
    case written(String)
    /// A music file was removed.
    case gone(String)
    /// Another change: a folder was added or removed, or permissions have changed.
    case other
    /// The kernel has dropped changes.
    case overflow
}

/// Decides when to scan a folder again, and which of its files to leave for later. Reads no clock.
struct RescanPolicy: Sendable {
    /// The result of the last scan.
    enum Outcome: Hashable, Sendable {
        /// The system reports changes.
        case watched
        /// The system does not report changes.
        case unwatched
        /// The system reports only changes by this device: the folder, or a part of it, is on a network.
        case remote
        /// The folder is away or has no song.
        case away
        /// The index could not be written.
        case failed
    }

    private let limits: LibraryLimits
    private var growing: [String: MeshInstant] = [:]
    private var written: Set<String> = []
    private var firstChange: MeshInstant?
    private var lastChange: MeshInstant = .zero
    private var restsUntil: MeshInstant = .zero
    private var looksAgain: MeshInstant?

    init(limits: LibraryLimits) {
        self.limits = limits
    }

    /// When to scan the folder. Nil while nothing changes.
    var deadline: MeshInstant? {
        let quiet = firstChange.map { min(lastChange + limits.settle, $0 + limits.longestSettle) }
        let longest = growing.values.min().map { $0 + limits.longestCopy }
        return [quiet, longest, looksAgain].compactMap(\.self).min().map { max($0, restsUntil) }
    }

    /// Handles changes in the folder.
    mutating func changed(_ changes: [FolderChange], now: MeshInstant) {
        for change in changes {
            switch change {
            case .growing(let path):
                if growing.count < limits.notedFiles { growing[path] = growing[path] ?? now }
                continue
            case .written(let path):
                growing[path] = nil
                if written.count < limits.notedFiles { written.insert(path) }
            case .gone(let path):
                growing[path] = nil
                written.remove(path)
            case .other: break
            case .overflow:
                growing = [:]
                written = []
            }
            firstChange = firstChange ?? now
            lastChange = now
        }
    }

    /// A file system was mounted or unmounted. If the folder is another one now, it is scanned at once, without a
    /// pause.
    mutating func mountsChanged(isOther: Bool, now: MeshInstant) {
        if isOther { (looksAgain, restsUntil) = (now, now) } else { changed([.other], now: now) }
    }

    /// The folder is away, although the last scan found it.
    mutating func isAway(now: MeshInstant) {
        looksAgain = min(looksAgain ?? now + limits.awayPause, now + limits.awayPause)
    }

    /// A scan begins. Returns the files that were written since the last one, and those that are still being written.
    mutating func begin(now: MeshInstant) -> (written: Set<String>, growing: Set<String>) {
        growing = growing.filter { now < $0.value + limits.longestCopy }
        defer { (firstChange, written, looksAgain) = (nil, [], nil) }
        return (written, Set(growing.keys))
    }

    /// A scan has ended.
    mutating func ended(_ outcome: Outcome, took: Duration, now: MeshInstant) {
        restsUntil = now + min(took * limits.restFactor, limits.longestRest)
        switch outcome {
        case .watched: looksAgain = nil
        case .unwatched, .remote: looksAgain = now + limits.unwatchedPause
        case .away: looksAgain = now + limits.awayPause
        case .failed: looksAgain = now + limits.retryPause
        }
    }
}
