// SPDX-License-Identifier: Apache-2.0

// QR codes, by libqrencode.

#ifndef CQRENCODE_H
#define CQRENCODE_H

#include <stddef.h>

// Modules per side of the largest QR code (ISO/IEC 18004, version 40).
#define CQRENCODE_LARGEST 177

// Encodes a zero-terminated text with error correction M, in the smallest version that it fits. Writes one byte for
// each module, row by row, 1 for black. Returns the modules per side, or -1 if the text is too long, the buffer is too
// small, or memory runs out.
int cqrencode_encode(const char *text, unsigned char *modules, size_t room);

#endif
