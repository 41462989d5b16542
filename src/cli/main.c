/* weir -- the command line. */
#include <signal.h>

#include "cli/cmd.h"

static void ignore_signal(int number)
{
    (void)number;
}

/* A file that may grow no further (`ulimit -f`) is a full disk, which every command knows how to
 * meet, and no reason to die of SIGXFSZ. A function that does nothing, unlike SIG_IGN, is not
 * handed down to the programs that we start. */
static void survive_full_files(void)
{
    struct sigaction now;

    if (!sigaction(SIGXFSZ, NULL, &now) && now.sa_handler == SIG_DFL)
        (void)signal(SIGXFSZ, ignore_signal);
}

int main(int argc, char **argv)
{
    survive_full_files();
    return wr_cli_main(argc, argv);
}
