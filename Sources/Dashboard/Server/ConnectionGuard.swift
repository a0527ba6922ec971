// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NIOCore
import NIOHTTPTypes

/// Passes a connection's events to its `ConnectionWatch`, and performs the resulting actions. It runs on the
/// connection's event loop.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let connections: Connections
    private var id: ConnectionTable.ID?
    private var watch: ConnectionWatch
    private var alarm: (deadline: MeshInstant, task: Scheduled<Void>)?

    init(_ connections: Connections) {
        self.connections = connections
        watch = ConnectionWatch(now: connections.now)
    }

    func channelActive(context: ChannelHandlerContext) {
        guard let id = connections.open(context.channel) else {
            context.close(promise: nil)
            return
        }
        self.id = id
        setAlarm(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        alarm?.task.cancel()
        alarm = nil
        if let id { connections.closed(id) }
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: tell(.requestBegan, context)
        case .body(let body): tell(.bodyArrived(bytes: body.readableBytes), context)
        case .end: tell(.requestEnded, context)
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part = unwrapOutboundIn(data)
        if case .head(let head) = part {
            tell(.answerBegan(isStream: head.headerFields[.contentType] == DashboardRoutes.eventStream), context)
        }
        tell(.writeBegan, context)
        let written = promise ?? context.eventLoop.makePromise()
        let here = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        written.futureResult.whenComplete { _ in
            let (handler, context) = here.value
            handler.tell(.writeEnded, context)
            if case .end = part { handler.tell(.answerEnded, context) }
        }
        context.write(data, promise: written)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { tell(.inputClosed, context) }
        context.fireUserInboundEventTriggered(event)
    }

    private func tell(_ event: ConnectionWatch.Event, _ context: ChannelHandlerContext) {
        switch watch.handle(event, now: connections.now) {
        case .busy: if let id { connections.changed(id, isBusy: true) }
        case .idle: if let id { connections.changed(id, isBusy: false) }
        case .close: context.close(promise: nil)
        case nil: break
        }
        setAlarm(context)
    }

    /// Sets the alarm. Each written part moves the deadline later. If the alarm fires before the deadline, it is set
    /// again.
    private func setAlarm(_ context: ChannelHandlerContext) {
        guard context.channel.isActive, let deadline = watch.deadline else { return }
        if let alarm, alarm.deadline <= deadline { return }
        alarm?.task.cancel()
        let here = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let wait = max(deadline - connections.now, .zero)
        let task = context.eventLoop.scheduleTask(in: TimeAmount(wait)) {
            let (handler, context) = here.value
            handler.alarm = nil
            handler.tell(.tick, context)
        }
        alarm = (deadline, task)
    }
}
