// SPDX-License-Identifier: Apache-2.0

#if !__has_include(<bluetooth/bluetooth.h>)
#error "RoadMesh needs the package libbluetooth-dev: sudo apt-get install libbluetooth-dev"
#endif

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/l2cap.h>
