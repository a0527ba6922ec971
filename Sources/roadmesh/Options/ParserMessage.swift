// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Rewrites an error of the parser in this program's own words. Errors are recognised only by their text
/// (swift-argument-parser 1.6, `ErrorMessageGenerator`). An unknown error keeps its text.
struct ParserMessage {
    private let text: Substring
    /// The help text of the option or argument.
    private let help: Substring?

    init(_ error: any Error) {
        text = RoadMesh.message(for: error).split(separator: "\n").first ?? "It did not work"
        let line = RoadMesh.fullMessage(for: error).split(separator: "\n").first { $0.hasPrefix("Help:  ") }
        // For example "Help: --adapter <hci0> Which adapter, for example hci0."
        help = line.flatMap { $0.wholeMatch(of: #/Help:  .*?  (.+)/#)?.output.1 }
    }

    /// A sentence that names the option, the error, and the allowed values.
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

    /// The help text of the option or argument, for the end of the sentence.
    private var explanation: String {
        guard let help else { return "." }
        // An abbreviation keeps its capital letters.
        let rest = help.dropFirst()
        return ": \(rest.first?.isUppercase == true ? String(help.prefix(1)) : help.prefix(1).lowercased())\(rest)"
    }

    /// `'a', 'b'` as `"a", "b"`.
    private static func quoted(_ words: Substring) -> String {
        "\"\(words.dropFirst().dropLast().replacing("', '", with: "\", \""))\""
    }
}
