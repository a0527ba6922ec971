// SPDX-License-Identifier: Apache-2.0

import GRDB

/// A database value that this program cannot have written.
struct ForeignValue: Error, CustomStringConvertible {
    var description: String
}

extension Database {
    /// Runs a statement that SQLite caches.
    func run(_ sql: String, _ arguments: StatementArguments) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// Returns the rows of a list.
    func list<Element>(
        _ sql: String, _ arguments: StatementArguments = [], element: (Row) throws -> Element
    ) throws -> PlacedList<Element> {
        var rows: [PlacedList<Element>.Row] = []
        let cursor = try Row.fetchCursor(self, sql: sql, arguments: arguments)
        while let row = try cursor.next() {
            rows.append(PlacedList.Row(place: try row.value(0), element: try element(row)))
        }
        return PlacedList(rows: rows)
    }
}

extension Row {
    /// Returns a column's value. GRDB's subscript would abort the program if the stored value has another type.
    func value<Value: DatabaseValueConvertible>(_ index: Int, as type: Value.Type = Value.self) throws -> Value {
        guard let value = try optional(index, as: type) else {
            throw ForeignValue(description: "column \(index) is null")
        }
        return value
    }

    /// Returns a column's value, or nil for NULL.
    func optional<Value: DatabaseValueConvertible>(_ index: Int, as type: Value.Type = Value.self) throws -> Value? {
        let stored: DatabaseValue = self[index]
        guard !stored.isNull else { return nil }
        guard let value = Value.fromDatabaseValue(stored) else {
            throw ForeignValue(description: "column \(index) has no \(type) in it")
        }
        return value
    }
}
