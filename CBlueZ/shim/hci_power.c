// SPDX-License-Identifier: Apache-2.0
//
// Switches an adapter off and on without bluetoothd, which learns of it from the kernel.

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "CBlueZ.h"

static int request(int hci, unsigned long request, uint16_t index) {
    int result;
    do {
        result = ioctl(hci, request, index);
    } while (result < 0 && errno == EINTR);
    return result < 0 ? -errno : 0;
}

int cbluez_hci_power_cycle(uint16_t index) {
    int hci = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC, BTPROTO_HCI);
    if (hci < 0) return -errno;
    int result = request(hci, HCIDEVDOWN, index);
    if (result == 0 || result == -EALREADY) {
        result = request(hci, HCIDEVUP, index);
        // bluetoothd has switched it on already.
        if (result == -EALREADY) result = 0;
    }
    close(hci);
    return result;
}
