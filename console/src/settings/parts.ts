// Parts of the settings, in their order, with the least role that may open each.
import { isAtLeast, type Project } from '../boot.js';
import type { settingsTexts } from '../texts/settings.js';

export type PartName = keyof typeof settingsTexts.parts;

const PARTS: readonly (readonly [name: PartName, least: Project['role']])[] = [
  ['project', 'member'],
  ['tokens', 'member'],
  ['agents', 'member'],
  ['import', 'admin'],
  ['export', 'admin'],
  ['members', 'owner'],
  ['domains', 'owner'],
  ['usage', 'member'],
  ['audit', 'admin'],
  ['delivery', 'owner'],
  ['leaving', 'member'],
];

/** Those that the person's role may open. */
export const partsOf = ({ role }: Project): readonly PartName[] =>
  PARTS.filter(([, least]) => isAtLeast(role, least)).map(([name]) => name);
