// Growth of the heap between two collections of all its objects.
import { setFlagsFromString } from 'node:v8';

/**
 * Collects the heap when it has grown by so many percent, instead of V8's own choice. Buffers count
 * as well: V8 lets a small heap grow little, and each body of a megabyte is in several buffers.
 * Holds for threads that start later, too.
 */
export const letHeapGrowBy = (percent: number): void => setFlagsFromString(`--heap-growing-percent=${percent}`);
