// SPDX-License-Identifier: Apache-2.0

// chat host NAME | chat join NAME
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

if CommandLine.arguments.contains("host") {
    try await hostChat(as: name, on: radio) { print($0) }
} else {
    let (lines, typed) = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingOldest(64))
    // Reading waits for the keyboard, so it has a thread of its own.
    let typing = Task.detached { while let line = readLine() { typed.yield(line) } }
    try await joinChat(as: name, on: radio, lines: lines) { print($0) }
    typing.cancel()
}
