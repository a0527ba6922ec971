// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Something has happened in a folder that is watched. Paths are those in the folder.
enum FolderChange: Hashable, Sendable {
    /// A file of music is being made: it is not whole yet.
    case growing(String)
    /// A file of music was written to its end, or has come whole.
    case written(String)
    /// A file of music is not there any more.
    case gone(String)
    /// Something else: a folder has come or gone, or rights have changed.
    case other
    /// More than could be told.
    case overflow
}

/// Decides when a folder is looked through again, and which of its files are left for later. Reads no clock.
struct RescanPolicy: Sendable {
    /// How the last look through the folder went.
    enum Outcome: Hashable, Sendable {
        /// The system tells changes.
        case watched
        /// It does not.
        case unwatched
        /// It tells only changes that this device makes: the folder, or a part of it, is on a network.
        case remote
        /// The folder is away, or has no song.
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

    /// When the folder is to be looked through; nil while nothing happens in it.
    var deadline: MeshInstant? {
        let quiet = firstChange.map { min(lastChange + limits.settle, $0 + limits.longestSettle) }
        let longest = growing.values.min().map { $0 + limits.longestCopy }
        return [quiet, longest, looksAgain].compactMap(\.self).min().map { max($0, restsUntil) }
    }

    /// Things have happened in the folder.
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

    /// Something was mounted or unmounted. Where the folder is another one now it is looked through at once, without a rest.
    mutating func mountsChanged(isOther: Bool, now: MeshInstant) {
        if isOther { (looksAgain, restsUntil) = (now, now) } else { changed([.other], now: now) }
    }

    /// The folder was found to be away, though the last look said otherwise.
    mutating func isAway(now: MeshInstant) {
        looksAgain = min(looksAgain ?? now + limits.awayPause, now + limits.awayPause)
    }

    /// A look through the folder begins: what of it was written since the last, and what is still being written.
    mutating func begin(now: MeshInstant) -> (written: Set<String>, growing: Set<String>) {
        growing = growing.filter { now < $0.value + limits.longestCopy }
        defer { (firstChange, written, looksAgain) = (nil, [], nil) }
        return (written, Set(growing.keys))
    }

    /// A look through the folder has ended.
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
