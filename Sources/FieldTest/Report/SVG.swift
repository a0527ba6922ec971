// SPDX-License-Identifier: Apache-2.0

/// Text in a page.
enum HTML {
    /// Text that is safe anywhere in the page, also in an attribute: names and marks may come from strangers.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// A sentence in which no line break separates a number from its unit.
    static func sentence(_ text: String) -> String {
        escaped(text).replacing(/([0-9]) (ms|s|min|h|dBm|dB|%|m|km)(?![a-z])/) { "\($0.1)\u{A0}\($0.2)" }
    }
}

/// A plot of the page's width. Horizontal positions are in percent, so that it fits any screen while its text keeps its
/// size. Vertical positions are in pixels.
struct Plot {
    /// The time that the width covers.
    let seconds: Double
    let height: Double
    /// The vertical range of lines: marks are above it, times below.
    let top: Double
    let bottom: Double
    private var shapes = ""
    /// Text is drawn in front of everything else, in any order of calls.
    private var words = ""

    init(seconds: Double, height: Double = 200, top: Double = 12) {
        self.seconds = max(seconds, 1)
        self.height = height
        self.top = top
        bottom = height - 22
    }

    func x(_ at: Double) -> Double { min(max(at / seconds, 0), 1) * 100 }

    mutating func add(_ element: String) { shapes += element }

    mutating func shade(_ start: Double, _ end: Double, _ title: String) {
        let left = x(start)
        let width = max(x(end) - left, 0.3)
        add(
            "<rect class=\"gap\" x=\"\(percent(left))\" y=\"\(pixels(top))\" width=\"\(percent(width))\" "
                + "height=\"\(pixels(bottom - top))\"><title>\(HTML.escaped(title))</title></rect>")
    }

    /// A horizontal line, with its text just above it at the left.
    mutating func rule(_ y: Double, _ word: String) {
        add("<line class=\"rule\" x1=\"0\" x2=\"100%\" y1=\"\(pixels(y))\" y2=\"\(pixels(y))\"/>")
        label(word, x: 0, y: y - 4, anchor: "start")
    }

    mutating func label(_ word: String, x: Double, y: Double, anchor: String, class name: String = "label") {
        words +=
            "<text class=\"\(name)\" x=\"\(percent(x))\" y=\"\(pixels(y))\" text-anchor=\"\(anchor)\">"
            + "\(HTML.escaped(word))</text>"
    }

    /// Times below the plot, at most five: a phone has no room for more.
    mutating func times() {
        let step = Self.step(for: seconds)
        var at = 0.0
        while at <= seconds {
            let place = x(at)
            label(
                Format.clock(at), x: place, y: height - 5,
                anchor: place < 5 ? "start" : place > 92 ? "end" : "middle")
            at += step
        }
    }

    private static func step(for seconds: Double) -> Double {
        let steps: [Double] = [
            5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400, 172_800,
            604_800,
        ]
        return steps.first { seconds / $0 <= 4 } ?? seconds
    }

    /// A line through points in percent and pixels. A nil interrupts it.
    mutating func line(_ points: [(x: Double, y: Double)?], class name: String) {
        var path = ""
        var isDown = false
        for point in points {
            guard let point else {
                isDown = false
                continue
            }
            path +=
                "\(isDown ? "L" : "M")\(Format.number(point.x * 10, digits: 1)) \(Format.number(point.y, digits: 1))"
            // A single point is a dot.
            if !isDown { path += "h.1" }
            isDown = true
        }
        add(
            "<svg x=\"0\" y=\"0\" width=\"100%\" height=\"\(pixels(height))\" viewBox=\"0 0 1000 \(pixels(height))\" "
                + "preserveAspectRatio=\"none\"><path class=\"\(name)\" d=\"\(path)\"/></svg>")
    }

    /// Maximum number of rows of numbers above a plot.
    private static let markRows = 3

    /// The row of each mark's number, so that numbers do not overlap. Nil for a number without room.
    static func rows(of marks: [DriveMetrics.Mark], in seconds: Double) -> [Int?] {
        var ends = [Double](repeating: -.infinity, count: markRows)
        return marks.map { mark in
            let place = shown(Plot(seconds: seconds).x(mark.at))
            guard let row = ends.firstIndex(where: { place - $0 >= 9 }) else { return nil }
            ends[row] = place
            return row
        }
    }

    /// Text at the edge stays inside.
    private static func shown(_ place: Double) -> Double { min(max(place, 3), 97) }

    /// Numbered marks above the plot. A mark whose number has no room still has a line.
    mutating func marks(_ marks: [DriveMetrics.Mark], rows: [Int?]) {
        for (index, mark) in marks.enumerated() {
            let place = x(mark.at)
            add(
                "<line class=\"mark\" x1=\"\(percent(place))\" x2=\"\(percent(place))\" y1=\"\(pixels(top - 2))\" "
                    + "y2=\"\(pixels(bottom))\"/>")
            guard let row = rows[index] else { continue }
            label(
                "\(index + 1)", x: Self.shown(place), y: 12 + Double(row) * 17, anchor: "middle", class: "label number")
        }
    }

    /// The complete plot. `title` is for screen readers.
    func svg(_ title: String) -> String {
        "<svg class=\"plot\" role=\"img\" aria-label=\"\(HTML.escaped(title))\" width=\"100%\" height=\"\(pixels(height))\">"
            + shapes + words + "</svg>"
    }

    private func percent(_ value: Double) -> String { "\(Format.number(value, digits: 2))%" }
    private func pixels(_ value: Double) -> String { Format.number(value, digits: 1) }
}
