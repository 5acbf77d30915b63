// Calendar periods that retention, funnels and lifecycle count by: their names, from day to year.
import type { CalendarPeriod } from '../analyze/resolved.js';

export const PERIODS: readonly CalendarPeriod[] = ['day', 'week', 'month'];
export const ALL_PERIODS: readonly CalendarPeriod[] = [...PERIODS, 'quarter', 'year'];
export const isPeriod = (word: string | undefined): word is CalendarPeriod =>
  ALL_PERIODS.some((period) => period === word);
