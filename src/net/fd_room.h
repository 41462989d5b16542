/* fd_room.h -- how many exchanges the process may hold open by its limit of descriptors. */
#ifndef WR_NET_FD_ROOM_H
#define WR_NET_FD_ROOM_H

#include <stdint.h>

/* Each exchange needs two: for the client and for the upstream. WR_NET_FDS_KEPT are left for all
 * else. At most `wanted`, at least one. */
uint32_t wr_fd_room_exchanges(uint32_t wanted);

/* The same with the limit that is given; UINT64_MAX: none. */
uint32_t wr_fd_room_of(uint64_t fds_max, uint32_t wanted);

#endif
