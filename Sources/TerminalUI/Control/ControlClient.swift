// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import MeshNode
import NodeStore

/// Sends a command to the host that runs with a state folder.
package struct ControlClient: Sendable {
    private let place: ControlPlace

    /// A client of the host with this state folder.
    package init(folder: String) { place = ControlPlace(folder: folder) }

    /// Whether the folder has a socket. Its host may have been killed since.
    package var isThere: Bool { access(place.path, F_OK) == 0 }

    /// Sends a command, and waits for its answer.
    package func send(_ command: String, language: String) throws(SetupProblem) -> ControlAnswer {
        let descriptor: Int32
        do {
            descriptor = try place.connect()
        } catch {
            throw problem(error.code)
        }
        defer { close(descriptor) }
        guard let key = FileManager.default.contents(atPath: place.folder + "/" + ControlPlace.keyName) else {
            throw problem(EACCES)
        }
        let request = ControlRequest(key: String(decoding: key, as: UTF8.self), command: command, language: language)
        guard var line = try? Array(JSONEncoder().encode(request)), line.count < ControlLimits.requestBytes else {
            throw SetupProblem(.usage, "The command is too long.")
        }
        line.append(UInt8(ascii: "\n"))
        // The buffer of a new socket has room for a line of this size.
        guard Glibc.send(descriptor, line, line.count, Int32(MSG_NOSIGNAL)) == line.count,
            let answer = received(descriptor)
        else {
            throw SetupProblem(.unavailable, "The host that runs with \(place.folder) does not answer.")
        }
        return answer
    }

    private func received(_ descriptor: Int32) -> ControlAnswer? {
        let end = ContinuousClock.now + ControlLimits.clientTime
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.last != UInt8(ascii: "\n"), bytes.count < ControlLimits.answerBytes {
            let left = end - ContinuousClock.now
            var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard left > .zero, poll(&polled, 1, Int32(left / .milliseconds(1)) + 1) > 0 else { return nil }
            let count = read(descriptor, &piece, piece.count)
            guard count > 0 else { return nil }
            bytes += piece.prefix(count)
        }
        return try? JSONDecoder().decode(ControlAnswer.self, from: Data(bytes))
    }

    private func problem(_ code: Int32) -> SetupProblem {
        switch code {
        case EACCES, EPERM:
            SetupProblem(
                .notPermitted,
                "This user may not send commands to the host that runs with \(place.folder). Run it as its user, or with sudo."
            )
        case ENOENT, ECONNREFUSED, ENOTDIR:
            SetupProblem(
                .unavailable,
                "No host runs with the state folder \(place.folder); start one, or name another folder with --state.")
        default:
            SetupProblem(
                .unavailable,
                "The host that runs with \(place.folder) cannot be reached: \(String(cString: strerror(code))).")
        }
    }
}
