// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import MeshSession
import NodeCore
import TerminalUI

/// Shows on standard error what happens with a pipe. Standard output belongs to the transfer.
actor PipeReporter {
    private let isJSON: Bool
    private let showsProgress: Bool
    private let began = ContinuousClock.now
    private var meter = PipeMeter()
    private var isLinked = false
    /// Whether the last line on the terminal is the progress, which the next line replaces.
    private var hasLine = false
    private var showing: Task<Void, Never>?
    private var progress: (@Sendable () async -> PipeProgress)?
    private var last: PipeProgress?

    init(isJSON: Bool, showsProgress: Bool) { (self.isJSON, self.showsProgress) = (isJSON, showsProgress) }

    /// The pipe runs.
    func begin(_ local: Peer, progress: @escaping @Sendable () async -> PipeProgress) {
        self.progress = progress
        emit(.ready(local))
        guard showsProgress else { return }
        showing = Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: PipeLimits.progressInterval)
                if !Task.isCancelled { await self.showProgress() }
            }
        }
    }

    /// Follows a caller's connection.
    func watch(_ guest: MeshGuest) async {
        var isFirst = true
        for await state in await guest.connectionState {
            guard let host = await guest.host else { continue }
            switch state {
            case .connected: show(.connected(host))
            case .reconnecting where isFirst || isLinked: show(.lost(host))
            default: break
            }
            isFirst = false
        }
    }

    func show(_ event: PipeEvent) {
        switch event {
        case .connected(let peer):
            isLinked = true
            emit(.connection(.connected, peer))
        case .lost(let peer):
            isLinked = false
            emit(.connection(.lost, peer))
        case .left(let peer):
            isLinked = false
            emit(.connection(.left, peer))
        }
    }

    /// The transfer has ended.
    func end() async {
        showing?.cancel()
        await showProgress(isLast: true)
        if hasLine { StandardError.write("") }
    }

    /// The program ends. A pipe that never ran has reported nothing, and reports no end.
    func bye(_ exitCode: Int32, _ message: String?) {
        if progress != nil { emit(.bye(exitCode: exitCode, message: message)) }
    }

    private func showProgress(isLast: Bool = false) async {
        guard let now = await progress?(), showsProgress || isJSON && isLast else { return }
        guard !isJSON else {
            if now != last || isLast { emit(.transfer(now)) }
            last = now
            return
        }
        let line = meter.line(now, isLinked: isLinked || isLast, at: ContinuousClock.now - began)
        writeAll("\r\u{1B}[K\(line)", to: 2)
        hasLine = true
    }

    private func emit(_ event: LinkToolEvent) {
        guard isJSON else { return }
        StandardError.write(JSONLine.text(TimedLinkToolEvent(event)))
    }
}
