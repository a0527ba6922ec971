// SPDX-License-Identifier: Apache-2.0

import Bearers

/// A channel over Bluetooth LE, for a session: the transport of every bearer, under the name that applications for
/// Bluetooth use.
///
/// A guest makes one from a `Peripheral` that it has heard, and passes it to a `MeshCoreSession`. A host gets one from
/// `BearerManager` for each guest that dials it.
public typealias BLETransport = BearerTransport
