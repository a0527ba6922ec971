// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// The notices on a page, each with a unique number. A page remembers the numbers that were dismissed.
package struct ShownNotices: Hashable, Sendable {
    private struct Entry: Hashable, Sendable {
        var id: Int
        var notice: Notice
        var goes: MeshInstant?
    }

    private var entries: [Entry] = []
    private var last = 0

    /// All notices, oldest first.
    package var current: [NodeView.ShownNotice] {
        entries.map { entry in
            let notice = entry.notice
            return NodeView.ShownNotice(
                id: entry.id, code: notice.code, message: UntrustedText.shown(notice.message),
                suggestion: notice.suggestion.map(UntrustedText.shown), button: notice.button,
                critical: notice.critical, dismissAfter: notice.dismissAfter, kind: notice.isBanner ? .banner : .toast,
                messageText: Self.made(notice.texts?.message), suggestionText: Self.made(notice.texts?.suggestion))
        }
    }

    /// The notices that stay until they are cleared, oldest first.
    package var standing: [Notice] { entries.map(\.notice).filter(\.critical) }

    /// Nil for a text without inserted values, since the English sentence says the same.
    private static func made(_ text: LocalizedText?) -> LocalizedText? {
        text.flatMap { $0.values.isEmpty ? nil : $0.mapTexts(UntrustedText.shown) }
    }

    /// Shows a notice. It replaces one with the same code.
    package mutating func tell(_ notice: Notice, now: MeshInstant) {
        last += 1
        let goes = notice.dismissAfter.map { now + .seconds($0) }
        entries.removeAll { $0.notice.code == notice.code }
        entries.append(Entry(id: last, notice: notice, goes: goes))
        if entries.count > DJLimits.notices {
            entries.remove(at: entries.firstIndex { !$0.notice.critical } ?? 0)
        }
    }

    /// Clears a notice when its cause is over. Returns whether it was shown.
    package mutating func clear(_ code: String) -> Bool {
        let before = entries.count
        entries.removeAll { $0.notice.code == code }
        return entries.count != before
    }

    /// Removes the notices that this clears.
    package mutating func clear(by clearer: Problem.Clearer) {
        entries.removeAll { $0.notice.clearedBy.contains(clearer) }
    }

    /// Removes expired notices. Returns whether any was removed.
    package mutating func tick(now: MeshInstant) -> Bool {
        let before = entries.count
        entries.removeAll { $0.goes.map { $0 <= now } ?? false }
        return entries.count != before
    }
}

extension Notice {
    /// Whether the notice is about the connection or the radio. Such notices stand above everything else.
    fileprivate var isBanner: Bool { Self.bannerCodes.contains(code) }

    private static let bannerCodes: Set<String> = Set(
        ([
            .networkUnavailable, .connectionLost(host: nobody), .hostNotFound(host: nobody), .hostEnded(host: nobody),
            .hostStopped(host: nobody), .hostLeft(host: nobody), .hostFull, .refused, .kicked, .versionMismatch,
            .proofRequired, .bondRequired,
        ] as [NetworkError]).map { Notice($0).code })

    private static let nobody = Peer(id: "", name: "")
}
