#include "base/parent.h"

#include <sys/prctl.h>
#include <unistd.h>

/* A parent that ended before prctl() sends no signal. Such a child has a new parent already, so
 * asking for its number shows that. */
bool wr_parent_watch(pid_t parent, int number)
{
    (void)prctl(PR_SET_PDEATHSIG, (unsigned long)number);
    return getppid() == parent;
}
