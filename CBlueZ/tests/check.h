// SPDX-License-Identifier: Apache-2.0
//
// Counting assertions.

#ifndef CBLUEZ_TESTS_CHECK_H
#define CBLUEZ_TESTS_CHECK_H

#include <stdbool.h>

/// Counts a check, and prints its place if it fails. Returns `passed`.
bool check(bool passed, const char *what, const char *file, int line);
/// Compares two texts.
bool check_text(const char *actual, const char *expected, const char *file, int line);
/// Compares two numbers.
bool check_number(long long actual, long long expected, const char *what, const char *file, int line);

#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)
#define CHECK_TEXT(actual, expected) check_text((actual), (expected), __FILE__, __LINE__)
#define CHECK_NUMBER(actual, expected) \
    check_number((long long)(actual), (long long)(expected), #actual, __FILE__, __LINE__)

// The groups of tests.
void test_addresses(void);
void test_sockets(void);
void test_facts(void);
void test_links(void);
void test_bus(void);
void test_bus_failures(void);
void test_events(void);
void test_advertisements(void);
void test_agent(void);
void test_gatt(void);

#endif
