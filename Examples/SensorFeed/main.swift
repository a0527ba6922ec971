// SPDX-License-Identifier: Apache-2.0

// sensor-feed publish FILE | sensor-feed watch
//
// The file contains thousandths of a degree, such as /sys/class/thermal/thermal_zone0/temp.
//
// On a machine without Bluetooth, FOLDER names a folder in which all programs find each other.

import BLETransport
import Bearers
import FolderBearer
import Foundation

let path = CommandLine.arguments.last ?? ""
let radio: any Bearer =
    if let folder = ProcessInfo.processInfo.environment["FOLDER"] {
        try FolderBearer(folder: folder, address: CommandLine.arguments.contains("publish") ? "sensor" : "watcher")
    } else {
        try BlueZBearer()
    }

if CommandLine.arguments.contains("publish") {
    let (readings, sensor) = AsyncStream<Double>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let reading = Task {
        while !Task.isCancelled {
            let text = try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
            sensor.yield((Double(text) ?? .nan) / 1_000)
            try await Task.sleep(for: .seconds(1))
        }
    }
    try await publish(readings, as: "Thermometer", on: radio)
    reading.cancel()
} else {
    try await watch(as: "Reader", on: radio) { print($0) }
}
