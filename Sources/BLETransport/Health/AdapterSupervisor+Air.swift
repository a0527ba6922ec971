// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What is looked after while all seems well: nobody says when an advertisement or a scan has ended.
extension AdapterSupervisor {
    mutating func air(_ event: Event, _ now: MeshInstant) -> [Action] {
        switch event {
        case .advertised: advertiseAt = now + RadioLimits.advertisingRenewal
        case .advertisingStopped: advertiseAt = nil
        case .advertisingBack: return trouble == nil && advertiseAt != nil ? [.tellMended(.advertising)] : []
        case .scanWanted: scanPause = RadioLimits.firstRescan
        case .scanStarted:
            isScanning = true
            scanAt = now + scanPause
        case .scanPaused:
            isScanning = false
            scanAt = nil
        case .heard:
            scanPause = RadioLimits.quietScan
            if isScanning { scanAt = now + scanPause }
        case .discovering(let isOn):
            guard isScanning else { break }
            // bluetoothd takes a breath between two scans; it is over when it takes longer.
            scanAt = isOn ? now + scanPause : min(scanAt ?? now + RadioLimits.scanBreath, now + RadioLimits.scanBreath)
        default: break
        }
        return []
    }

    mutating func tick(_ now: MeshInstant) -> [Action] {
        var actions: [Action] = []
        if let next = nextStep, now >= next.at {
            // Without bluetoothd nothing can be done, and its return begins anew.
            nextStep = nil
            if isServiceThere, step == nil { actions += begin(next.step) }
        }
        if let at = lookAt, now >= at {
            lookAt = isOn || isOffByUs ? nil : now + RadioLimits.switchLook
            if lookAt != nil { actions.append(.lookAtSwitches) }
        }
        if let at = askAt, now >= at {
            askAt = now + RadioLimits.controllerCheck
            if isOn, isServiceThere, step == nil { actions.append(.askController) }
        }
        if let at = advertiseAt, now >= at {
            advertiseAt = now + RadioLimits.advertisingRenewal
            if trouble == nil { actions.append(.advertise) }
        }
        if let at = scanAt, now >= at {
            // Most often nobody is there.
            scanPause = min(scanPause * 2, RadioLimits.slowestRescan)
            scanAt = now + scanPause
            if trouble == nil { actions.append(.scan) }
        }
        return actions
    }
}
