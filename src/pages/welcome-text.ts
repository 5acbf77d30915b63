// Plain-text front page for clients such as curl.
import { queryCommand, trackCommand } from './landing.js';

export const welcomeText = (publicUrl: URL): string => `Event Analytics Service

POST /track     send events      X-API-Key: pk_… or sk_…   {"event_type": "signup", "device_id": "…"}
POST /identify  say who it is    X-API-Key: pk_… or sk_…   {"user_id": "…", "device_id": "…"}
POST /query     ask a question   X-API-Key: sk_…           {"q": "signup | last 7d | count by day"}
GET  /llms.txt  the query language in brief
GET  /login     sign in with a browser
GET  /healthz  /readyz  /metrics

${trackCommand(publicUrl.origin, '$PUBLIC_KEY')}
${queryCommand(publicUrl.origin, '$SECRET_KEY')}
`;
