// A hostile client in a process of its own, so that what it does to the service is all that it does to others. Told over IPC:
// `requests` are sent every `everyMs`, whatever became of those before, and their answers are reported when all have come.
// Ids are `<name>-<request>-<event>`.

const MONTHS = 300;

/** Events of many months are dear: rows of each month are a part of their own for the database. */
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

process.on('message', async (flood) => {
  const toBody = flood.path === '/track' ? toTrackBody : toIdentifyBody;
  const bodies = Array.from({ length: flood.requests }, (_, request) => toBody(flood, request));
  process.send({ kind: 'prepared' });
  const answers = [];
  for (const body of bodies) {
    answers.push(send(flood, body).catch((error) => ({ status: 0, error: String(error) })));
    if (flood.everyMs > 0) await new Promise((resolve) => setTimeout(resolve, flood.everyMs));
  }
  process.send({ kind: 'answered', answers: await Promise.all(answers) });
});
process.on('disconnect', () => process.exit());
