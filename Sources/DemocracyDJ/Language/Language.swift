// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A language that people are spoken to in. English is in the code; each of the others has a table (`Texts`), by what a text
/// says in English. Page and terminal have the tables in common. What programs read is English always.
public enum Language: String, Sendable, CaseIterable {
    case english = "en"
    case german = "de"
    case french = "fr"
    case spanish = "es"

    /// The language of an environment, by `LC_ALL`, `LC_MESSAGES` and `LANG`, of which the first that says something counts
    /// (POSIX, 8.2).
    public init(environment: [String: String]) {
        let said = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        // Like de_DE.UTF-8; C and POSIX are none.
        self = Language(rawValue: said.prefix { $0 != "_" && $0 != "." && $0 != "@" }.lowercased()) ?? .english
    }

    /// The first language of a browser's that there is (`Accept-Language`, RFC 9110, 12.5.4; browsers name the preferred one
    /// first), or English.
    public init(accepted: String?) {
        let named = (accepted ?? "").prefix(200).split(separator: ",").map { tag in
            tag.drop(while: \.isWhitespace).prefix { $0.isLetter }.lowercased()
        }
        self = named.lazy.compactMap(Language.init(rawValue:)).first ?? .english
    }

    /// A text in which nothing is put, by its English.
    public func text(named english: String) -> String { Self.tables[self]?[english] ?? english }

    /// A text in this language; in English where the table lacks it.
    public func text(_ text: LocalizedText) -> String {
        let table = Self.tables[self] ?? [:]
        return text.filled { table[$0] ?? $0 }
    }

    /// The table of a language, as it is served to pages; nil for English.
    public var file: [UInt8]? {
        switch self {
        case .english: nil
        case .german: PackageResources.de_json
        case .french: PackageResources.fr_json
        case .spanish: PackageResources.es_json
        }
    }

    /// The tables, by what a text says in English.
    static let tables: [Language: [String: String]] = Dictionary(
        uniqueKeysWithValues: allCases.compactMap { language in
            language.file.map { (language, (try? JSONDecoder().decode([String: String].self, from: Data($0))) ?? [:]) }
        })
}
