// The handler that single events are compared with: Express reads and parses the body and answers at once, without a
// credential, a check or a queue. A process of its own, as the service is.
import type { AddressInfo } from 'node:net';
import express from 'express';

const app = express();
app.post('/track', express.json(), (_req, res) => {
  res.json({ accepted: 1 });
});
const server = app.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('disconnect', () => process.exit());
