// Front page for visitors: what the product is, how to start it, an example query with its answer.
import { EXAMPLE_QUERY, EXAMPLE_ROWS, type ExampleRow, MISTAKE_ANSWER, MISTAKE_QUERY } from './example.js';
import { type Html, html } from './html.js';
import type { Page } from './layout.js';

const PROMISES: readonly (readonly [title: string, text: string])[] = [
  ['Exact at once', 'A batch that is sent three times counts once, immediately, also while a worker is killed.'],
  [
    'Nothing accepted is lost',
    'An event is acknowledged when the queue holds it, and leaves it when the database does.',
  ],
  ['People, not devices', 'Who a device belongs to is looked up when you ask. Earlier events need no rewriting.'],
  ['Experiments included', 'Results carry a sequential test, so looking every day keeps the error rate.'],
  ['Addresses stay out', 'Geography is resolved at the door. By default only the network of an address is kept.'],
  ['Forgetting is a route', 'One request deletes a person everywhere and answers with what it counted afterwards.'],
];

export const landingPage = (): Page => ({
  title: 'Event Analytics Service',
  main: html`<section class="hero">
<div>
<h1>Ask your product a question.</h1>
<p class="lead">Events come in over HTTP. Answers come out of a small query language that people and language models
write alike. The whole system starts with one command and runs on a small machine.</p>
<p class="actions"><a class="button" href="/login">Sign in</a> <a class="button quiet" href="#start">Start your own</a></p>
</div>
${exampleCard()}
</section>
<section aria-labelledby="mistake">
<h2 id="mistake">Errors teach</h2>
<p>A wrong query is answered with every mistake, its place, and the nearest name.</p>
<div class="card"><pre class="query"><code>${MISTAKE_QUERY}</code></pre>
<p class="mistake">${MISTAKE_ANSWER}</p></div>
</section>
<section aria-labelledby="start">
<h2 id="start">Start your own</h2>
<p>Node 22 (or 20.19, 24, 26.10), npm and git are all it needs. The first start fetches the databases as well.</p>
<ol class="steps">
<li><h3>Start</h3><pre><code>npm start</code></pre></li>
<li><h3>Set its address and keys, in a second terminal</h3><pre tabindex="0"><code>eval "$(npm run -s keys)"</code></pre></li>
<li><h3>Send an event</h3><pre tabindex="0"><code>${trackCommand('$SERVICE_URL', '$PUBLIC_KEY')}</code></pre></li>
<li><h3>Ask</h3><pre tabindex="0"><code>${queryCommand('$SERVICE_URL', '$SECRET_KEY')}</code></pre></li>
</ol>
</section>
<section aria-labelledby="promises">
<h2 id="promises">What you can rely on</h2>
<ul class="promises">${PROMISES.map(([title, text]) => html`<li><h3>${title}</h3><p>${text}</p></li>`)}</ul>
</section>`,
});

/** Shell commands that work as shown once the variables are set. */
export const trackCommand = (service: string, key: string): string =>
  `curl ${service}/track \\
  -H "X-API-Key: ${key}" \\
  -d '{"event_type": "signup", "user_id": "ada"}'`;

export const queryCommand = (service: string, key: string): string =>
  `curl ${service}/query \\
  -H "X-API-Key: ${key}" \\
  -d '{"q": "signup | last 7d | count by day"}'`;

const exampleCard = (): Html => html`<figure class="card">
<figcaption>How many visitors sign up, and how many of those buy?</figcaption>
<pre class="query"><code>${withWholeArrows(EXAMPLE_QUERY)}</code></pre>
<div class="scroll" role="region" aria-label="The answer" tabindex="0"><table>
<thead><tr><th scope="col">event</th><th scope="col" class="number">users</th><th scope="col" class="number">rate</th><th
scope="col" class="bar-column"><span class="unseen">share</span></th><th scope="col" class="number">median</th></tr></thead>
<tbody>${EXAMPLE_ROWS.map(exampleRow)}</tbody>
</table></div>
</figure>`;

/** Allows a line break anywhere except inside an arrow. */
const withWholeArrows = (query: string): Html[] =>
  query.split(/(->)/).map((part) => (part === '->' ? html`<span class="whole">${part}</span>` : html`${part}`));

const exampleRow = (row: ExampleRow): Html => html`<tr><th scope="row">${row.event}</th>
<td class="number">${row.users}</td><td class="number">${(row.rate * 100).toFixed(1)} %</td>
<td class="bar-column"><svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect
width="100" height="8" rx="1" class="track"/><rect width="${row.rate * 100}" height="8" rx="1"/></svg></td>
<td class="number">${row.median_seconds === null ? '' : toDuration(row.median_seconds)}</td></tr>`;

const toDuration = (seconds: number): string =>
  seconds < 3600 ? `${(seconds / 60).toFixed(1)} min` : `${(seconds / 3600).toFixed(1)} h`;
