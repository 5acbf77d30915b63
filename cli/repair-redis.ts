// `npm run repair-redis -- DIRECTORY`: fills the holes of zeros that a full disk has left in the
// append-only file of a Redis that is stopped. `npm start` does the same by itself.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fromCallersFolder } from '../src/platform/config.js';
import { EXIT_USAGE } from '../src/platform/exit-status.js';
import { fillHoles } from '../standalone/append-only-file.js';

const [given, ...more] = process.argv.slice(2);
const directory = given && fromCallersFolder(given);
if (more[0] !== undefined) {
  process.stderr.write(`npm run repair-redis takes one directory, not also ${more[0]}\n`);
  process.exit(EXIT_USAGE);
}
if (!directory) {
  process.stderr.write('usage: npm run repair-redis -- DIRECTORY, the "dir" of redis.conf, with Redis stopped\n');
  process.exit(EXIT_USAGE);
}
if (!existsSync(join(directory, 'appendonlydir'))) {
  process.stderr.write(`${directory} has no folder appendonlydir: name the "dir" of redis.conf\n`);
  process.exit(EXIT_USAGE);
}
const filled = await fillHoles(directory);
process.stdout.write(`${filled} bytes of zeros filled\n`);
