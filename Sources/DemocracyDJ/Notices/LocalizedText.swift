// SPDX-License-Identifier: Apache-2.0

/// A text for people that can be translated: an English text and the values in it. The English text is its key in the
/// tables of other languages (`Language`). It is written as a literal: `"\(host) has left."` has the key `{1} has
/// left.` and one value.
public struct LocalizedText: Sendable {
    /// A value in a text.
    public enum Value: Hashable, Sendable {
        /// A name, a title or words of the system: the same in every language.
        case text(String)
        /// A number.
        case number(Int)
        /// A text with a row of its own in the tables.
        indirect case localized(LocalizedText)
    }

    /// The English text with `{1}`, `{2}`, … in place of the values.
    public private(set) var key: String
    /// The values, in order.
    public private(set) var values: [Value]

    /// The text in English.
    public var english: String { filled { $0 } }

    /// The text with its values. `translated` returns the table's entry for a key.
    func filled(_ translated: (String) -> String) -> String {
        let text = translated(key)
        guard !values.isEmpty else { return text }
        var filled = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            let number = rest.index(after: open)
            let close = rest.index(number, offsetBy: 2, limitedBy: rest.endIndex) ?? rest.endIndex
            filled += rest[..<open]
            let place = rest[..<close].hasSuffix("}") ? Int(rest[number..<close].dropLast()) : nil
            if let place, values.indices ~= place - 1 {
                filled += values[place - 1].filled(translated)
            } else {
                filled += rest[open..<close]
            }
            rest = rest[close...]
        }
        return filled + rest
    }

    /// Returns the text with changed strings. Use it to make strings from other devices safe to show.
    public func mapTexts(_ change: (String) -> String) -> LocalizedText {
        var text = self
        text.values = values.map { value in
            switch value {
            case .text(let text): .text(change(text))
            case .number: value
            case .localized(let text): .localized(text.mapTexts(change))
            }
        }
        return text
    }

    /// Joins two texts.
    static func + (one: LocalizedText, other: LocalizedText) -> LocalizedText {
        var sum = one
        let renumbered = LocalizedText(
            key: other.key, values: other.values.indices.map { .text("{\($0 + one.values.count + 1)}") })
        sum.key += renumbered.english
        sum.values += other.values
        return sum
    }
}

extension LocalizedText.Value {
    fileprivate func filled(_ translated: (String) -> String) -> String {
        switch self {
        case .text(let text): text
        case .number(let number): String(number)
        case .localized(let text): text.filled(translated)
        }
    }
}

extension LocalizedText: Hashable {
    /// Two texts are equal if their English is.
    public static func == (one: LocalizedText, other: LocalizedText) -> Bool { one.english == other.english }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(english) }
}

extension LocalizedText: ExpressibleByStringInterpolation {
    /// Creates a text without values.
    public init(stringLiteral value: String) { self.init(key: value, values: []) }

    /// Creates a text from an interpolated literal.
    public init(stringInterpolation: Interpolation) {
        self.init(key: stringInterpolation.key, values: stringInterpolation.values)
    }

    /// The parts of an interpolated literal.
    public struct Interpolation: StringInterpolationProtocol {
        fileprivate var key = ""
        fileprivate var values: [Value] = []

        /// Creates an empty interpolation.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// Appends English words.
        public mutating func appendLiteral(_ literal: String) { key += literal }

        /// Appends a value that is the same in every language.
        public mutating func appendInterpolation(_ text: String) { append(.text(text)) }

        /// Appends a number.
        public mutating func appendInterpolation(_ number: Int) { append(.number(number)) }

        /// Appends a text with a row of its own.
        public mutating func appendInterpolation(_ text: LocalizedText) { append(.localized(text)) }

        /// Appends a value.
        public mutating func appendInterpolation(_ value: Value) { append(value) }

        private mutating func append(_ value: Value) {
            values.append(value)
            key += "{\(values.count)}"
        }
    }
}

extension LocalizedText: Encodable {
    private enum CodingKeys: String, CodingKey {
        case key, values
    }

    /// Writes the form of `docs/dashboard.md`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(key, forKey: .key)
        try container.encode(values, forKey: .values)
    }
}

extension LocalizedText.Value: Encodable {
    /// Writes a string, a number, or a text as an object.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .localized(let text): try container.encode(text)
        }
    }
}
