// Parser of the Procfile, which lists the processes of the service, one per line.

export interface ProcfileEntry {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * Throws on a line that is neither `name: command arguments` nor a comment. Words are separated by
 * spaces, unquoted.
 */
export function parseProcfile(text: string): ProcfileEntry[] {
  const lines = text.split('\n').map((line) => line.trim());
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name, words] = /^([\w-]+):\s*(\S.*)$/.exec(line) ?? [];
      const [command, ...args] = words?.split(/\s+/) ?? [];
      if (name === undefined || command === undefined) throw new Error(`not a line of a Procfile: ${line}`);
      return { name, command, args };
    });
}
