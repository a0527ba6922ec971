// SPDX-License-Identifier: Apache-2.0

#include "address.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(bdaddr_t) == sizeof(((cbluez_address *)0)->bytes), "an address has six bytes on both sides");
_Static_assert(CBLUEZ_ADDRESS_PUBLIC == BDADDR_LE_PUBLIC, "the kinds are the kernel's");
_Static_assert(CBLUEZ_ADDRESS_RANDOM == BDADDR_LE_RANDOM, "the kinds are the kernel's");

// // Not `isxdigit` and `strtol`: they depend on the locale, and accept signs and spaces.
static int digit_value(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    return -1;
}

int cbluez_address_parse(const char *text, cbluez_address *address) {
    uint8_t bytes[sizeof address->bytes];
    for (size_t i = 0; i < sizeof bytes; i++) {
        const char *group = text + 3 * i;
        char end = i + 1 < sizeof bytes ? ':' : '\0';
        // Reads one digit after the other, because the text may end anywhere.
        int high = digit_value(group[0]);
        if (high < 0) return -EINVAL;
        int low = digit_value(group[1]);
        if (low < 0 || group[2] != end) return -EINVAL;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    memcpy(address->bytes, bytes, sizeof bytes);
    return 0;
}

void cbluez_address_format(const cbluez_address *address, char text[CBLUEZ_ADDRESS_TEXT]) {
    const uint8_t *b = address->bytes;
    snprintf(text, CBLUEZ_ADDRESS_TEXT, "%02X:%02X:%02X:%02X:%02X:%02X", b[0], b[1], b[2], b[3], b[4], b[5]);
}

bdaddr_t cbluez_address_to_kernel(const cbluez_address *address) {
    bdaddr_t kernel;
    for (size_t i = 0; i < sizeof kernel.b; i++) kernel.b[i] = address->bytes[sizeof kernel.b - 1 - i];
    return kernel;
}

cbluez_address cbluez_address_from_kernel(const bdaddr_t *kernel, uint8_t kind) {
    cbluez_address address = {.kind = kind};
    for (size_t i = 0; i < sizeof kernel->b; i++) address.bytes[i] = kernel->b[sizeof kernel->b - 1 - i];
    return address;
}
