#include "net/fd_room.h"

#include <sys/resource.h>

#include "base/limits.h"

uint32_t wr_fd_room_of(uint64_t fds_max, uint32_t wanted)
{
    uint64_t room = fds_max > WR_NET_FDS_KEPT ? (fds_max - WR_NET_FDS_KEPT) / 2 : 0;

    if (room >= wanted)
        return wanted;
    return room ? (uint32_t)room : 1;
}

uint32_t wr_fd_room_exchanges(uint32_t wanted)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return wanted;
    return wr_fd_room_of((uint64_t)limit.rlim_cur, wanted);
}
