// SPDX-License-Identifier: Apache-2.0

#include <stdio.h>
#include <string.h>

#include <dbus/dbus.h>

#include "check.h"

static int passed_count;
static int failed_count;

bool check(bool passed, const char *what, const char *file, int line) {
    if (passed) {
        passed_count++;
    } else {
        failed_count++;
        fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
    }
    return passed;
}

bool check_text(const char *actual, const char *expected, const char *file, int line) {
    if (check(strcmp(actual, expected) == 0, "two texts are the same", file, line)) return true;
    fprintf(stderr, "    is        %s\n    should be %s\n", actual, expected);
    return false;
}

bool check_number(long long actual, long long expected, const char *what, const char *file, int line) {
    if (check(actual == expected, what, file, line)) return true;
    fprintf(stderr, "    is %lld, should be %lld\n", actual, expected);
    return false;
}

int main(void) {
    static const struct {
        const char *name;
        void (*run)(void);
    } groups[] = {
        {"addresses", test_addresses},
        {"sockets", test_sockets},
        {"facts", test_facts},
        {"links", test_links},
        {"bus", test_bus},
        {"bus failures", test_bus_failures},
        {"events", test_events},
        {"advertisements", test_advertisements},
        {"agent", test_agent},
        {"gatt", test_gatt},
    };
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        printf("%s\n", groups[i].name);
        groups[i].run();
    }
    dbus_shutdown(); // libdbus keeps caches; without this they would look like leaks
    printf("%d passed, %d failed\n", passed_count, failed_count);
    return failed_count ? 1 : 0;
}
