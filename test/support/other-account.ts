// Another account of the machine, as tests use it when they run as root.

/** User and group id of an account that every Linux system has and that has no rights. */
export const OTHER_ACCOUNT_ID = 65_534;
