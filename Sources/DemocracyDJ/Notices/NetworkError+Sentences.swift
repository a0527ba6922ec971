// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
import MeshProtocol

extension NetworkError: LocalizedError {
    /// What happened, as sentences for a person.
    public var errorDescription: String? { sentence }

    /// What to do: `ErrorRecoveryHelper.suggestion(for:)`.
    public var recoverySuggestion: String? { ErrorRecoveryHelper.suggestion(for: self) }
}

extension Peer {
    /// A host's name in a sentence. One that has not been introduced yet has none.
    func asHost(startsSentence: Bool = false) -> String {
        if !name.isEmpty { name } else if startsSentence { "The host" } else { "the host" }
    }
}

/// An error's own words, without a full stop, for the end of a sentence.
func words(of error: any Error) -> String {
    let words = (error as? any LocalizedError)?.errorDescription ?? "\(error)"
    return words.hasSuffix(".") ? String(words.dropLast()) : words
}
