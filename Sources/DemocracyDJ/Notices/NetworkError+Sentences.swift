// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension NetworkError: LocalizedError {
    /// What happened, as sentences for a person.
    public var errorDescription: String? { sentence }

    /// What to do: `ErrorRecoveryHelper.suggestion(for:)`.
    public var recoverySuggestion: String? { ErrorRecoveryHelper.suggestion(for: self) }
}

extension Peer {
    /// A host's name in a sentence. One that has not been introduced yet has none.
    func asHost(startsSentence: Bool = false) -> LocalizedText.Value {
        if !name.isEmpty { .text(name) } else { .localized(startsSentence ? "The host" : "the host") }
    }
}

/// What a person can do about an error: the columns of its row (`NetworkError.problem`).
public enum ErrorRecoveryHelper {
    /// What to do, as sentences; nil where there is nothing to do.
    public static func suggestion(for error: NetworkError) -> String? { error.problem.suggestion }

    /// What stands on the button, which does what `retry` does. Where a tap cannot help (`buttonComesAfter` is nil) it
    /// only takes the notice away, and a notice does without it.
    public static func buttonLabel(for error: NetworkError) -> String { error.problem.button?.label ?? "OK" }
}
