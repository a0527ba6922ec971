// SPDX-License-Identifier: Apache-2.0

extension BenchResult {
    /// The result for a person, one line for each measurement.
    public var summary: [String] {
        var lines = [
            "caller     \(caller.text)", "listener   \(listener.text)",
            "join       \(Format.time(join)) from the start to the encrypted session",
        ]
        lines.append("round trip " + (roundTrip?.text ?? "no ping was answered"))
        for rate in goodput { lines.append("goodput    \(rate.text)") }
        lines.append("reconnect  " + (reconnect?.text ?? "not measured"))
        lines.append("power      " + (powerCycle.map { "back \(Format.time($0)) after the adapter" } ?? "not measured"))
        if let idle {
            lines.append("idle       caller: \(idle.caller.text)")
            lines.append("           listener: \(idle.listener.text)")
        }
        if links > 1 { lines.append("links      \(links) callers at once") }
        if isEmulated { lines.append("The controllers are emulated, so these figures are not those of a real radio.") }
        return lines
    }
}

extension BenchMachine {
    /// The machine in one line.
    public var text: String {
        let adapter =
            usb.map { "USB \($0)" } ?? driver ?? (radio == "bluez" ? "emulated controller" : "\(radio) radio")
        let parts = [
            adapter, firmware.map { "firmware \($0)" }, "Linux \(kernel)", bluez.map { "BlueZ \($0)" },
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }
}

extension BenchTimes {
    fileprivate var text: String {
        let times = [("median", median), ("95 %", percentile95), ("99 %", percentile99), ("longest", longest)]
        let shown = times.map { "\($0) \(Format.number($1, digits: $1 < 100 ? 1 : 0)) ms" }.joined(separator: ", ")
        return shown + ", of \(count)" + (lost == 0 ? "" : ", \(lost) without an answer")
    }
}

extension BenchGoodput {
    fileprivate var text: String {
        let name = phy.map { "\($0): " } ?? ""
        guard let up, let down else { return name + (reason ?? "not measured") }
        let rates = [up, down].map { "\(Format.number($0 / 1_000, digits: 1)) kB/s" }
        return "\(name)\(rates[0]) to the listener, \(rates[1]) back"
    }
}
