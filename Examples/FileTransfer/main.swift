// SPDX-License-Identifier: Apache-2.0

// file-transfer receive FOLDER | file-transfer send FILE
//
// On a machine without Bluetooth, FOLDER names a folder in which all programs find each other.

import BLETransport
import Bearers
import FolderBearer
import Foundation

let path = CommandLine.arguments.last ?? "."
let radio: any Bearer =
    if let folder = ProcessInfo.processInfo.environment["FOLDER"] {
        try FolderBearer(folder: folder, address: CommandLine.arguments.contains("receive") ? "receiver" : "sender")
    } else {
        try BlueZBearer()
    }

if CommandLine.arguments.contains("receive") {
    print(try await receiveFile(into: path, as: "Receiver", on: radio))
} else {
    try await sendFile(path, as: "Sender", on: radio)
}
