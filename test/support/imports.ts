// Helpers for tests of imports: input from text, and what a source maps it to.
import { expect, test } from 'vitest';
import { type GeneratedExport, generateExport } from '../../bench/generated-exports.js';
import type { InputFile } from '../../src/imports/input/input-files.js';
import type { ImportedEvent, Mapped, OpenSource, Source, SourceOptions } from '../../src/imports/source.js';

/** An input file called `text`. */
export const inputOf = (text: string): InputFile => ({
  name: 'text',
  open: async function* () {
    yield Buffer.from(text);
  },
});

export const generatedFile = (generated: GeneratedExport, records: number): InputFile => ({
  name: generated.file,
  open: async function* () {
    for (const text of generateExport(generated, records)) yield Buffer.from(text);
  },
});

/** All that the records of a file become, in order. */
export async function mapAll(
  source: Source,
  file: InputFile,
  options: Partial<SourceOptions> = {},
): Promise<readonly Mapped[]> {
  const all: Mapped[] = [];
  for await (const { mapped } of source.open({ site: undefined, timeZone: undefined, ...options })(file)) {
    all.push(...mapped);
  }
  return all;
}

/** The same of several files, which one import reads together. */
export async function mapTogether(open: OpenSource, files: readonly InputFile[]): Promise<readonly Mapped[]> {
  try {
    await open.prepare?.(files);
    const all: Mapped[] = [];
    for (const file of files) for await (const { mapped } of open(file)) all.push(...mapped);
    return all;
  } finally {
    await open.close?.();
  }
}

export const eventsOf = (mapped: readonly Mapped[]): readonly ImportedEvent[] =>
  mapped.flatMap((item) => (item.kind === 'event' ? [item.event] : []));

/** Reasons of what was skipped. */
export const skippedOf = (mapped: readonly Mapped[]): readonly string[] =>
  mapped.flatMap((item) => (item.kind === 'skip' ? [item.reason] : []));

/**
 * The person of each event by name, as the service resolves it: the user of the event, else the
 * last user that the device was linked to, else the device.
 */
export function peopleOf(mapped: readonly Mapped[]): readonly (readonly [event: string, person: string | undefined])[] {
  const links = mapped.flatMap((item) => (item.kind === 'link' ? [item] : []));
  const userOf = (device: unknown) =>
    links.reduce<(typeof links)[number] | undefined>(
      (last, link) => (link.device === device && link.timeMs >= (last?.timeMs ?? 0) ? link : last),
      undefined,
    )?.user;
  return eventsOf(mapped).map(({ event_type: name, user_id: user, device_id: device }) => {
    const person = user ?? userOf(device) ?? device;
    return [name, person === undefined ? undefined : String(person)];
  });
}

/** Lines of a file, and the person of each of its events in order. */
export type PeopleCase = readonly [rule: string, lines: readonly string[], people: readonly (string | undefined)[]];

/** Who is one person in the source is one person here. */
export function testPeople(source: Source, cases: readonly PeopleCase[], fileName = 'text'): void {
  test.each(cases)('person: %s', async (_rule, lines, people) => {
    const found = peopleOf(await mapAll(source, { ...inputOf(lines.join('\n')), name: fileName }));
    expect(found.map(([, person]) => person)).toEqual(people);
  });
}
