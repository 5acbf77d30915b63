// Icons, drawn with strokes of the text's colour. They are decoration: names stand beside them or
// in aria-label.

const PATHS = {
  ask: 'M4 6.5h16M4 12h10M4 17.5h6',
  dashboards: 'M4 4h7v9H4Zm9 0h7v5h-7Zm0 7h7v9h-7Zm-9 4h7v5H4Z',
  refresh: 'M19 8a8 8 0 1 0 1 6M20 4v5h-5',
  full: 'M4 9V4h5m6 0h5v5m0 6v5h-5m-6 0H4v-5',
  edit: 'M4 20h4L19 9l-4-4L4 16Z',
  live: 'M3 12h4l3-8 4 16 3-8h4',
  settings: 'M4 7h10m4 0h2M4 17h2m4 0h10M16 9a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM8 19a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
  start: 'M12 20V5m0 0-6 6m6-6 6 6',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7 9c0-4 3-6 7-6s7 2 7 6',
  experiments: 'M9 3h6m-5 0v6L5 19a1.4 1.4 0 0 0 1.2 2h11.6a1.4 1.4 0 0 0 1.2-2L14 9V3M8 15h8',
  data: 'M4 6c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.3-8-3Zm0 0v12c0 1.7 3.6 3 8 3s8-1.3 8-3V6M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3',
  alert: 'M6 16V11a6 6 0 0 1 12 0v5l2 2H4Zm4 4.5h4',
  definitions: 'M6 4h13v16H6a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2Zm3 5h6m-6 4h4',
  down: 'm7 10 5 5 5-5',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14Zm9 3-4.5-4.5',
  history: 'M4 12a8 8 0 1 0 2.5-5.8M4 4v4h4m4 0v5l3 2',
  share: 'M12 15V4m0 0L8 8m4-4 4 4M5 13v6h14v-6',
  play: 'M8 5.5v13l11-6.5Z',
  stop: 'M7 7h10v10H7Z',
  explain:
    'M8 4C6 4 5 5 5 7v2c0 1.5-1 2.5-2 3 1 .5 2 1.5 2 3v2c0 2 1 3 3 3m8-16c2 0 3 1 3 3v2c0 1.5 1 2.5 2 3-1 .5-2 1.5-2 3v2c0 2-1 3-3 3',
  add: 'M12 5v14M5 12h14',
  close: 'm6 6 12 12M18 6 6 18',
} as const;
export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.75"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The mark of the product. */
export function Mark() {
  return (
    <svg width="24" height="24" viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" rx="6" fill="var(--accent)" />
      <g fill="var(--accent-text)">
        <rect x="5.5" y="12" width="3" height="6.5" rx="1" />
        <rect x="10.5" y="8.5" width="3" height="10" rx="1" />
        <rect x="15.5" y="5" width="3" height="13.5" rx="1" />
      </g>
    </svg>
  );
}
