// Baseline for single events: an Express process that parses the body and answers at once, without
// credentials, validation or queue.
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
