// SPDX-License-Identifier: Apache-2.0

// stops host NAME | stops join NAME
//
// On a machine without Bluetooth, FOLDER names a folder in which all programs find each other.

import BLETransport
import Bearers
import FolderBearer
import Foundation

let name = CommandLine.arguments.last ?? "somebody"
let radio: any Bearer =
    if let folder = ProcessInfo.processInfo.environment["FOLDER"] {
        try FolderBearer(folder: folder, address: name)
    } else {
        try BlueZBearer()
    }
let memory = NSHomeDirectory() + "/.local/state/road-stops/" + name

if CommandLine.arguments.contains("host") {
    try await hostStops(as: name, on: radio, in: memory) { print($0) }
} else {
    let (stops, typed) = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingOldest(64))
    // Reading waits for the keyboard, so it has a thread of its own.
    let typing = Task.detached { while let line = readLine() { typed.yield(line) } }
    try await joinStops(as: name, on: radio, in: memory, stops: stops) { print($0) }
    typing.cancel()
}
