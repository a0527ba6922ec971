// SPDX-License-Identifier: Apache-2.0

extension Sequence {
    /// The elements by their times. Elements of the same time keep their order.
    func inOrder(by time: (Element) -> Double) -> [Element] {
        enumerated().sorted { (time($0.element), $0.offset) < (time($1.element), $1.offset) }.map(\.element)
    }
}
