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

_Static_assert(CSODIUM_KEY_BYTES == crypto_aead_chacha20poly1305_ietf_KEYBYTES, "a key has libsodium's length");
_Static_assert(CSODIUM_TAG_BYTES == crypto_aead_chacha20poly1305_ietf_ABYTES, "a tag has libsodium's length");

enum { NONCE_BYTES = crypto_aead_chacha20poly1305_ietf_NPUBBYTES };

static void write_nonce(unsigned char nonce[NONCE_BYTES], uint64_t counter) {
    memset(nonce, 0, NONCE_BYTES);
    for (int byte = 0; byte < 8; byte++) nonce[4 + byte] = (unsigned char)(counter >> 8 * byte);
}

int csodium_start(void) { return sodium_init() < 0 ? -1 : 0; }

void csodium_seal(
    unsigned char *sealed, const unsigned char *plaintext, unsigned long count, const unsigned char *authenticated,
    unsigned long authenticated_count, uint64_t counter, const unsigned char key[CSODIUM_KEY_BYTES]) {
    unsigned char nonce[NONCE_BYTES];
    write_nonce(nonce, counter);
    crypto_aead_chacha20poly1305_ietf_encrypt(
        sealed, NULL, plaintext, count, authenticated, authenticated_count, NULL, nonce, key);
}

int csodium_open(
    unsigned char *plaintext, const unsigned char *sealed, unsigned long count, const unsigned char *authenticated,
    unsigned long authenticated_count, uint64_t counter, const unsigned char key[CSODIUM_KEY_BYTES]) {
    unsigned char nonce[NONCE_BYTES];
    write_nonce(nonce, counter);
    return crypto_aead_chacha20poly1305_ietf_decrypt(
        plaintext, NULL, NULL, sealed, count, authenticated, authenticated_count, nonce, key);
}

int csodium_equal(const unsigned char *one, const unsigned char *other, unsigned long count) {
    return sodium_memcmp(one, other, count) == 0;
}
