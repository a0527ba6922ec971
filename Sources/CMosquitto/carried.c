// SPDX-License-Identifier: Apache-2.0

#include "CMosquitto.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

// Headers of each segment: TCP's with its timestamps, and IP's.
enum { TCP_HEADER = 32, IPV4_HEADER = 20, IPV6_HEADER = 40 };

int cmosquitto_carried(int descriptor, uint64_t *sent, uint64_t *received) {
    struct tcp_info info;
    struct sockaddr_storage address;
    socklen_t length = sizeof info;
    memset(&info, 0, sizeof info);
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return -1;
    length = sizeof address;
    if (getsockname(descriptor, (struct sockaddr *)&address, &length) != 0) return -1;
    uint64_t header = TCP_HEADER + (address.ss_family == AF_INET6 ? IPV6_HEADER : IPV4_HEADER);
    // The sent counts include retransmissions: tcpi_segs_out their headers, tcpi_bytes_sent their bytes.
    *sent = info.tcpi_bytes_sent + info.tcpi_segs_out * header;
    *received = info.tcpi_bytes_received + info.tcpi_segs_in * header;
    return 0;
}
