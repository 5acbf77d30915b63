// Texts of the drawings of cohorts, funnels, paths, sessions and timelines, which load them.
import { plural } from './plural.js';

export const drawingTexts = {
  sessionFigures: {
    sessions: 'Sessions',
    avg_duration: 'Average duration',
    avg_events: 'Events per session',
    bounce_rate: 'Bounce rate',
  },
  steps: 'Steps by position',
  paths: (people: string, step: string, share: string) =>
    `Paths of ${people} people; the most frequent second step is ${step}, ${share}`,
  pathsNote: 'Point at a band to see how many people took it.',
  begin: 'Steps to begin at',
  beginAt: (step: string, position: number, people: string) =>
    `${step}, step ${position}, ${people} people. Begin there`,
  people: 'People',
  cohort: 'Cohort',
  cohorts: 'Cohorts',
  average: 'Average, weighted by size',
  returned: 'Share of each cohort that returned, by period',
  returnedBy: (people: string, share: string, period: string) => `; ${share} of ${people} returned in ${period}`,
  funnel: (reached: string, began: string, rate: string) =>
    `${reached} of ${began} people reached the last step, ${rate}`,
  whoLost: (people: string) => `${people}: who they are`,
  whoAt: (period: string) => `Who returned in ${period}`,
  wentOn: (rate: string) => `${rate} went on`,
  lost: (people: string) => `${people} lost`,
  median: (time: string) => `median ${time}`,
  session: 'Session',
  eventsOf: (day: string) => `Events of ${day}`,
  older: (count: number) => `Not shown here: ${plural(count, 'older event')}.`,
  timeline: (events: string, newest: string) => `${events}, the newest on ${newest}`,
  convertedOf: (converted: string, people: string) => `${converted} of ${people}`,
} as const;
