// SPDX-License-Identifier: Apache-2.0

/// JSON objects as a document describes them, in tables `| field | value | meaning |`.
struct Contract {
    /// The value of a field.
    indirect enum Value: Equatable {
        case string, number, boolean, null
        /// One of these words.
        case words(Set<String>)
        case list(Value)
        /// A list that the text describes.
        case anyList
        /// An object that the document describes under this name.
        case object(String)
    }

    /// A row of a table.
    struct Field {
        var line: Int
        var name: String
        var value: Value
        var isNullable: Bool
        var isOptional: Bool
    }

    /// An object: an event, or part of one.
    struct Object {
        var line: Int
        var fields: [Field]
        /// Its examples, with their lines.
        var examples: [Page.Line]
        /// The fields that all objects of its kind have, which the document lists once.
        var isEvent: Bool
        /// Another document describes it.
        var isElsewhere = false
    }

    /// How often the program writes a field.
    private struct Count {
        var present = 0
        var null = 0
    }

    var path: String
    var objects: [String: Object] = [:]

    /// Reads the parts of a section, one object each. Events have their name as code, other objects as a word.
    init(_ page: Page, sections: [String], level: Int = 4) {
        path = page.path
        for section in sections {
            for (heading, lines) in Page.parts(of: page.section(section), level: level) {
                let title = String(heading.text.drop { $0 == "#" }).trimmed
                let isEvent = title.hasPrefix("`")
                objects[title] = Object(
                    line: heading.number, fields: Self.fields(lines), examples: Page.code("json", in: lines),
                    isEvent: isEvent)
            }
        }
    }

    private static func fields(_ lines: [Page.Line]) -> [Field] {
        Page.rows(lines).filter { $0.head.first == "field" }.flatMap { row in
            row["field"].spans.map { name in
                var text = row["value"]
                let isOptional = text.without(suffix: ", optional")
                text = isOptional ?? text
                let isNullable = text.without(suffix: " or null")
                return Field(
                    line: row.line, name: name, value: value(isNullable ?? text), isNullable: isNullable != nil,
                    isOptional: isOptional != nil)
            }
        }
    }

    private static func value(_ text: String) -> Value {
        if text.contains("`") { return .words(Set(text.spans)) }
        if text.hasPrefix("["), text.hasSuffix("]") { return .list(value(String(text.dropFirst().dropLast()))) }
        return switch text {
        case "string": .string
        case "number": .number
        case "boolean": .boolean
        case "null": .null
        case "list": .anyList
        default: .object(text)
        }
    }

    // MARK: Faults

    /// Differences between the document's objects and these samples of everything that the program writes.
    func complaints(about samples: [String: [JSON]]) -> [String] {
        var look = Look(contract: self)
        for (name, values) in samples.sorted(by: { $0.key < $1.key }) {
            for value in values { look.walk(value, as: name) }
        }
        for (name, object) in objects {
            guard let total = look.totals[name] else {
                look.complaints.insert("\(path):\(object.line) documents \(name), which the program does not write.")
                continue
            }
            for field in object.fields {
                look.complaints.formUnion(wrong(field, of: name, look.counts[name]?[field.name] ?? Count(), of: total))
            }
        }
        return look.complaints.sorted()
    }

    private func wrong(_ field: Field, of name: String, _ count: Count, of total: Int) -> [String] {
        let place = "\(path):\(field.line)"
        guard count.present > 0 else {
            return ["\(place) documents the field \(field.name) of \(name), which the program does not write."]
        }
        var wrong: [String] = []
        if field.isOptional != (count.present < total) {
            wrong.append(
                field.isOptional
                    ? "\(place) says that \(field.name) of \(name) is optional; the program always writes it."
                    : "\(place) does not say that \(field.name) of \(name) is optional; the program may leave it out.")
        }
        if field.value != .null, field.isNullable != (count.null > 0) {
            wrong.append(
                field.isNullable
                    ? "\(place) says that \(field.name) of \(name) may be null; in the program it never is."
                    : "\(place) does not say that \(field.name) of \(name) may be null; in the program it may.")
        }
        return wrong
    }

    /// Examines values with all their parts.
    private struct Look {
        var contract: Contract
        /// The line of an example. Nil for the program's output.
        var line: Int?
        var complaints: Set<String> = []
        var counts: [String: [String: Count]] = [:]
        var totals: [String: Int] = [:]

