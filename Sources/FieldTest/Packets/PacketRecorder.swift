// SPDX-License-Identifier: Apache-2.0

import Logging
import NodeCore

/// Writes the packets around the gaps of a drive. A drive has a limited number of files and bytes.
struct PacketRecorder {
    private let source: any PacketSource
    private let folder: PacketFolder
    private let origin: ContinuousClock.Instant
    private let logger: Logger
    private var windows = PacketWindows()
    private var budget = PacketBudget()
    private var isFailing = false

    /// A recorder of a drive that has just begun. Files of an earlier drive with its number are removed: that drive is
    /// not in the list any more.
    init(_ source: any PacketSource, _ folder: PacketFolder, origin: ContinuousClock.Instant, logger: Logger) {
        (self.source, self.folder, self.origin, self.logger) = (source, folder, origin, logger)
        folder.remove()
    }

    mutating func take(_ event: NodeEvent) {
        if case .contact(let contact) = event { windows.take(contact) }
    }

    /// Writes the files that are due, at the end of the drive all.
    mutating func write(now: ContinuousClock.Instant, isEnd: Bool = false) {
        for window in windows.due(now: now) + (isEnd ? windows.end(now: now) : []) {
            guard let file = source.file(from: window.from, to: window.to), budget.accepts(file.count) else {
                continue
            }
            do {
                try folder.write(file, from: window.from - origin, to: window.to - origin)
                isFailing = false
            } catch {
                if !isFailing { logger.error("the packets around a gap are not recorded: \(error)") }
                isFailing = true
            }
        }
    }
}

/// The files and bytes that a drive may still write.
struct PacketBudget {
    private var files = 0
    private var bytes = 0

    /// Whether a file of this size may be written. It then counts.
    mutating func accepts(_ size: Int) -> Bool {
        guard files < FieldTestLimits.packetFiles, size <= FieldTestLimits.packetBytes - bytes else { return false }
        files += 1
        bytes += size
        return true
    }
}
