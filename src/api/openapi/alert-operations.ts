// Operations of the OpenAPI document for the routes of alerts.
import { z } from 'zod';
import { json, jsonList, tagged, text } from './operation.js';
import { refTo } from './schemas.js';

const unsubscribeQuery = z.object({ again: z.enum(['true']).optional() });

export const ALERT_OPERATIONS = tagged('Alerts', {
  'GET /unsubscribe/{token}': [
    'Page behind the unsubscribe link of a mail',
    { 200: text('text/html') },
    { errors: [503] },
  ],
  'POST /unsubscribe/{token}': [
    'Unsubscribes a mailbox from the alerts and reports of a project; with again=true, sends them again',
    { 200: text('text/html') },
    { query: unsubscribeQuery, errors: [503] },
  ],
  'GET /api/projects/{projectID}/alerts': [
    'Lists the alerts of the dashboards of the project, with their state',
    { 200: jsonList('Alert') },
  ],
  'POST /api/projects/{projectID}/alerts/dry-run': [
    'Runs a query, and tells what an alert with this condition would send; sends nothing',
    { 200: json('AlertDryRun') },
    { body: refTo('AlertDryRunBody') },
  ],
  'POST /api/projects/{projectID}/alerts/{alertID}/dry-run': [
    'Checks an alert, and tells what it would send now; stores and sends nothing',
    { 200: json('AlertDryRun') },
  ],
  'GET /api/projects/{projectID}/alerts/{alertID}/checks': [
    'Lists the last 100 checks of an alert with the messages that they caused, newest first',
    { 200: jsonList('AlertCheck') },
  ],
  'GET /api/projects/{projectID}/reports': [
    'Lists the reports of the dashboards of the project, with their next time',
    { 200: jsonList('Report') },
  ],
  'POST /api/projects/{projectID}/reports/dry-run': [
    'Runs a dashboard, and shows what a report of it would send now; sends nothing',
    { 200: json('ReportDryRun') },
    { body: refTo('ReportDryRunBody') },
  ],
  'POST /api/projects/{projectID}/reports/{reportID}/dry-run': [
    'Runs the dashboard of a report, and shows what it would send now; stores and sends nothing',
    { 200: json('ReportDryRun') },
  ],
  'GET /api/projects/{projectID}/reports/{reportID}/runs': [
    'Lists the last 100 runs of a report with their messages, newest first',
    { 200: jsonList('ReportRun') },
  ],
  'GET /api/projects/{projectID}/webhook-secret': [
    'Reads the key with which webhooks are signed',
    { 200: json('WebhookSecret') },
  ],
  'POST /api/projects/{projectID}/rotate-webhook-secret': [
    'Replaces the key with which webhooks are signed',
    { 200: json('WebhookSecret') },
  ],
});
