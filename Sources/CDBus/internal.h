// SPDX-License-Identifier: Apache-2.0

#ifndef CDBUS_INTERNAL_H
#define CDBUS_INTERNAL_H

#include "CDBus.h"

typedef struct {
    bool is_open;
    /// The caller's, or CDBUS_HELLO.
    int tag;
    uint32_t serial;
    int64_t deadline_ms;
} cdbus_call;

/// Our own call.
#define CDBUS_HELLO (-1)

struct cdbus {
    DBusConnection *connection;
    /// A duplicate: libdbus closes its own when the bus goes, and the owner may still be watching this number.
    int descriptor;
    /// CLOSED has been told.
    bool is_closed;
    cdbus_call calls[CDBUS_CALLS];
    /// The last item's.
    DBusMessage *current;
};

int64_t cdbus_now_ms(void);

#endif
