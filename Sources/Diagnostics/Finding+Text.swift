// SPDX-License-Identifier: Apache-2.0

extension Finding {
    /// The finding as a person reads it, a line each: how bad it is and what was found, what that means, and what to type.
    /// `wrap` breaks a paragraph into lines, which takes somebody who knows how wide a character is.
    public func lines(wrap: (String) -> [String]) -> [String] {
        let mark =
            switch level {
            case .good: "good          "
            case .worthKnowing: "worth knowing "
            case .broken: "BROKEN        "
            }
        let margin = String(repeating: " ", count: mark.count)
        var lines = [mark + message]
        if !meaning.isEmpty { lines += wrap(meaning).map { margin + $0 } }
        if let command { lines.append(margin + "  " + command) }
        return lines
    }
}

extension Diagnosis {
    /// The sum of it, in a sentence.
    public var sentence: String {
        let broken = count(.broken)
        let known = count(.worthKnowing)
        guard broken == 0 else {
            return "\(broken) \(broken == 1 ? "thing is" : "things are") broken: mend the first one, and look again."
        }
        return known > 0 ? "Nothing is broken; \(known) worth knowing." : "This box is well."
    }
}
