// SPDX-License-Identifier: Apache-2.0

#include "CSodium.h"

#include <sodium.h>
#include <string.h>

void csodium_element(unsigned char element[CSODIUM_ELEMENT_BYTES], const unsigned char uniform[CSODIUM_UNIFORM_BYTES]) {
    crypto_core_ristretto255_from_hash(element, uniform);
}

void csodium_scalar(unsigned char scalar[CSODIUM_SCALAR_BYTES], const unsigned char uniform[CSODIUM_UNIFORM_BYTES]) {
    crypto_core_ristretto255_scalar_reduce(scalar, uniform);
}

int csodium_multiply(
    unsigned char product[CSODIUM_ELEMENT_BYTES], const unsigned char scalar[CSODIUM_SCALAR_BYTES],
    const unsigned char element[CSODIUM_ELEMENT_BYTES]) {
    unsigned char result[CSODIUM_ELEMENT_BYTES];
    if (crypto_scalarmult_ristretto255(result, scalar, element) != 0) return -1;
    memcpy(product, result, sizeof result);
    return 0;
}

int csodium_equal(const unsigned char *one, const unsigned char *other, unsigned long count) {
    return sodium_memcmp(one, other, count) == 0;
}
