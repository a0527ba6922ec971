// SPDX-License-Identifier: Apache-2.0

// QR codes, by libqrencode.

#ifndef CQRENCODE_H
#define CQRENCODE_H

#include <stddef.h>

// Modules on a side of the largest QR code there is (ISO/IEC 18004, version 40).
#define CQRENCODE_LARGEST 177

// Encodes a text of bytes that ends with a zero, with error correction M, in the smallest version that it fits. Writes one
// byte a module, row by row, 1 for black. Returns the modules on a side, or -1 where the text is too long, the room too
// small, or there is no memory.
int cqrencode_encode(const char *text, unsigned char *modules, size_t room);

#endif
