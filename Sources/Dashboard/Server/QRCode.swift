// SPDX-License-Identifier: Apache-2.0

import CQREncode

/// A QR code (ISO/IEC 18004) as a picture or as text.
public enum QRCode {
    /// The width of the white margin that a reader needs, in modules.
    private static let quietZone = 4

    /// Returns an SVG, black on white, one unit per module. Nil if the text is too long.
    static func svg(_ text: String) -> String? {
        guard text.utf8.count <= DashboardLimits.invitationBytes, let rows = modules(text) else { return nil }
        let side = rows.count + 2 * quietZone
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(side) \(side)" shape-rendering="crispEdges">\
            <path fill="#fff" d="M0 0h\(side)v\(side)H0z"/><path fill="#000" d="\(path(rows))"/></svg>
            """
    }

    /// Lines of text for a terminal, two rows of modules per line. Escape sequences make it black on white in any
    /// colour scheme. Nil if the text is too long.
    public static func lines(_ text: String) -> [String]? {
        guard text.utf8.count <= DashboardLimits.invitationBytes, let rows = modules(text) else { return nil }
        let (margin, side) = (2, rows.count + 4)
        func isBlack(_ x: Int, _ y: Int) -> Bool {
            rows.indices ~= y - margin && rows.indices ~= x - margin && rows[y - margin][x - margin]
        }
        return stride(from: 0, to: side, by: 2).map { y in
            let halves = (0..<side).map { x -> Character in
                switch (isBlack(x, y), isBlack(x, y + 1)) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }
            return "\u{1B}[30;107m" + String(halves) + "\u{1B}[0m"
        }
    }

    /// The modules row by row. True is black.
    static func modules(_ text: String) -> [[Bool]]? {
        var bytes = [UInt8](repeating: 0, count: Int(CQRENCODE_LARGEST * CQRENCODE_LARGEST))
        let side = Int(cqrencode_encode(text, &bytes, bytes.count))
        guard side > 0 else { return nil }
        return (0..<side).map { row in bytes[row * side..<(row + 1) * side].map { $0 == 1 } }
    }

    /// Draws one bar for each run of black modules.
    private static func path(_ rows: [[Bool]]) -> String {
        var path = ""
        for (y, row) in rows.enumerated() {
            var x = 0
            while x < row.count {
                let length = row[x...].prefix { $0 == row[x] }.count
                if row[x] { path += "M\(x + quietZone) \(y + quietZone)h\(length)v1h-\(length)z" }
                x += length
            }
        }
        return path
    }
}
