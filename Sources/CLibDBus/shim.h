// SPDX-License-Identifier: Apache-2.0

#if !__has_include(<dbus/dbus.h>)
#error "RoadMesh needs the package libdbus-1-dev: sudo apt-get install libdbus-1-dev"
#endif

#include <dbus/dbus.h>
