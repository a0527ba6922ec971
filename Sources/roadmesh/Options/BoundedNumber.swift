// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The bounds of a number on the command line.
protocol NumberBounds {
    static var range: ClosedRange<Int> { get }
}

/// A whole number within bounds. For any other number, the parser reports the help of the option.
struct BoundedNumber<Bounds: NumberBounds>: ExpressibleByArgument {
    let value: Int

    init(_ value: Int) { self.value = value }

    init?(argument: String) {
        guard let value = Int(argument), Bounds.range.contains(value) else { return nil }
        self.value = value
    }

    var defaultValueDescription: String { "\(value)" }
}
