// SPDX-License-Identifier: Apache-2.0
//
// Converts between our addresses (most significant byte first) and the kernel's (little endian).

#ifndef CBLUEZ_ADDRESS_H
#define CBLUEZ_ADDRESS_H

#include <bluetooth/bluetooth.h>

#include "CBlueZ.h"

bdaddr_t cbluez_address_to_kernel(const cbluez_address *address);
cbluez_address cbluez_address_from_kernel(const bdaddr_t *kernel, uint8_t kind);

#endif
