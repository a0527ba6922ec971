// SPDX-License-Identifier: Apache-2.0

#include "CQREncode.h"

#include <qrencode.h>

int cqrencode_encode(const char *text, unsigned char *modules, size_t room) {
    QRcode *code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M);
    if (code == NULL) return -1;
    int width = code->width;
    size_t count = (size_t)width * (size_t)width;
    if (count > room) {
        QRcode_free(code);
        return -1;
    }
    // The other bits are the module's purpose.
    for (size_t i = 0; i < count; i++) modules[i] = code->data[i] & 1;
    QRcode_free(code);
    return width;
}
