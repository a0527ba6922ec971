// SPDX-License-Identifier: Apache-2.0

import Bearers
import CBlueZ
import Glibc

/// One command on the management channel. The kernel answers when the controller has finished.
struct KernelCommand {
    let opcode: Int
    let adapterIndex: UInt16

    /// Sends the command with `request` (0, or a negative errno) and waits for the answer. Returns 0 or a negative
    /// errno, -ETIMEDOUT if no answer comes in time.
    func run(_ poller: Poller, _ request: @escaping @Sendable (Int32) -> Int32) async -> Int32 {
        let descriptor = cbluez_hci_open_control()
        guard descriptor >= 0 else { return descriptor }
        let control = PacketSocket(descriptor, poller: poller)
        let timeout = Task {
            try await Task.sleep(for: RadioLimits.busCall)
            control.close()
        }
        defer {
            timeout.cancel()
            control.close()
        }
        do {
            let sent = try await control.perform(.writable) { Int(request($0)) }
            guard sent == 0 else { return Int32(sent) }
            while true {
                let reply = try await control.perform(.readable) {
                    Int(cbluez_hci_read_reply($0, adapterIndex, UInt16(opcode)))
                }
                if reply != 0 { return reply > 0 ? 0 : Int32(reply) }
            }
        } catch {
            return -ETIMEDOUT
        }
    }
}

/// The number of this process's advertisement in the kernel. The highest numbers are used, since bluetoothd uses the
/// lowest. While this object lives, no other node with the same folder has the same number.
final class AdvertisingNumber: Sendable {
    let value: UInt8
    let adapterIndex: UInt16
    /// A locked file; -1 without a folder.
    private let descriptor: Int32

    /// The highest number that no other program and no other node with this folder uses. Throws if there is none. A node
    /// without a folder leaves the highest number to those with one.
    init(on adapter: Adapter, folder: String) throws(BearerError) {
        let control = cbluez_hci_open_control()
        guard control >= 0 else { throw BlueZBearer.socketError(-control) }
        defer { Glibc.close(control) }
        var used: UInt32 = 0
        let highest = cbluez_hci_advertising_instances(control, adapter.index, &used)
        guard highest > 0 else { throw BlueZBearer.socketError(highest == 0 ? EOPNOTSUPP : -highest) }
        let numbers = Array((1...UInt8(clamping: min(highest, 31))).reversed())
        let isFree = { (number: UInt8) in used & 1 << number == 0 }
        let own = folder.isEmpty ? nil : Self.locked(numbers, isFree, adapter, folder)
        guard let chosen = own ?? numbers.dropFirst(numbers.count > 1 ? 1 : 0).first(where: isFree).map({ ($0, -1) })
        else {
            throw BearerError(.unsupported, "all advertisements of \(adapter.name) are in use")
        }
        (value, descriptor) = chosen
        adapterIndex = adapter.index
    }

    /// The highest number whose file this process could lock. A number in use is taken over from a node of this folder that
    /// has died, since the kernel still advertises its PSM.
    private static func locked(
        _ numbers: [UInt8], _ isFree: (UInt8) -> Bool, _ adapter: Adapter, _ folder: String
    ) -> (UInt8, Int32)? {
        let digits = SettingsRecord.digits(of: adapter.address.address)
        for number in numbers {
            let file = SettingsRecord.openFile("advertisement-\(digits)-\(number)", in: folder)
            guard file >= 0 else { return nil }
            if flock(file, LOCK_EX | LOCK_NB) == 0, isFree(number) || wasUsedLately(file) { return (number, file) }
            Glibc.close(file)
        }
        return nil
    }

    /// Whether a node has advertised with this file's number, so recently that the kernel may still do so.
    private static func wasUsedLately(_ file: Int32) -> Bool {
        var status = stat()
        guard fstat(file, &status) == 0, status.st_size > 0 else { return false }
        let age = Glibc.time(nil) - status.st_mtim.tv_sec
        return (0...Int(RadioLimits.kernelAdvertising / .seconds(1))).contains(age)
    }

    /// Records that the kernel advertises with this number now.
    func markUsed() {
        // A file without a byte was opened only.
        if descriptor >= 0 { _ = pwrite(descriptor, "1", 1, 0) }
    }

    deinit { if descriptor >= 0 { Glibc.close(descriptor) } }
}

/// Advertising without bluetoothd.
extension BlueZBearer {
    /// Asks the kernel to advertise. The kernel stops unless it is asked again in time, so a crashed program goes off
    /// the air.
    func advertiseByKernel(_ advertisement: Advertisement) async throws(BearerError) {
        let number: AdvertisingNumber
        if let advertisingNumber {
            number = advertisingNumber
        } else {
            number = try AdvertisingNumber(on: adapter, folder: settingsPolicy.folder)
        }
        advertisingNumber = number
        let contents = AdvertisedBytes(advertisement, psm: psm).forKernel
        let lifetime = UInt16(RadioLimits.kernelAdvertising / .seconds(1))
        let command = KernelCommand(opcode: Int(CBLUEZ_ADD_ADVERTISING), adapterIndex: number.adapterIndex)
        for attempt in 1... {
            let result = await command.run(poller) { control in
                var contents = contents
                return cbluez_hci_add_advertising(control, command.adapterIndex, number.value, &contents, lifetime)
            }
            guard result != 0 else { return number.markUsed() }
            // Another program is changing its advertisements.
            guard result == -EBUSY, attempt < RadioLimits.registerTries else { throw Self.socketError(-result) }
            try? await Task.sleep(for: RadioLimits.registerPause)
        }
    }

    /// Removes this process's advertisement from the kernel.
    func endAdvertisingByKernel() async {
        guard let number = advertisingNumber else { return }
        advertisingNumber = nil
        let command = KernelCommand(opcode: Int(CBLUEZ_REMOVE_ADVERTISING), adapterIndex: number.adapterIndex)
        // The advertisement may have gone already, with its adapter or after its time.
        _ = await command.run(poller) { cbluez_hci_remove_advertising($0, number.adapterIndex, number.value) }
    }

    /// Whether the kernel refuses to advertise. bluetoothd has failed, and this process may not ask the kernel. If the
    /// adapter is on and its controller answers, only the kernel can have refused.
    func isRefusedByKernel() async -> Bool {
        guard (try? Adapter.find(adapter.name))?.isUp == true else { return false }
        // A question would delay the dial (`docs/bluez.md`).
        guard dialling == nil else { return true }
        return await ControllerQuestion.isAnswered(by: adapter.index, poller: poller) == true
    }
}
