// Calendar periods of behaviour sources.
import type { CalendarPeriod } from '../analyze/resolved.js';

export const PERIODS: readonly CalendarPeriod[] = ['day', 'week', 'month'];
export const isPeriod = (word: string | undefined): word is CalendarPeriod => PERIODS.some((period) => period === word);
