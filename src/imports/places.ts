// Codes of countries and continents by their English names, for exports that have names only.
import { continentOf } from '../ingest/enrich/continents.js';
import { ownOf } from './values.js';

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

/** Names that products use and that Unicode does not. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  'bosnia and herzegovina': 'BA',
  'brunei darussalam': 'BN',
  burma: 'MM',
  'cape verde': 'CV',
  congo: 'CG',
  'cote divoire': 'CI',
  'czech republic': 'CZ',
  'democratic republic of the congo': 'CD',
  'east timor': 'TL',
  'holy see': 'VA',
  'hong kong': 'HK',
  'iran islamic republic of': 'IR',
  'ivory coast': 'CI',
  'korea republic of': 'KR',
  'lao peoples democratic republic': 'LA',
  macao: 'MO',
  macau: 'MO',
  macedonia: 'MK',
  moldova: 'MD',
  'moldova republic of': 'MD',
  myanmar: 'MM',
  palestine: 'PS',
  'republic of korea': 'KR',
  'republic of moldova': 'MD',
  'republic of the congo': 'CG',
  'russian federation': 'RU',
  swaziland: 'SZ',
  'syrian arab republic': 'SY',
  taiwan: 'TW',
  'taiwan province of china': 'TW',
  'tanzania united republic of': 'TZ',
  'the bahamas': 'BS',
  'the gambia': 'GM',
  'the netherlands': 'NL',
  turkey: 'TR',
  'united states of america': 'US',
  'viet nam': 'VN',
};

let codes: ReadonlyMap<string, string> | undefined;

/** The ISO 3166-1 code of a country by its English name, or of a code itself. */
export function countryCodeOf(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  if (/^[A-Z]{2}$/i.test(name)) return continentOf(name) === undefined ? undefined : name.toUpperCase();
  codes ??= readCodes();
  return codes.get(normalize(name));
}

function readCodes(): ReadonlyMap<string, string> {
  const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
  const all = LETTERS.flatMap((first) => LETTERS.map((second) => `${first}${second}`));
  const known = all.filter((code) => continentOf(code) !== undefined);
  const official = known.map((code) => [normalize(names.of(code) ?? code), code] as const);
  return new Map([...official, ...Object.entries(OTHER_NAMES)]);
}

/** Lower case without accents, punctuation and remarks in parentheses. */
const normalize = (name: string): string =>
  name
    .normalize('NFD')
    .replace(/\p{M}|\(.*?\)|['’.,]/gu, '')
    .replace(/&/g, 'and')
    .replace(/[-\s]+/g, ' ')
    .trim()
    .toLowerCase();

const CONTINENTS: Readonly<Record<string, string>> = {
  africa: 'AF',
  americas: '',
  antarctica: 'AN',
  asia: 'AS',
  europe: 'EU',
  'north america': 'NA',
  oceania: 'OC',
  'south america': 'SA',
};

/** The code of a continent by its English name; undefined for "Americas", which are two. */
export const continentCodeOf = (name: string | undefined): string | undefined =>
  (name !== undefined && ownOf(CONTINENTS, name.toLowerCase())) || undefined;
