// Example tasks with their queries for /llms.txt. A test compiles each.

export const EXAMPLES: readonly (readonly [question: string, query: string])[] = [
  ['All events', 'inspect *'],
  ['What does an event carry?', 'inspect signup'],
  ['Sign-ups by day', 'signup | last 30d | count by day'],
  ['Active people by week', '* | last 12w | unique by week'],
  ['Most visited pages', 'page_view | count by _path_clean | top 20'],
  ['Revenue by plan and month', 'purchase | this year | sum event_properties.price by month, user.plan'],
  ['A slow endpoint', 'request | today | p95 event_properties.duration_ms by _path | top 10'],
  ['Filters', 'purchase | where (_country in ("DE", "AT") or user.plan = "pro") and event_properties.price > 10'],
  ['An event with other characters', '"checkout: done" | count'],
  ['Latest raw events', '* | where _path ~ "^/docs/" | list time, distinct_id, _path | limit 50'],
  [
    'Conversion in a week, by platform',
    'funnel page_view -> signup -> purchase exclude refund | last 30d | window 7d | by _platform',
  ],
  ['Who comes back?', 'retention signup returning purchase by week | last 8w'],
  ['Paths after signing up', 'paths from signup | window 1d | depth 4 | by _path'],
  ['Buyers per visitor, by day', 'formula unique(purchase) / unique(page_view) | last 14d | by day'],
  ['Sessions by landing page', 'sessions | last 30d | count by session.landing_path'],
  ['Growth accounting', 'lifecycle purchase by month | last 6mo'],
  ['Days active', 'stickiness * | this month'],
  ['One person', 'user "ann@example.com" | last 90d'],
  ['Users of a company', 'users | where email_domain = "example.com" | list email, plan, last_seen'],
  ['An experiment', 'choice checkout_button | results purchase'],
];
