// SPDX-License-Identifier: Apache-2.0

// chat host NAME | chat join NAME

import BLETransport

let radio = try BlueZBearer()
let name = CommandLine.arguments.last ?? "somebody"

if CommandLine.arguments.contains("host") {
    try await hostChat(as: name, on: radio) { print($0) }
} else {
    let (lines, typed) = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingOldest(64))
    // Reading waits for the keyboard, so it has a thread of its own.
    let typing = Task.detached { while let line = readLine() { typed.yield(line) } }
    try await joinChat(as: name, on: radio, lines: lines) { print($0) }
    typing.cancel()
}
