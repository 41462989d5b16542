#include "base/parent.h"

#include <sys/prctl.h>
#include <unistd.h>

/* A parent that ended before prctl() sends no signal any more: the child has another one then. */
bool wr_parent_watch(pid_t parent, int number)
{
    (void)prctl(PR_SET_PDEATHSIG, (unsigned long)number);
    return getppid() == parent;
}
