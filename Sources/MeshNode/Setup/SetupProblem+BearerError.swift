// SPDX-License-Identifier: Apache-2.0

import Bearers

extension SetupProblem {
    /// Converts a radio's error to the problem that the person who starts a node sees.
    public init(_ error: BearerError) {
        let cause = error.cause
        switch error.code {
        case .noAdapter:
            self.init(
                .unavailable,
                "No radio: \(cause); plug in a Bluetooth adapter or name another with --adapter, or use --radio virtual."
            )
        case .radioOff:
            self.init(.unavailable, "The radio is off: \(cause); switch it on with: bluetoothctl power on")
        case .blocked:
            self.init(
                .unavailable, "Bluetooth is blocked: \(cause); lift the block with: sudo rfkill unblock bluetooth")
        case .blockedBySwitch:
            self.init(
                .unavailable,
                "Bluetooth is blocked: \(cause); flip it, or its key. To see which one: rfkill list bluetooth")
        case .adapterSilent, .adapterDead:
            self.init(.unavailable, "The adapter does not answer: \(cause); unplug it and plug it in again.")
        case .advertisingRefused:
            self.init(
                .unavailable,
                "\(cause) refuses what bluetoothd advertises, so other devices cannot find this one; update Linux or BlueZ, or "
                    + "give this program CAP_NET_ADMIN (roadmesh doctor shows how).")
        case .airUnusable:
            self.init(.unavailable, "The virtual radio has no folder: \(cause); name another with --air.")
        case .airForbidden:
            self.init(
                .notPermitted,
                "The virtual radio has no folder: \(cause); allow this user to write to it, or name another with --air."
            )
        case .serviceNotRunning:
            self.init(
                .unavailable,
                "bluetoothd is not running (\(cause)); start it with: sudo systemctl start bluetooth, or use --radio "
                    + "virtual.")
        case .notPermitted:
            self.init(
                .notPermitted,
                "This user may not use Bluetooth (\(cause)); join the group with: sudo usermod -aG bluetooth $USER, and "
                    + "log in again.")
        case .unsupported:
            self.init(.unavailable, "This adapter is not suitable: \(cause); name another with --adapter.")
        case .dialFailed, .bondRequired, .channelLost, .tooLarge, .closed, .cancelled, .failed:
            self.init(.unavailable, "The radio does not work: \(cause).")
        }
    }
}
