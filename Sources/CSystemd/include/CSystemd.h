// SPDX-License-Identifier: Apache-2.0

// The part of libsystemd that a head unit uses: notifications to the service manager.

#ifndef CSYSTEMD_H
#define CSYSTEMD_H

#include "supervision.h"

#endif