        init(contract: Contract, line: Int? = nil) { (self.contract, self.line) = (contract, line) }

        mutating func walk(_ value: JSON, as name: String) {
            guard let object = contract.objects[name] else {
                complaints.insert("\(contract.path) lacks \(name), which the program writes.")
                return
            }
            totals[name, default: 0] += 1
            guard !object.isElsewhere else { return }
            for (key, inner) in value.fields where !(object.isEvent && ["event", "at"].contains(key)) {
                guard let field = object.fields.first(where: { $0.name == key }) else {
                    complaints.insert(unknown(key, of: name, at: object.line))
                    continue
                }
                counts[name, default: [:]][key, default: Count()].present += 1
                if case .null = inner, field.value != .null {
                    counts[name, default: [:]][key, default: Count()].null += 1
                } else if let found = difference(of: inner, from: field.value) {
                    complaints.insert("\(contract.path):\(line ?? field.line) has \(key) of \(name) as \(found)")
                }
            }
        }

        private func unknown(_ key: String, of name: String, at place: Int) -> String {
            if let line {
                return
                    "\(contract.path):\(line) has an example of \(name) with the field \(key), which is not documented."
            }
            return "\(contract.path):\(place) lacks the field \(key) of \(name), which the program writes."
        }

        /// How a value differs from the documented kind. Nil if it does not.
        private mutating func difference(of value: JSON, from documented: Value) -> String? {
            switch (documented, value) {
            case (.string, .string), (.number, .number), (.boolean, .boolean), (.null, .null), (.anyList, .list):
                return nil
            case (.words(let words), .string(let word)):
                guard !words.contains(word) else { return nil }
                return "one of \(words.count) words; the program writes \(word) as well."
            case (.list(let element), .list(let values)):
                for value in values {
                    if let found = difference(of: value, from: element) { return found }
                }
                return nil
            case (.object(let name), .object):
                walk(value, as: name)
                return nil
            default: return "another kind of value; in the program it is \(value.kind)."
            }
        }
    }

    /// The faults of the examples: each must be an event of its section, with documented fields and all that are not
    /// optional.
    func complaintsAboutExamples() -> [String] {
        var complaints: Set<String> = []
        for (name, object) in objects {
            for example in object.examples {
                let place = "\(path):\(example.number)"
                guard let value = try? JSON(parsing: example.text) else {
                    complaints.insert("\(place) has an example that is not JSON.")
                    continue
                }
                if object.isEvent, value.event.map({ "`\($0)`" }) != name {
                    complaints.insert("\(place) has an example that is not of the event \(name).")
                }
                var look = Look(contract: self, line: example.number)
                look.walk(value, as: name)
                complaints.formUnion(look.complaints)
                for field in object.fields where !field.isOptional && value.fields[field.name] == nil {
                    complaints.insert("\(place) has an example of \(name) without the field \(field.name).")
                }
            }
        }
        return complaints.sorted()
    }

    /// The allowed words of fields, by object and field.
    var words: [String: (line: Int, words: Set<String>)] {
        var found: [String: (line: Int, words: Set<String>)] = [:]
        for (name, object) in objects {
            for field in object.fields {
                if case .words(let words) = field.value { found["\(name).\(field.name)"] = (field.line, words) }
            }
        }
        return found
    }

    /// The faults of these words, if the program has them in its own type.
    func complaints(aboutWords known: [String: Set<String>]) -> [String] {
        var complaints: [String] = []
        for (field, documented) in words.sorted(by: { $0.key < $1.key }) {
            guard let words = known[field] else {
                complaints.append("\(path):\(documented.line) lists words of \(field): name them in this test.")
                continue
            }
            for word in documented.words.subtracting(words).sorted() {
                complaints.append(
                    "\(path):\(documented.line) lists \(word) for \(field), which the program does not have.")
            }
            for word in words.subtracting(documented.words).sorted() {
                complaints.append("\(path):\(documented.line) lacks \(word) of \(field), which the program has.")
            }
        }
        for field in known.keys.sorted() where words[field] == nil {
            complaints.append("\(path) does not list the words of \(field).")
        }
        return complaints
    }
}
