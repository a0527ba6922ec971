// SPDX-License-Identifier: Apache-2.0

// The group ristretto255 (RFC 9496) and ChaCha20-Poly1305 (RFC 8439), by libsodium.

#ifndef CSODIUM_H
#define CSODIUM_H

#include <stdint.h>

// Sizes of an element, of a scalar, and of the uniform bytes that an element is derived from.
#define CSODIUM_ELEMENT_BYTES 32
#define CSODIUM_SCALAR_BYTES 32
#define CSODIUM_UNIFORM_BYTES 64

// The element that 64 uniform bytes are mapped to (RFC 9496, 4.3.4).
void csodium_element(unsigned char element[CSODIUM_ELEMENT_BYTES], const unsigned char uniform[CSODIUM_UNIFORM_BYTES]);

// The scalar of 64 uniform bytes, modulo the order of the group.
void csodium_scalar(unsigned char scalar[CSODIUM_SCALAR_BYTES], const unsigned char uniform[CSODIUM_UNIFORM_BYTES]);

// Scalar times element. Returns 0, or -1 if the element is not a canonical encoding or the product is the identity. It
// writes nothing then.
int csodium_multiply(
    unsigned char product[CSODIUM_ELEMENT_BYTES], const unsigned char scalar[CSODIUM_SCALAR_BYTES],
    const unsigned char element[CSODIUM_ELEMENT_BYTES]);

// Sizes of a ChaCha20-Poly1305 key, and of the tag that sealing appends.
#define CSODIUM_KEY_BYTES 32
#define CSODIUM_TAG_BYTES 16

// Lets libsodium detect this processor's features. Without it, sealing and opening are slow, so call it first. It may
// be called at any time, from any thread. Returns 0, or -1 if the system has no random numbers.
int csodium_start(void);

// Seals with ChaCha20-Poly1305: writes `count` bytes and the tag, which also authenticates the additional bytes. The
// nonce is four zero bytes and the little-endian counter, as in the Noise Protocol Framework (revision 34, 12.3).
void csodium_seal(
    unsigned char *sealed, const unsigned char *plaintext, unsigned long count, const unsigned char *authenticated,
    unsigned long authenticated_count, uint64_t counter, const unsigned char key[CSODIUM_KEY_BYTES]);

// Opens sealed data: `count` bytes including the tag, at least CSODIUM_TAG_BYTES. Returns 0, or -1 if the data is not
// authentic. The caller must then discard the plaintext.
int csodium_open(
    unsigned char *plaintext, const unsigned char *sealed, unsigned long count, const unsigned char *authenticated,
    unsigned long authenticated_count, uint64_t counter, const unsigned char key[CSODIUM_KEY_BYTES]);

// Compares two strings of bytes in a time that does not depend on where they differ. Returns 1 if they are equal, else
// 0.
int csodium_equal(const unsigned char *one, const unsigned char *other, unsigned long count);

#endif
