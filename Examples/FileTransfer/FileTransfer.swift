// SPDX-License-Identifier: Apache-2.0

import Bearers
import Foundation
import MeshProtocol
import MeshSession

private let partBytes = 60_000

/// Receives one file into a folder, and returns its path. The parts are written as they arrive.
func receiveFile(into folder: String, as name: String, on radio: any Bearer) async throws -> String {
    let service = try ServiceType("road-files")
    let identity = Identity.make()
    let manager = BearerManager(radio: radio, local: Peer(id: identity.peerID, name: name), service: service)
    let endpoint = MeshEndpoint(core: MeshCore(identity: identity, name: name, service: service))
    try await endpoint.host(on: manager)
    return try await endpoint.executeThenClose { events in
        var file: (handle: FileHandle, path: String, sender: Peer)?
        for await case .message(let message, let sender) in events {
            if let file {
                guard sender == file.sender else { continue }
                // An empty part ends the file. The sender gets its acknowledgement when this closure returns.
                guard !message.body.isEmpty else {
                    try file.handle.close()
                    return file.path
                }
                try file.handle.write(contentsOf: Data(message.body))
            } else {
                // The sender must not choose another folder.
                let name = URL(fileURLWithPath: String(decoding: message.body, as: UTF8.self)).lastPathComponent
                let path = folder + "/" + name
                guard FileManager.default.createFile(atPath: path, contents: nil),
                    let handle = FileHandle(forWritingAtPath: path)
                else { throw CocoaError(.fileWriteUnknown) }
                file = (handle, path, sender)
            }
        }
        throw MeshCoreError.sessionOver
    }
}

/// Sends a file to the receiver in range, and returns when it has everything. `send` waits while the receiver is slower
/// than the disk, so the file is never in memory as a whole.
func sendFile(_ path: String, as name: String, on radio: any Bearer) async throws {
    let service = try ServiceType("road-files")
    let manager = BearerManager(radio: radio, local: Peer(id: "", name: name), service: service)
    guard let file = FileHandle(forReadingAtPath: path) else { throw CocoaError(.fileReadNoSuchFile) }
    try await withGuest(on: manager, configuration: .init(name: name, service: service)) { guest, _ in
        try await guest.send(Array(URL(fileURLWithPath: path).lastPathComponent.utf8))
        while let part = try file.read(upToCount: partBytes), !part.isEmpty { try await guest.send(Array(part)) }
        try await guest.send([])
    }
}
