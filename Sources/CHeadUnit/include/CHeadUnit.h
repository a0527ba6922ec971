// SPDX-License-Identifier: Apache-2.0

// What the head unit takes from C, in one module.

#ifndef CHEADUNIT_H
#define CHEADUNIT_H

#include "tags.h"
#include "media_player.h"
#include "qr.h"
#include "supervision.h"

#endif
