// Command lines of `npm run backup` and `npm run restore`.

export type BackupCommand =
  | { readonly kind: 'help'; readonly of: 'backup' | 'restore' }
  | { readonly kind: 'backup' | 'restore'; readonly file: string };

const SHARED = `
DATA_DIR names the data directory; default: data. Paths are relative to the folder of the call.

Exit status: 0 done, 1 failed, 2 wrong arguments, 130 interrupted. After an interrupt nothing is left behind: run it again.
`;

export const HELP = {
  backup: `usage: npm run backup -- FILE.tar.gz

Writes the data of npm start to a file that does not exist yet, reads the file again and compares it.
A running service goes on: the file has everything that was accepted before the time that is printed at the end. It needs free
space for a copy of the data in DATA_DIR, beside the file. A service that is stopped is copied file by file.
${SHARED}`,
  restore: `usage: npm run restore -- FILE.tar.gz

Restores a backup into DATA_DIR, which must be empty or not exist, checks it against what the backup says, and keeps its keys.
Start with npm start afterwards. A backup of an earlier version is brought to this one by the first start.
${SHARED}`,
} as const;

/** The first argument is the command itself, from package.json. */
export function parseBackupArguments([command, ...args]: readonly string[]):
  | BackupCommand
  | { readonly kind: 'wrong'; readonly problem: string } {
  const kind = command === 'restore' ? 'restore' : 'backup';
  if (args.some((arg) => arg === '--help' || arg === '-h')) return { kind: 'help', of: kind };
  const option = args.find((arg) => arg.startsWith('-'));
  if (option !== undefined) return { kind: 'wrong', problem: `npm run ${kind} has no option ${option}; try --help` };
  const [file, second] = args;
  if (file === undefined) return { kind: 'wrong', problem: `the file is missing: npm run ${kind} -- FILE.tar.gz` };
  if (second !== undefined) return { kind: 'wrong', problem: `npm run ${kind} takes one file, not also ${second}` };
  return { kind, file };
}
