// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A language of the page and the terminal, which share the tables. The code contains the English texts. Each other
/// language has a table (`Texts`) with the English text as key. Output for programs is always English.
public enum Language: String, Sendable, CaseIterable {
    case english = "en"
    case german = "de"
    case french = "fr"
    case spanish = "es"

    /// The language of an environment: the first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is not empty (POSIX, 8.2).
    public init(environment: [String: String]) {
        let said = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        // A value looks like de_DE.UTF-8. C and POSIX name no language.
        self = Language(rawValue: said.prefix { $0 != "_" && $0 != "." && $0 != "@" }.lowercased()) ?? .english
    }

    /// The first supported language of a browser's list, or English (`Accept-Language`, RFC 9110, 12.5.4). Browsers put
    /// the preferred one first.
    public init(accepted: String?) {
        let named = (accepted ?? "").prefix(200).split(separator: ",").map { tag in
            tag.drop(while: \.isWhitespace).prefix { $0.isLetter }.lowercased()
        }
        self = named.lazy.compactMap(Language.init(rawValue:)).first ?? .english
    }

    /// The translation of a text without values, by its English.
    public func text(named english: String) -> String { Self.tables[self]?[english] ?? english }

    /// The translation of a text, or its English if the table lacks it.
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

    /// The tables, with the English texts as keys.
    static let tables: [Language: [String: String]] = Dictionary(
        uniqueKeysWithValues: allCases.compactMap { language in
            language.file.map { (language, (try? JSONDecoder().decode([String: String].self, from: Data($0))) ?? [:]) }
        })
}
