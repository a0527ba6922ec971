// SPDX-License-Identifier: Apache-2.0

// The group ristretto255 (RFC 9496) and ChaCha20-Poly1305 (RFC 8439), by libsodium.

#ifndef CSODIUM_H
#define CSODIUM_H

#include <stdint.h>

// Bytes of an element, of a scalar, and of what an element is derived from.
#define CSODIUM_ELEMENT_BYTES 32
#define CSODIUM_SCALAR_BYTES 32
#define CSODIUM_UNIFORM_BYTES 64

// The element that 64 uniform bytes are mapped to (RFC 9496, 4.3.4).
void csodium_element(unsigned char element[CSODIUM_ELEMENT_BYTES], const unsigned char uniform[CSODIUM_UNIFORM_BYTES]);

// The scalar of 64 uniform bytes, by the order of the group.
void csodium_scalar(unsigned char scalar[CSODIUM_SCALAR_BYTES], const unsigned char uniform[CSODIUM_UNIFORM_BYTES]);

// Scalar times element. Returns 0, or -1 where the element is no canonical encoding or the product is the identity: nothing is
// written then.
int csodium_multiply(
    unsigned char product[CSODIUM_ELEMENT_BYTES], const unsigned char scalar[CSODIUM_SCALAR_BYTES],
    const unsigned char element[CSODIUM_ELEMENT_BYTES]);

// Bytes of a key of ChaCha20-Poly1305, and those that sealing adds at the end.
#define CSODIUM_KEY_BYTES 32
#define CSODIUM_TAG_BYTES 16

// Has libsodium look what this processor can do. To be called before anything is sealed or opened, or that is slow; at any time,
// from any thread. Returns 0, or -1 where the system gives no random numbers.
int csodium_start(void);

// Seals with ChaCha20-Poly1305: `count` bytes and the tag are written, which vouches for the authenticated bytes too. The nonce
// is four zero bytes and the counter with its low byte first, as the Noise Protocol Framework has it (revision 34, 12.3).
void csodium_seal(
    unsigned char *sealed, const unsigned char *plaintext, unsigned long count, const unsigned char *authenticated,
    unsigned long authenticated_count, uint64_t counter, const unsigned char key[CSODIUM_KEY_BYTES]);

// Opens what was sealed so: `count` bytes with their tag, of which there are at least CSODIUM_TAG_BYTES. Returns 0, or -1 where
// they are not authentic: the plaintext is to be thrown away then.
int csodium_open(
    unsigned char *plaintext, const unsigned char *sealed, unsigned long count, const unsigned char *authenticated,
    unsigned long authenticated_count, uint64_t counter, const unsigned char key[CSODIUM_KEY_BYTES]);

// Whether two strings of bytes are the same, in a time that does not tell where they differ. Returns 1 or 0.
int csodium_equal(const unsigned char *one, const unsigned char *other, unsigned long count);

#endif
