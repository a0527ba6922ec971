// SPDX-License-Identifier: Apache-2.0

#ifndef ROADMESH_LIBFUZZER_H
#define ROADMESH_LIBFUZZER_H

#include <stddef.h>
#include <stdint.h>

// libFuzzer as a library (https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library). `scripts/fuzz` passes the
// path of the archive, which is part of the Swift toolchain.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));

#endif
