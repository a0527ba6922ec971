// SPDX-License-Identifier: Apache-2.0
//
// The minimum cost of a vote for any host: the system calls, the encryption and the commits of Benchmarks/crowd.py's host, in
// one thread of C. The guests are another process, on sockets like those of a virtual radio.
//
// cc -O2 Benchmarks/floor.c -lsodium -lsqlite3 -o FILE && FILE [GUESTS [VOTES [VOTES-A-SECOND [WRITES-A-SECOND]]]]
//
// The host reads and decrypts each vote. The next write commits all votes that have arrived since the last one, each in its
// own row. Then the host acknowledges them and sends each guest the change, encrypted for it.
#include <errno.h>
#include <signal.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_GUESTS = 64,
    // Sizes of a record with a vote, with an acknowledgement, with a change of one vote, and of each further vote: docs/protocol.md.
    VOTE_BYTES = 28,
    ACKNOWLEDGEMENT_BYTES = 21,
    CHANGE_BYTES = 40,
    FURTHER_VOTE_BYTES = 12,
    SEAL_BYTES = crypto_aead_chacha20poly1305_ietf_ABYTES,
    ROOM = 4096,
};

static unsigned char key[crypto_aead_chacha20poly1305_ietf_KEYBYTES];
static uint64_t sealed_records[MOST_GUESTS], opened_records[MOST_GUESTS];

static void must(int holds, const char *what) {
    if (holds) return;
    perror(what);
    exit(1);
}

static void nonce_of(uint64_t number, unsigned char nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES]) {
    memset(nonce, 0, crypto_aead_chacha20poly1305_ietf_NPUBBYTES);
    memcpy(nonce + 4, &number, sizeof number);
}

static void send_sealed(int channel, uint64_t number, size_t bytes) {
    unsigned char clear[ROOM] = {0}, sealed[ROOM], nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES];
    unsigned long long length;
    nonce_of(number, nonce);
    crypto_aead_chacha20poly1305_ietf_encrypt(sealed, &length, clear, bytes - SEAL_BYTES, NULL, 0, NULL, nonce, key);
    must(send(channel, sealed, length, MSG_NOSIGNAL) == (ssize_t)length, "send");
}

// The guests cast votes at a steady rate, in turn, and read all that the host sends.
static void vote(const int *channels, int guests, int votes, int rate) {
    unsigned char room[ROOM];
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    for (int number = 0; number < votes; number++) {
        at.tv_nsec += 1000000000L / rate;
        while (at.tv_nsec >= 1000000000L) at.tv_nsec -= 1000000000L, at.tv_sec++;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
        send_sealed(channels[number % guests], (uint64_t)(number / guests), VOTE_BYTES);
        for (int guest = 0; guest < guests; guest++)
            while (recv(channels[guest], room, sizeof room, MSG_DONTWAIT) > 0) {}
    }
    sleep(1);
}

static void commit(sqlite3 *store, sqlite3_stmt *insert, const int *voters, int count) {
    must(sqlite3_exec(store, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK, "BEGIN");
    for (int row = 0; row < count; row++) {
        sqlite3_bind_int(insert, 1, voters[row]);
        sqlite3_bind_blob(insert, 2, key, VOTE_BYTES, SQLITE_STATIC);
        must(sqlite3_step(insert) == SQLITE_DONE, "INSERT");
        sqlite3_reset(insert);
    }
    must(sqlite3_exec(store, "COMMIT", NULL, NULL, NULL) == SQLITE_OK, "COMMIT");
}

static int read_votes(int channel, int guest, int *voters, int count) {
    unsigned char sealed[ROOM], clear[ROOM], nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES];
    unsigned long long length;
    ssize_t bytes;
    while ((bytes = recv(channel, sealed, sizeof sealed, MSG_DONTWAIT)) > 0) {
        nonce_of(opened_records[guest]++, nonce);
        must(crypto_aead_chacha20poly1305_ietf_decrypt(clear, &length, NULL, sealed, (unsigned long long)bytes, NULL, 0, nonce, key) == 0,
            "a forged record");
        voters[count++] = guest;
    }
    return count;
}

