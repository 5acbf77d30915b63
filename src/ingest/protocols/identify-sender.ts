// Finds the protocol and the key of a large body, in a thread.
import type { ThreadTask } from '../../platform/threads/thread-task.js';
import { protocolNamed } from './table.js';
import { parseForeign } from './translate.js';

interface Input {
  readonly bytes: Uint8Array;
  /** Names of the protocols of the path. */
  readonly protocols: readonly string[];
}

export const identifySenderTask: ThreadTask<Input, { readonly protocol: string; readonly key: string | undefined }> = {
  module: import.meta.url,
  name: 'identifySenderTask',
  run: ({ bytes, protocols }) => {
    const [first = ''] = protocols;
    const body = parseForeign(first, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    const name = protocols.find((each) => protocolNamed(each).owns?.(body)) ?? first;
    return { protocol: name, key: protocolNamed(name).findKey(body) };
  },
  tooCostly: 'the batch takes more than {limit} to read; send fewer events at a time, with fewer properties',
};
