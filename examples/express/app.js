// A small shop that tracks on its server: SERVICE_URL, SERVICE_KEY (a secret key) and PORT come from the environment.
import { Client } from 'event-analytics-node';
import express from 'express';

const { SERVICE_URL = 'http://localhost:8080', SERVICE_KEY, PORT = '3000' } = process.env;
const client = new Client({
  key: SERVICE_KEY,
  host: SERVICE_URL,
  onError: (error, lost) => process.stderr.write(`${lost} events lost: ${error.message}\n`),
});

const app = express();
app.use(express.json());

// The device id is the one the browser script keeps (localStorage.service_did), sent along by the page.
app.post('/sign-up', (req, res) => {
  const { userId, deviceId, email, plan } = req.body;
  client.identify({ user_id: userId, device_id: deviceId, user_properties: { email, plan } });
  client.track({ event_type: 'signup', user_id: userId, device_id: deviceId, event_properties: { plan } });
  res.status(201).json({ userId });
});

app.get('/checkout/:userId', (req, res) => {
  const variant = client.choice('checkout', ['control', 'one-page'], { user_id: req.params.userId });
  res.json({ variant });
});

app.get('/signups', async (_req, res) => {
  const { rows } = await client.query('signup | last 7d | count by event_properties.plan');
  res.json(rows);
});

const server = app.listen(Number(PORT), () => process.stdout.write(`listening on ${PORT}\n`));

// What was tracked last is sent before the process ends.
process.once('SIGTERM', async () => {
  server.close();
  await client.close();
});
