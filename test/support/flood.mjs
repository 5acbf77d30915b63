// Hostile client in a separate process, so that it uses no time of the tests. Over IPC it is told
// to send `requests` every `everyMs`, without waiting for responses, and reports all of them at the
// end. Ids are `<name>-<request>-<event>`.

const MONTHS = 300;

/**
 * Events of many months are expensive, because the rows of each month form a part in the database.
 */
const timeOf = (at, isOfManyMonths) =>
  isOfManyMonths ? Date.UTC(2000, at % MONTHS, 1 + (at % 28)) : Date.now() - (at % 1000);

function toTrackBody({ name, events, isOfManyMonths }, request) {
  return JSON.stringify({
    events: Array.from({ length: events }, (_, at) => ({
      event_type: 'a',
      insert_id: `${name}-${request}-${at}`,
      time: timeOf(at, isOfManyMonths),
      user_id: `user-${at}`,
      event_properties: { plan: 'pro', page: at, url: `https://shop.example/products/${at}` },
    })),
  });
}

const toIdentifyBody = ({ name, propertyBytes }, request) =>
  JSON.stringify({
    user_id: `${name}-${request}`,
    user_properties: Object.fromEntries(
      Array.from({ length: Math.ceil(propertyBytes / 8000) }, (_, at) => [`p${at}`, 'x'.repeat(8000)]),
    ),
  });

async function send({ url, path, key }, body) {
  const response = await fetch(`${url}${path}`, { method: 'POST', headers: { 'X-API-Key': key }, body });
  await response.arrayBuffer();
  return { status: response.status, retryAfter: response.headers.get('retry-after') };
}

process.on('message', async (/** @type {any} */ flood) => {
  const toBody = flood.path === '/track' ? toTrackBody : toIdentifyBody;
  const bodies = Array.from({ length: flood.requests }, (_, request) => toBody(flood, request));
  process.send?.({ kind: 'prepared' });
  const answers = [];
  for (const body of bodies) {
    answers.push(send(flood, body).catch((error) => ({ status: 0, error: String(error) })));
    if (flood.everyMs > 0) await new Promise((resolve) => setTimeout(resolve, flood.everyMs));
  }
  process.send?.({ kind: 'answered', answers: await Promise.all(answers) });
});
process.on('disconnect', () => process.exit());
