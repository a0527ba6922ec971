// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CLinux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>

// MARK: Capabilities

static int set_capabilities(bool keeps_own)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (keeps_own && syscall(SYS_capget, &header, data) != 0)
        return -errno;
    for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
        data[i].inheritable = 0;
    header.pid = 0;
    return syscall(SYS_capset, &header, data) == 0 ? 0 : -errno;
}

int clinux_keep_capabilities_here(void)
{
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
        return -errno;
    return set_capabilities(true);
}

int clinux_drop_capabilities(void)
{
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
        return -errno;
    // Programs that root starts get root's capabilities unless this forbids it. If we may not forbid it, we are not
    // privileged and there are no capabilities to pass on.
    prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0, 0);
    int result = set_capabilities(false);
    // A unit may deny capset. A user other than root then loses all capabilities when it starts a program, since no
    // ambient ones are left.
    return result == -EPERM && geteuid() != 0 && getuid() != 0 ? 0 : result;
}

// MARK: Folders

// Rights by the version of Landlock that added them.
static const uint64_t file_rights =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE;
static const uint64_t folder_rights =
    LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
    LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
    LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
    LANDLOCK_ACCESS_FS_MAKE_SYM;
static const uint64_t reading_rights =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;

// A Landlock ruleset, and the rights that its rules grant.
struct rules {
    int descriptor;
    uint64_t rights;
};

// Allows `place` in the folder `parent`. Skips a symbolic link, since its target is allowed in its own place. If the
// kernel cannot allow something, it stays denied.
static void allow(struct rules rules, int parent, const char *place)
{
    int target = openat(parent, place, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;
    if (target < 0)
        return;
    if (fstat(target, &status) == 0 && !S_ISLNK(status.st_mode)) {
        struct landlock_path_beneath_attr rule = {
            .allowed_access = rules.rights & (S_ISDIR(status.st_mode) ? file_rights | folder_rights : file_rights),
            .parent_fd = target,
        };
        syscall(SYS_landlock_add_rule, rules.descriptor, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    }
    close(target);
}

// Allows everything in the folder `parent` except `left_out`.
static int allow_others(struct rules rules, const char *parent, const char *left_out)
{
    DIR *folder = opendir(parent);
    if (!folder)
        return -errno;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && strcmp(entry->d_name, left_out) != 0)
            allow(rules, dirfd(folder), entry->d_name);
    closedir(folder);
    return 0;
}

// Landlock can allow folders but cannot deny one. So this allows everything next to `folder` and next to its parents.
static int allow_around(struct rules rules, const char *folder)
{
    char parent[PATH_MAX];
    for (const char *part = folder; (part = strchr(part, '/'));) {
        size_t length = (size_t)(part - folder);
        const char *name = ++part, *end = strchrnul(name, '/');
        char left_out[NAME_MAX + 1];
        if (end == name)
            break;
        if (length >= sizeof parent || (size_t)(end - name) >= sizeof left_out)
            return -ENAMETOOLONG;
        memcpy(parent, length ? folder : "/", length ? length : 1);
        parent[length ? length : 1] = 0;
        memcpy(left_out, name, (size_t)(end - name));
        left_out[end - name] = 0;
        int result = allow_others(rules, parent, left_out);
        // If this user cannot list a parent, everything else in it stays denied.
        if (result != 0 && result != -EACCES)
            return result;
    }
    return 0;
}

int clinux_deny_folder(const char *folder, const char *const *allowed, size_t count, bool reads_only)
{
    char *place = realpath(folder, NULL);
    // A folder that does not exist needs no denial.
    if (!place)
        return errno == ENOENT ? 0 : -errno;
    struct landlock_ruleset_attr attributes = {.handled_access_fs = file_rights | folder_rights};
    struct rules rules = {
        .descriptor = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0),
        .rights = reads_only ? reading_rights : file_rights | folder_rights,
    };
    if (rules.descriptor < 0) {
        int failure = errno;
        free(place);
        // The kernel never answers with EPERM. The filter of a container does, if it does not know Landlock.
        return failure == ENOSYS || failure == EOPNOTSUPP || failure == EPERM ? -EOPNOTSUPP : -failure;
    }
    int result = allow_around(rules, place);
    free(place);
    for (size_t i = 0; result == 0 && i < count; i++)
        allow(rules, AT_FDCWD, allowed[i]);
    if (result == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        result = -errno;
    if (result == 0 && syscall(SYS_landlock_restrict_self, rules.descriptor, 0) != 0)
        result = -errno;
    close(rules.descriptor);
    return result;
}

// MARK: Files

int clinux_close_files(void)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, 3u, ~0u, 0u) == 0)
        return 0;
    return errno == ENOSYS || errno == EPERM ? -EOPNOTSUPP : -errno;
#else
    return -EOPNOTSUPP;
#endif
}

int clinux_spawn_close_from(posix_spawn_file_actions_t *actions, int first)
{
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

// MARK: Network

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

int clinux_deny_sockets(bool keeps_local)
{
#ifndef OWN_ARCHITECTURE
    return -EOPNOTSUPP;
#else
    // Filters socket(2) by its first argument, and denies io_uring, which can create sockets too. System calls of other
    // architectures have other numbers, so all of them are denied; so are those of x32, which have bit 30 set.
    enum { denied = SECCOMP_RET_ERRNO | EPERM, unknown = SECCOMP_RET_ERRNO | ENOSYS, family = SECCOMP_RET_ERRNO | EAFNOSUPPORT };
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, denied),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, denied),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, unknown),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1 /* AF_UNIX */, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 16 /* AF_NETLINK */, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, family),
        BPF_STMT(BPF_RET | BPF_K, keeps_local ? SECCOMP_RET_ALLOW : family),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -errno;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0)
        return 0;
    return errno == EINVAL || errno == ENOSYS ? -EOPNOTSUPP : -errno;
#endif
}
