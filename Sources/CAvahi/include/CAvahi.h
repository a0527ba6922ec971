// SPDX-License-Identifier: Apache-2.0
//
// DNS-SD by avahi-daemon on the system bus (org.freedesktop.Avahi), over CDBus.
//
// It calls what it is told to call, and tells what has been answered. All but `cavahi_wake` belongs to one thread.
// Texts are UTF-8; D-Bus refuses others, and so do the functions that take one. Functions return 0 or more, or a negative
// errno.

#ifndef CAVAHI_H
#define CAVAHI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Room for each text of an event: a domain name has at most 1,008 bytes with all that Avahi escapes in it.
#define CAVAHI_TEXT 1024
/// Room for the path of an object of Avahi's.
#define CAVAHI_PATH 64
/// Room for TXT strings, each behind its length as in DNS. Ours take some 100 bytes.
#define CAVAHI_TXT 512

/// A connection to the system bus.
typedef struct cavahi cavahi;

/// What has happened.
enum {
    /// `state` is the daemon's: the answer to `cavahi_ask_state`, or a change. With an `error` there is no daemon.
    CAVAHI_STATE = 1,
    /// The daemon has come (`state` 1) or gone (0).
    CAVAHI_OWNER,
    /// The group that was asked for has this `path`, or there is none (`error`).
    CAVAHI_GROUP,
    /// What was put into the group was taken, or not (`error`).
    CAVAHI_DONE,
    /// `state` is the group's.
    CAVAHI_GROUP_STATE,
    /// The browser that was asked for has this `path`, or there is none (`error`).
    CAVAHI_BROWSER,
    /// Browsing has failed.
    CAVAHI_BROWSER_FAILED,
    /// A service is there (`name`, `domain`, `interface`, `protocol`).
    CAVAHI_NEW,
    /// It is there no more.
    CAVAHI_REMOVED,
    /// The resolver with this `tag` has this `path`, or there is none (`error`).
    CAVAHI_RESOLVER,
    /// Where a service is (`name`, `domain`, `interface`, `protocol`, `address`, `port`, `txt`).
    CAVAHI_FOUND,
    /// The resolver at `path` has found nothing.
    CAVAHI_RESOLVER_FAILED,
};

/// A daemon's state in which services can be registered.
#define CAVAHI_SERVER_RUNNING 2
/// A group is known to the network.
#define CAVAHI_GROUP_ESTABLISHED 2
/// Another node has the name.
#define CAVAHI_GROUP_COLLISION 3
/// The group could not be registered.
#define CAVAHI_GROUP_FAILURE 4

/// What has happened. Texts end with a zero.
typedef struct {
    int kind;
    int state;
    int tag;
    int interface;
    /// 0: IPv4, 1: IPv6.
    int protocol;
    uint16_t port;
    uint16_t txt_bytes;
    uint8_t txt[CAVAHI_TXT];
    char path[CAVAHI_PATH];
    char name[CAVAHI_TEXT];
    char domain[CAVAHI_TEXT];
    char address[64];
    /// Empty where nothing has failed.
    char error[256];
} cavahi_event;

/// Begins to connect to the system bus. 0 and `*avahi`, or a negative errno.
int cavahi_open(cavahi **avahi);
/// Closes the connection, and with it all that was registered; the bus is not waited for.
void cavahi_close(cavahi *avahi);
/// Asks for the daemon's state. A daemon that is not running is not started.
int cavahi_ask_state(cavahi *avahi);
/// Asks for a group: what a node registers.
int cavahi_new_group(cavahi *avahi);
/// Registers a service of this type on every interface. `txt` has its strings, each behind its length.
int cavahi_register(cavahi *avahi, const char *group, const char *name, const char *type, uint16_t port,
                    const uint8_t *txt, uint16_t txt_bytes);
/// Replaces the strings of a registered service.
int cavahi_update(cavahi *avahi, const char *group, const char *name, const char *type, const uint8_t *txt,
                  uint16_t txt_bytes);
/// Takes back what a group has registered.
int cavahi_reset(cavahi *avahi, const char *group);
/// Looks for services of a type, until the browser is freed.
int cavahi_browse(cavahi *avahi, const char *type);
/// Looks where a service is, and again where that changes, until the resolver is freed.
int cavahi_resolve(cavahi *avahi, int tag, int interface, int protocol, const char *name, const char *type,
                   const char *domain);
/// Frees a browser.
int cavahi_free_browser(cavahi *avahi, const char *path);
/// Frees a resolver.
int cavahi_free_resolver(cavahi *avahi, const char *path);
/// Reads and writes what can be without blocking. -ECONNRESET where the bus has gone.
int cavahi_process(cavahi *avahi);
/// Takes what has happened next: 1, 0 where there is nothing, or -ECONNRESET where the bus has gone.
int cavahi_next(cavahi *avahi, cavahi_event *event);
/// Waits until there is something to process, or `cavahi_wake`.
int cavahi_wait(cavahi *avahi);
/// Ends a wait. From any thread.
void cavahi_wake(cavahi *avahi);

#ifdef __cplusplus
}
#endif

#endif
