// Questions that combine features of the query language, against an independent count of a small
// history: clock changes, equal times, mixed types, changed identities.
import { CALLS } from '../counted/calls.js';
import { FUNNELS } from '../counted/funnels.js';
import { PEOPLE } from '../counted/people.js';
import { compareWithCounts } from '../counted/questions.js';
import { RETURNS } from '../counted/returns.js';
import { TIMES } from '../counted/times.js';
import { WINDOWS } from '../counted/windows.js';

compareWithCounts([...TIMES, ...WINDOWS, ...FUNNELS, ...RETURNS, ...PEOPLE, ...CALLS]);
