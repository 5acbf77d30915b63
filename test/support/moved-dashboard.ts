// A whole dashboard document in the other spellings that a sync accepts: short ranges, a range as a
// choice, choices from options and a query, fields of an input, ids with dots and colons.

/** Synced unchanged by the tests. Its events are those of `page_view` and `purchase`. */
export const MOVED_DASHBOARD = `version: 1
id: moved
title: Moved dashboard
order: 10
refresh: 60s
timezone: UTC

variables:
  range:
    label: Range
    type: select
    default: 30d
    options:
      - {label: A week, value: 7d}
      - {label: A month, value: 30d}
      - {label: This year, value: this_year}
      - {label: Custom, value: custom}
  planName:
    label: Plan
    type: select
    default: all
    options:
      - {label: All, value: all, fragment: ""}
    query: '* | last 30d | count by event_properties.plan | top 25'
    value_column: plan
    label_column: plan
    fragment_template: '| where event_properties.plan = "{{value}}"'
  subject:
    label: Customer
    type: input
    input: email
    required: true
    submit: true
    placeholder: "email or *@example.com"
    allow_domain_wildcard: true
    fragments:
      events: {exact_field: user.email, domain_field: user.email_domain}
      users: {exact_field: email, domain_field: email_domain}

sections:
  - title: Overview
    cards:
      - id: events.total
        title: Events
        kind: metric
        viz: number
        layout: {w: 3}
        query: '* | last {{range}} {{planName.fragment}} | count'
      - id: events:by-day
        title: Events by day
        kind: chart
        viz: line
        layout: {w: 6, h: 4}
        options: {x: day, y: value}
        query: '* {{range.fragment}} | count by day'
      - id: activation
        title: Activation
        kind: funnel
        viz: funnel
        query: funnel page_view -> purchase | last {{range}}
      - id: schema.inspect
        title: Event schema
        kind: inspect
        viz: table
        query: inspect * | last {{range}}
  - title: One customer
    cards:
      - id: customer:events
        title: Events of the customer
        kind: metric
        viz: number
        query: '* {{subject.events_fragment}} {{range.stage}} | count'
      - id: customer:profile
        title: Profiles of the customer
        kind: users
        viz: table
        query: users {{subject.users_fragment}} | list
`;
