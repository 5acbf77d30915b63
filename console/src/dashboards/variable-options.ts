// Options of a choice as lines of a form: `value`, or `value = Label`. Pure. An option keeps the
// fields that a line does not show, by its value.

export interface Option {
  readonly value: string;
  readonly label?: string;
}

const SEPARATOR = ' = ';

export const formatOptions = (options: readonly Option[]): string =>
  options.map(({ value, label }) => (label === undefined ? value : `${value}${SEPARATOR}${label}`)).join('\n');

export function parseOptions(text: string, before: readonly Option[]): Option[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const at = line.indexOf(SEPARATOR);
    const value = (at === -1 ? line : line.slice(0, at)).trim();
    const label = at === -1 ? '' : line.slice(at + SEPARATOR.length).trim();
    const { label: _, ...kept } = before.find((option) => option.value === value) ?? { value };
    return { ...kept, ...(label !== '' && { label }) };
  });
}
