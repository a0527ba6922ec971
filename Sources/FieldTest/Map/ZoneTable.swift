// SPDX-License-Identifier: Apache-2.0

/// Dead zones in words.
enum ZoneTable {
    /// The table below a map.
    static func html(_ zones: [DeadZone], drives: Int) -> String {
        guard !zones.isEmpty else { return "<p class=\"note\">The link was never lost on this track.</p>" }
        let rows = zones.prefix(FieldTestLimits.shownZones).enumerated().map { index, zone in
            let cells = [
                zone.middle.map(place) ?? "–", length(zone.metres), times(zone.gone), times(zone.reconnects),
                "\(zone.drives) of \(zone.passedBy)",
            ]
            return "<tr><th scope=\"row\">\(index + 1)</th>"
                + cells.prefix(drives > 1 ? 5 : 4).map { "<td>\(HTML.sentence($0))</td>" }.joined() + "</tr>"
        }
        let heads = ["Place", "Length", "Gone for", "Back after"] + (drives > 1 ? ["Drives"] : [])
        let others = zones.count - rows.count
        let note = others > 0 ? "<p class=\"note\">\(others) more are in the JSON and GeoJSON forms.</p>" : ""
        return "<h4>Dead zones</h4><div class=\"scroll\"><table class=\"zones\"><thead><tr><th scope=\"col\"></th>"
            + heads.map { "<th scope=\"col\">\($0)</th>" }.joined()
            + "</tr></thead><tbody>\(rows.joined())</tbody></table></div>\(note)"
    }

    /// Dead zones for a terminal.
    static func sentences(_ zones: [DeadZone], drives: Int) -> [String] {
        let shown = zones.prefix(FieldTestLimits.shownZones).enumerated().map { index, zone in
            let share = drives > 1 ? "lost in \(zone.drives) of \(zone.passedBy) drives, " : ""
            let back = zone.reconnects.isEmpty ? "" : ", back after \(times(zone.reconnects))"
            return "Dead zone \(index + 1): \(length(zone.metres)) at \(zone.middle.map(place) ?? "?"), \(share)"
                + "gone for \(times(zone.gone))\(back)."
        }
        let others = zones.count - shown.count
        return shown + (others > 0 ? ["\(others) more dead zones are in the JSON and GeoJSON forms."] : [])
    }

    /// The label of a zone on the map.
    static func label(_ zone: DeadZone) -> String {
        let gone = zone.gone.median.map { Format.time($0) } ?? "not back"
        return zone.reconnects.median.map { "\(gone), back after \(Format.time($0))" } ?? gone
    }

    /// A gap in words.
    static func sentence(_ pass: DeadZone.Pass) -> String {
        let length = pass.gap.length.map { ", \(Format.time($0))" } ?? ", not back"
        let back = pass.gap.reconnect.map { ", back after \(Format.time($0))" } ?? ""
        return "Gap at \(Format.clock(pass.gap.start))\(length)\(back)"
    }

    /// A place as other map programs accept it.
    static func place(_ position: PositionRow) -> String {
        "\(Format.number(position.latitude, digits: 5)), \(Format.number(position.longitude, digits: 5))"
    }

    /// A length: `80 m`, `1.2 km`.
    static func length(_ metres: Double) -> String {
        metres < 999.5
            ? "\(Format.number(metres, digits: 0)) m"
            : "\(Format.number(metres / 1_000, digits: metres < 9_950 ? 1 : 0)) km"
    }

    /// Up to three times, else their range.
    private static func times(_ sorted: [Double]) -> String {
        guard let first = sorted.first, let last = sorted.last else { return "–" }
        let words = sorted.map { Format.time($0) }
        if Set(words).count == 1 { return words[0] }
        return sorted.count <= 3 ? Format.list(words) : "\(Format.time(first)) to \(Format.time(last))"
    }
}
