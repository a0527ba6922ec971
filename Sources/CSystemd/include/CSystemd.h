// SPDX-License-Identifier: Apache-2.0

// What a head unit takes from libsystemd: a media player on the session bus, and a word to the service manager.

#ifndef CSYSTEMD_H
#define CSYSTEMD_H

#include "media_player.h"
#include "supervision.h"

#endif
