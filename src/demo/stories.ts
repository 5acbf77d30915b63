// Patterns of the demo data (a sale, a checkout bug, an experiment, campaigns), and the example
// questions that show them. Days count from the first of the 90, which is day 0.

/** A sale: more visits, customers come back for it, and more of them buy. */
export const SALE = { days: [63, 66], visitFactor: 2, customerRate: 0.4, cartFactor: 1.7 } as const;

/**
 * In one version of one browser, which people install from a certain day on, payment mostly fails.
 */
export const CHECKOUT_BUG = {
  browser: 'iphone',
  versionBefore: '26.0',
  version: '26.1',
  firstDay: 78,
  /** The days after which all have installed it. */
  installedWithinDays: 2,
  failureRate: 0.85,
} as const;

/** A running experiment on the page where people pay. */
export const EXPERIMENT = {
  choice: 'checkout',
  firstDay: 60,
  variants: [
    { key: 'control', purchaseRate: 0.4 },
    { key: 'one-page', purchaseRate: 0.8 },
  ],
} as const;

export const CHECKOUT_ERROR = 'payment form did not respond';

export interface Question {
  readonly question: string;
  readonly q: string;
}

export const QUESTIONS: readonly Question[] = [
  {
    question: 'Which campaign brings people who sign up and buy?',
    q:
      'funnel page_view[utm_campaign exists] -> signup -> purchase | last 90d | window 30d ' +
      '| by event_properties.utm_campaign',
  },
  {
    question: 'Why do fewer checkouts end with a purchase since last week?',
    q: 'funnel checkout_started -> purchase | last 10d | window 1d | by _browser_version',
  },
  {
    question: 'Is the checkout with one page better?',
    q: 'choice checkout | results purchase | last 30d',
  },
  {
    question: 'Which plan brings the revenue?',
    q: 'purchase | last 90d | sum event_properties.total by user.plan',
  },
  {
    question: 'What did the sale bring?',
    q: 'purchase | last 90d | count by day',
  },
];
