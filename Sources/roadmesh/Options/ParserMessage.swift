// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// What the parser finds wrong with a command line, as a sentence like all others of this program. Its errors are known by
/// their text alone (swift-argument-parser 1.6, `ErrorMessageGenerator`); one that is not known here is told in its words.
struct ParserMessage {
    private let text: Substring
    /// What the help says of the option or argument that it is about.
    private let help: Substring?

    init(_ error: any Error) {
        text = RoadMesh.message(for: error).split(separator: "\n").first ?? "It did not work"
        let line = RoadMesh.fullMessage(for: error).split(separator: "\n").first { $0.hasPrefix("Help:  ") }
        // Such as "Help:  --adapter <hci0>  Which adapter, for example hci0."
        help = line.flatMap { $0.wholeMatch(of: #/Help:  .*?  (.+)/#)?.output.1 }
    }

    /// Names the option, says what is wrong, and what is allowed.
    var sentence: String {
        if let (_, name, meant) = text.wholeMatch(of: #/Unknown option '(.*?)'(?:\. Did you mean '(.*)'\?)?/#)?.output {
            return "There is no option \(name).\(meant.map { " Did you mean \($0)?" } ?? "")"
        }
        if let (_, option) = text.wholeMatch(of: #/Missing value for '(.*)'/#)?.output {
            return "\(option) needs a value\(explanation)"
        }
        if let (_, argument) = text.wholeMatch(of: #/Missing expected argument '(.*)'/#)?.output {
            return "\(argument) is missing\(explanation)"
        }
        if let (_, option, value) = text.wholeMatch(
            of: #/The option '(.*?)' does not take any value, but '(.*)' was specified\./#)?.output
        {
            return "\(option) takes no value; leave \"=\(value)\" out."
        }
        if let (_, value, option, allowed) = text.wholeMatch(
            of: #/The value '(.*)' is invalid for '(.*?)'(?:\. Please provide one of (.*)\.)?/#)?.output
        {
            let rest = allowed.map { "; it is one of \($0.filter { $0 != "'" })." } ?? explanation
            return "\(option) cannot be \"\(value)\"\(rest)"
        }
        if let (_, words) = text.wholeMatch(of: #/Unexpected argument (.*)/#)?.output {
            return "\(Self.quoted(words)) is one word too many."
        }
        if let (_, words) = text.wholeMatch(of: #/\d+ unexpected arguments: (.*)/#)?.output {
            return "\(Self.quoted(words)) are too many words."
        }
        return text.last.map { ".?!".contains($0) } == true ? String(text) : "\(text)."
    }

    /// What the option or argument is, behind what is wrong with it.
    private var explanation: String {
        guard let help else { return "." }
        // An abbreviation keeps its letters.
        let rest = help.dropFirst()
        return ": \(rest.first?.isUppercase == true ? String(help.prefix(1)) : help.prefix(1).lowercased())\(rest)"
    }

    /// `'a', 'b'` as `"a", "b"`.
    private static func quoted(_ words: Substring) -> String {
        "\"\(words.dropFirst().dropLast().replacing("', '", with: "\", \""))\""
    }
}
