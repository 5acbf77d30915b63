// Exit statuses of commands.

export const EXIT_FAILED = 1;
/** The command line is invalid. */
export const EXIT_USAGE = 2;
/** As shells report SIGINT: 128 and its number. */
export const EXIT_INTERRUPTED = 130;
