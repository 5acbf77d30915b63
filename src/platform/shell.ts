// Commands that a user pastes into a POSIX shell.

/** A command that sets the variable, whatever its value contains. */
export const toExport = (name: string, value: string): string =>
  `export ${name}='${value.replaceAll("'", String.raw`'\''`)}'`;
