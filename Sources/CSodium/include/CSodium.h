// SPDX-License-Identifier: Apache-2.0

// The group ristretto255 (RFC 9496), by libsodium.

#ifndef CSODIUM_H
#define CSODIUM_H

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

// Whether two strings of bytes are the same, in a time that does not tell where they differ. Returns 1 or 0.
int csodium_equal(const unsigned char *one, const unsigned char *other, unsigned long count);

#endif
