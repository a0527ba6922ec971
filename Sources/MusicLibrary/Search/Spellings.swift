// SPDX-License-Identifier: Apache-2.0

/// Words with several spellings.
enum Spellings {
    /// The other spellings of a word.
    static func of(_ word: String) -> [String] {
        var others = table[word] ?? []
        if word.utf8.count <= 3, let number = Int(word), (0...100).contains(number) {
            others += spelled[number]
            if (2...20).contains(number) { others.append(roman[number - 2]) }
        }
        return others
    }

    /// Words with the same meaning.
    private static let same = [
        ["mr", "mister"], ["mrs", "missus"], ["dr", "doctor"], ["st", "saint"], ["ft", "feat", "featuring"],
        ["vs", "versus"], ["pt", "part"], ["vol", "volume"], ["sgt", "sergeant"], ["capt", "captain"], ["mt", "mount"],
        ["jr", "junior"], ["sr", "senior"], ["bros", "brothers"], ["orch", "orchestra"], ["op", "opus"],
        ["prof", "professor"], ["xmas", "christmas"], ["til", "till", "until"], ["cause", "cuz", "because"],
        ["thru", "through"], ["nite", "night"], ["luv", "love"], ["ok", "okay"], ["ol", "old"], ["w", "with"],
        ["ya", "you"],
    ]

    /// Abbreviations that find the full words, but not the other way round.
    private static let short = [
        "u": ["you"], "r": ["are"], "ur": ["your"], "2": ["to", "too"], "4": ["for"], "b": ["be"], "o": ["of"],
        "wanna": ["want", "to"], "gonna": ["going", "to"], "gotta": ["got", "to"], "em": ["them"],
    ]

    private static let roman = [
        "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv", "xvi", "xvii",
        "xviii", "xix", "xx",
    ]

    private static let languages = ["en", "de", "fr", "es"]

    /// Numbers up to 100 in the languages of the user interface.
    private static let spelled: [[String]] = {
        let spelled = languages.map { ICU.spelled(0...100, in: $0).map { Words($0, isTyped: true).spelling } }
        return (0...100).map { number in spelled.flatMap { $0.isEmpty ? [] : $0[number] } }
    }()

    private static let table: [String: [String]] = {
        var table = short
        for words in same {
            for word in words { table[word, default: []] += words.filter { $0 != word } }
        }
        for (place, number) in roman.enumerated() where number.utf8.count > 1 {
            table[number, default: []].append("\(place + 2)")
        }
        for (number, word) in ICU.spelled(0...90, in: "en").enumerated() where number <= 20 || number % 10 == 0 {
            table[Words(word, isTyped: true).text, default: []].append("\(number)")
        }
        return table
    }()
}

extension Words {
    /// The single words, and the words joined: "ninety nine" and "ninetynine".
    fileprivate var spelling: [String] { words + (words.count > 1 ? [words.joined()] : []) }
}
