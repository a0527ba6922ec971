// SPDX-License-Identifier: Apache-2.0

#ifndef CDBUS_INTERNAL_H
#define CDBUS_INTERNAL_H

#include "CDBus.h"

typedef struct {
    bool is_open;
    /// The caller's tag, or CDBUS_HELLO.
    int tag;
    uint32_t serial;
    int64_t deadline_ms;
} cdbus_call;

/// Tag of our own call.
#define CDBUS_HELLO (-1)

struct cdbus {
    DBusConnection *connection;
    /// A duplicate: libdbus closes its own descriptor when the bus goes, and the owner may still be polling this
    /// number.
    int descriptor;
    /// CLOSED has been reported.
    bool is_closed;
    cdbus_call calls[CDBUS_CALLS];
    /// The message of the last item.
    DBusMessage *current;
};

int64_t cdbus_now_ms(void);

#endif
