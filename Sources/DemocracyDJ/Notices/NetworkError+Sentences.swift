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
    /// A host's name in a sentence. A host that has not introduced itself yet has no name.
    func asHost(startsSentence: Bool = false) -> LocalizedText.Value {
        if !name.isEmpty { .text(name) } else { .localized(startsSentence ? "The host" : "the host") }
    }
}

/// Advice about an error, from its row in `NetworkError.problem`.
public enum ErrorRecoveryHelper {
    /// What to do, as sentences; nil if nothing can be done.
    public static func suggestion(for error: NetworkError) -> String? { error.problem.suggestion }

    /// The button's label; the button does the same as `retry`. If a tap cannot help (`buttonComesAfter` is nil), the
    /// button only dismisses the error, and a notice has no button.
    public static func buttonLabel(for error: NetworkError) -> String { error.problem.button?.label ?? "OK" }
}
