// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// What a number on the command line is at least and at most.
protocol NumberBounds {
    static var range: ClosedRange<Int> { get }
}

/// A whole number within bounds. The parser refuses any other, with what the help says of the option.
struct BoundedNumber<Bounds: NumberBounds>: ExpressibleByArgument {
    let value: Int

    init(_ value: Int) { self.value = value }

    init?(argument: String) {
        guard let value = Int(argument), Bounds.range.contains(value) else { return nil }
        self.value = value
    }

    var defaultValueDescription: String { "\(value)" }
}
