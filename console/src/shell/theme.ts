// Light or dark: as the system, unless the person chose one.
import { recall, remember } from './storage.js';

export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export const currentTheme = (): Theme => recall<Theme>('theme', 'auto');

export function applyTheme(theme: Theme = currentTheme()): void {
  if (theme === 'auto') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.setAttribute('data-theme', theme);
}

export function chooseTheme(theme: Theme): void {
  remember('theme', theme);
  applyTheme(theme);
}
