// SPDX-License-Identifier: Apache-2.0

// file-transfer receive FOLDER | file-transfer send FILE

import BLETransport

let radio = try BlueZBearer()
let path = CommandLine.arguments.last ?? "."

if CommandLine.arguments.contains("receive") {
    print(try await receiveFile(into: path, as: "Receiver", on: radio))
} else {
    try await sendFile(path, as: "Sender", on: radio)
}