static int host(const int *channels, int guests, int votes, int writes, sqlite3 *store) {
    sqlite3_stmt *insert;
    must(sqlite3_prepare_v2(store, "INSERT INTO vote VALUES (?, ?)", -1, &insert, NULL) == SQLITE_OK, "INSERT");
    int poll = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0), done = 0, waiting = 0, commits = 0;
    int *voters = calloc((size_t)votes, sizeof *voters);
    for (int guest = 0; guest <= guests; guest++) {
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)guest};
        must(epoll_ctl(poll, EPOLL_CTL_ADD, guest == guests ? timer : channels[guest], &event) == 0, "epoll_ctl");
    }
    while (done < votes) {
        struct epoll_event events[MOST_GUESTS + 1];
        int count = epoll_wait(poll, events, MOST_GUESTS + 1, -1), due = 0, before = waiting;
        for (int one = 0; one < count; one++) {
            int guest = (int)events[one].data.u32;
            uint64_t times;
            if (guest == guests) due = read(timer, &times, sizeof times) > 0;
            else waiting = read_votes(channels[guest], guest, voters, waiting);
        }
        if (before == 0 && waiting > 0) {
            struct itimerspec time = {.it_value.tv_nsec = 1000000000L / writes};
            timerfd_settime(timer, 0, &time, NULL);
        }
        if (!due) continue;
        commit(store, insert, voters, waiting);
        for (int one = 0; one < waiting; one++)
            send_sealed(channels[voters[one]], sealed_records[voters[one]]++, ACKNOWLEDGEMENT_BYTES);
        for (int guest = 0; guest < guests; guest++)
            send_sealed(channels[guest], sealed_records[guest]++, CHANGE_BYTES + (size_t)(waiting - 1) * FURTHER_VOTE_BYTES);
        done += waiting;
        waiting = 0;
        commits++;
    }
    sqlite3_finalize(insert);
    free(voters);
    return commits;
}

int main(int count, char **arguments) {
    int guests = count > 1 ? atoi(arguments[1]) : 16, votes = count > 2 ? atoi(arguments[2]) : 1500;
    int rate = count > 3 ? atoi(arguments[3]) : 100, writes = count > 4 ? atoi(arguments[4]) : 16;
    must(guests > 0 && guests <= MOST_GUESTS && votes > 0 && rate > 0 && writes > 1, "usage");
    must(sodium_init() >= 0, "sodium_init");
    int near[MOST_GUESTS], far[MOST_GUESTS];
    for (int guest = 0; guest < guests; guest++) {
        int pair[2];
        must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair) == 0, "socketpair");
        near[guest] = pair[0], far[guest] = pair[1];
    }
    char folder[] = "/tmp/floor-XXXXXX", path[64];
    must(mkdtemp(folder) != NULL, "mkdtemp");
    snprintf(path, sizeof path, "%s/store", folder);
    sqlite3 *store;
    must(sqlite3_open(path, &store) == SQLITE_OK, path);
    sqlite3_exec(store, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE vote(guest, body)", NULL, NULL, NULL);
    pid_t others = fork();
    must(others >= 0, "fork");
    if (others == 0) {
        vote(far, guests, votes, rate);
        _exit(0);
    }
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    int commits = host(near, guests, votes, writes, store);
    getrusage(RUSAGE_SELF, &after);
    double user = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) * 1e6 + (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec);
    double system = (double)(after.ru_stime.tv_sec - before.ru_stime.tv_sec) * 1e6 + (double)(after.ru_stime.tv_usec - before.ru_stime.tv_usec);
    printf("%d guests, %d votes at %d a second, %d commits: %.0f µs of processor time a vote, %.0f of them the kernel's\n", guests, votes,
        rate, commits, (user + system) / votes, system / votes);
    kill(others, SIGTERM);
    sqlite3_close(store);
    for (const char *const *end = (const char *const[]){"", "-wal", "-shm", NULL}; *end; end++) {
        snprintf(path, sizeof path, "%s/store%s", folder, *end);
        unlink(path);
    }
    return rmdir(folder) == 0 ? 0 : 1;
}
