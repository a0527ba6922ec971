// SPDX-License-Identifier: Apache-2.0

// What a head unit takes from libsystemd: a word to the service manager.

#ifndef CSYSTEMD_H
#define CSYSTEMD_H

#include "supervision.h"

#endif
