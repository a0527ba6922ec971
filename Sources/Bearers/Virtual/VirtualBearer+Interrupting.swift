// SPDX-License-Identifier: Apache-2.0

extension VirtualBearer: InterruptibleBearer {
    /// Closes all channels.
    public func endLinks() async {
        for tracked in channels.values { tracked.channel?.close() }
    }

    /// Throws `unsupported`: a virtual radio has no adapter.
    public func switchAdapter(on isOn: Bool) async throws(BearerError) {
        throw BearerError(.unsupported, "a virtual radio has no adapter")
    }

    /// Throws `unsupported`: a virtual radio has no PHY.
    public func change(to phy: LinkPHY) async throws(BearerError) {
        throw BearerError(.unsupported, "a virtual radio has no PHY")
    }
}
