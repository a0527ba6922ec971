// SPDX-License-Identifier: Apache-2.0
//
// DNS-SD by avahi-daemon on the system bus (org.freedesktop.Avahi), over CDBus.
//
// It makes the calls that it is asked for, and reports the replies. All functions except `cavahi_wake` belong to one
// thread. Texts are UTF-8; functions refuse others, as D-Bus does. Functions return 0 or more, or a negative errno.

#ifndef CAVAHI_H
#define CAVAHI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Size of each text of an event. A domain name has at most 1,008 bytes after Avahi's escaping.
#define CAVAHI_TEXT 1024
/// Size of the path of an Avahi object.
#define CAVAHI_PATH 64
/// Size of the TXT strings, each with its length in front as in DNS. Ours have some 100 bytes.
#define CAVAHI_TXT 512

/// A connection to the system bus.
typedef struct cavahi cavahi;

/// Kinds of events.
enum {
    /// `state` is the daemon's: the answer to `cavahi_ask_state`, or a change. With an `error` the daemon does not run.
    CAVAHI_STATE = 1,
    /// The daemon has started (`state` 1) or ended (0).
    CAVAHI_OWNER,
    /// The requested group has this `path`, or the request failed (`error`).
    CAVAHI_GROUP,
    /// The service was added to the group, or not (`error`).
    CAVAHI_DONE,
    /// The group's `state` has changed.
    CAVAHI_GROUP_STATE,
    /// The requested browser has this `path`, or the request failed (`error`).
    CAVAHI_BROWSER,
    /// Browsing has failed.
    CAVAHI_BROWSER_FAILED,
    /// A service has appeared (`name`, `domain`, `interface`, `protocol`).
    CAVAHI_NEW,
    /// The service has disappeared.
    CAVAHI_REMOVED,
    /// The resolver with this `tag` has this `path`, or the request failed (`error`).
    CAVAHI_RESOLVER,
    /// A service's place (`name`, `domain`, `interface`, `protocol`, `address`, `port`, `txt`).
    CAVAHI_FOUND,
    /// The resolver at `path` has failed.
    CAVAHI_RESOLVER_FAILED,
};

/// The daemon's state in which it can register services.
#define CAVAHI_SERVER_RUNNING 2
/// The group is announced on the network.
#define CAVAHI_GROUP_ESTABLISHED 2
/// Another node has the name.
#define CAVAHI_GROUP_COLLISION 3
/// The group could not be registered.
#define CAVAHI_GROUP_FAILURE 4

/// An event. Texts end with a zero byte.
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
    /// Empty after a success.
    char error[256];
} cavahi_event;

/// Starts to connect to the system bus. Returns 0 and `*avahi`, or a negative errno.
int cavahi_open(cavahi **avahi);
/// Closes the connection, which also ends all registrations. Does not wait for the bus.
void cavahi_close(cavahi *avahi);
/// Asks for the daemon's state. Does not start the daemon.
int cavahi_ask_state(cavahi *avahi);
/// Asks for a group, which holds the services that a node registers.
int cavahi_new_group(cavahi *avahi);
/// Registers a service of this type on every interface. `txt` has its strings, each with its length in front.
int cavahi_register(cavahi *avahi, const char *group, const char *name, const char *type, uint16_t port,
                    const uint8_t *txt, uint16_t txt_bytes);
/// Replaces the strings of a registered service.
int cavahi_update(cavahi *avahi, const char *group, const char *name, const char *type, const uint8_t *txt,
                  uint16_t txt_bytes);
/// Withdraws what a group has registered.
int cavahi_reset(cavahi *avahi, const char *group);
/// Browses for services of a type until the browser is freed.
int cavahi_browse(cavahi *avahi, const char *type);
/// Resolves a service, and again after each change, until the resolver is freed.
int cavahi_resolve(cavahi *avahi, int tag, int interface, int protocol, const char *name, const char *type,
                   const char *domain);
/// Frees a browser.
int cavahi_free_browser(cavahi *avahi, const char *path);
/// Frees a resolver.
int cavahi_free_resolver(cavahi *avahi, const char *path);
/// Reads and writes as much as possible without blocking. Returns -ECONNRESET if the bus has gone.
int cavahi_process(cavahi *avahi);
/// Takes the next event. Returns 1, 0 without an event, or -ECONNRESET if the bus has gone.
int cavahi_next(cavahi *avahi, cavahi_event *event);
/// Waits until there is data to process, or until `cavahi_wake`.
int cavahi_wait(cavahi *avahi);
/// Ends a wait. Safe from any thread.
void cavahi_wake(cavahi *avahi);

#ifdef __cplusplus
}
#endif

#endif
