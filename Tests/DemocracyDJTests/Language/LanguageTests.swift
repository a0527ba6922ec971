// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshProtocol
import TestSupport
import Testing

@testable import DemocracyDJ

@Suite("Texts in the person's language")
struct LanguageTests {
    private static let dad = Peer(id: "11", name: "Dad's Car")
    private static let others = Language.allCases.filter { $0 != .english }

    @Test(
        "a terminal uses the language of its environment",
        arguments: [
            (["LANG": "de_DE.UTF-8"], .german), (["LANG": "fr"], .french), (["LANG": "es_MX@euro"], .spanish),
            (["LANG": "C.UTF-8"], .english), ([:], .english), (["LANG": "ja_JP.UTF-8"], .english),
            (["LC_MESSAGES": "fr_FR.UTF-8", "LANG": "de_DE.UTF-8"], .french),
            (["LC_ALL": "C", "LC_MESSAGES": "fr_FR.UTF-8", "LANG": "de_DE.UTF-8"], .english),
            (["LC_ALL": "", "LANG": "de_DE.UTF-8"], .german),
        ] as [([String: String], Language)])
    func environment(variables: [String: String], language: Language) {
        #expect(Language(environment: variables) == language)
    }

    @Test("a text is identified by its English form, and its values have their positions in every language")
    func places() {
        let text: LocalizedText = "\("Ana") wants to skip \("Open Road"), but \(RejectionReason.notPlaying.why)."
        #expect(text.key == "{1} wants to skip {2}, but {3}.")
        #expect(text.english == "Ana wants to skip Open Road, but it does not play any more.")
        #expect(Language.german.text(text) == "Ana möchte Open Road überspringen, aber: Der Titel läuft nicht mehr.")
        #expect(Language.english.text("Nothing that a table has") == "Nothing that a table has")
        #expect(Language.german.text("Nothing that a table has") == "Nothing that a table has")
    }

    @Test("values in a text are plain text: a placeholder in them has no effect")
    func hostile() {
        let text: LocalizedText = "\("{2} {9} {x} {") and \(7) more"
        #expect(text.english == "{2} {9} {x} { and 7 more")
        #expect(Language.german.text(text) == "{2} {9} {x} { und 7 weitere")
    }

    @Test("two joined literals are one text")
    func sum() {
        let text: LocalizedText = "\("a") and " + "\(2) \("c")."
        #expect(text.key == "{1} and {2} {3}." && text.english == "a and 2 c.")
    }

    @Test("two texts that read the same are equal")
    func equal() {
        let one: LocalizedText = "\("Ana") has left."
        #expect(one == "Ana has left." && one.hashValue == ("Ana has left." as LocalizedText).hashValue)
    }

    @Test("every problem has a text in every language", arguments: LanguageTests.others)
    func problems(language: Language) throws {
        let table = try #require(Language.tables[language])
        for problem in Problem.every {
            for text in [problem.text, problem.advice, problem.later?.text, problem.later?.advice].compactMap(\.self) {
                #expect(table[text.key] != nil, "\(language) lacks: \(text.key)")
                #expect(!language.text(text).contains(/\{\d\}/))
            }
            if let button = problem.button { #expect(table[button.label] != nil, "\(language) lacks: \(button.label)") }
        }
    }

    @Test("every wish has a text in every language", arguments: LanguageTests.others)
    func wishes(language: Language) {
        let states: [WishState] = [.queued, .sent, .confirmed] + RejectionReason.allCases.map { .rejected($0) }
        for kind in [Wish.Kind.vote, .takeBack, .suggest] {
            for state in states {
                let text = kind.text(state, title: .localized("\"\("Open Road")\""))
                let said = language.text(text)
                #expect(said != text.english && said.contains("Open Road"), "\(language) lacks: \(text.key)")
            }
        }
    }

    @Test("later texts of a notice are also in the person's language")
    func later() throws {
        let notice = Notice(.connectionLost(host: Self.dad))
        let first = try #require(notice.texts)
        #expect(Language.german.text(first.message) == "Verbindung zu Dad's Car verloren. Sie wird wiederhergestellt.")
        let later = try #require(notice.followedUp?.texts)
        #expect(Language.german.text(later.message) == "Dad's Car ist immer noch außer Reichweite.")
        #expect(notice.message == "Connection to Dad's Car lost. Trying to reconnect.")
    }

    @Test("each name of a list has the quotation marks of the person's language", arguments: LanguageTests.others)
    func quotedNames(language: Language) {
        let names = ["Road Trip", "Rest Stop", "Road", "Half a Tank", "Last Exit"]
        let said = language.text(CommandProblem.severalMeant("r", names).problem.text)
        for name in names.prefix(DJLimits.namedChoices) { #expect(said.contains(language.text("\"\(name)\""))) }
        #expect(!said.contains("\"") && !said.contains(/\{\d\}/), "\(said)")
    }

    @Test("as JSON a text is its English form and its values")
    func json() throws {
        let text: LocalizedText = "\("Ana") asked for \(LocalizedText("\"\("Open Road")\"")), \(3)"
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let json = String(decoding: try encoder.encode(text), as: UTF8.self)
        #expect(
            json == #"{"key":"{1} asked for {2}, {3}","values":["Ana",{"key":"\"{1}\"","values":["Open Road"]},3]}"#)
    }
}
