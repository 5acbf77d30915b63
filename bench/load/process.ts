// Load process: a closed loop of connections, each sending its next request after a response.
import { percentile } from '../statistics.js';
import { Connection } from './connection.js';
import { type BodyTemplate, createBodyTemplate } from './event-template.js';
import type { LoadCommand, LoadOptions, LoadReport, LoadSummary, RunLimits } from './protocol.js';

const LOOK_EVERY_MS = 100;
/** Maximum number of recorded times: enough for any percentile, with bounded memory. */
const ANSWER_TIMES_MAX = 200_000;

class LoadLoop {
  readonly #options: LoadOptions;
  readonly #bodies: readonly BodyTemplate[];
  #allowed = Number.POSITIVE_INFINITY;
  #wake: (() => void)[] = [];

  constructor(options: LoadOptions) {
    this.#options = options;
    const { host } = new URL(options.url);
    this.#bodies = Array.from({ length: options.bodies }, () => createBodyTemplate({ ...options, host }));
  }

  allow(events: number): void {
    this.#allowed = events;
    for (const wake of this.#wake.splice(0)) wake();
  }

  async run(limits: RunLimits): Promise<LoadSummary> {
    const { hostname, port } = new URL(this.#options.url);
    const open = () => Connection.open(hostname, Number(port));
    const connections = await Promise.all(Array.from({ length: this.#options.connections }, open));
    const answerMs: number[] = [];
    const refusals: Record<string, number> = {};
    const startedMs = performance.now();
    let [accepted, sent, nextBody] = [0, 0, 0];
    const isOver = () => performance.now() - startedMs >= limits.durationMs || sent >= limits.eventsMax;

    const loop = async (connection: Connection): Promise<void> => {
      while (!isOver()) {
        if (sent >= this.#allowed) {
          await this.#untilAllowed();
          continue;
        }
        const body = this.#bodies[nextBody++ % this.#bodies.length] as BodyTemplate;
        sent += body.events;
        body.renew(Date.now());
        const askedMs = performance.now();
        const answer = await connection.exchange(body.bytes);
        if (answerMs.length < ANSWER_TIMES_MAX) answerMs.push(performance.now() - askedMs);
        // Answers of other protocols do not count events.
        if (answer.status === 200) accepted += Number(/"accepted":(\d+)/.exec(answer.body)?.[1] ?? body.events);
        else refusals[answer.status] = (refusals[answer.status] ?? 0) + 1;
      }
    };
    await Promise.all(
      connections.map((connection) =>
        loop(connection)
          .catch(() => {
            refusals[0] = (refusals[0] ?? 0) + 1;
          })
          .finally(() => connection.close()),
      ),
    );
    return {
      accepted,
      refusals,
      elapsedMs: performance.now() - startedMs,
      answerP99Ms: percentile(answerMs, 0.99),
      bytesPerEvent: (this.#bodies[0]?.bytes.length ?? 0) / this.#options.eventsPerRequest,
    };
  }

  /** A pause also ends by timeout, so that the loop sees the end of the run. */
  #untilAllowed(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, LOOK_EVERY_MS);
      this.#wake.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

const report = (message: LoadReport): void => void process.send?.(message);

let loop: LoadLoop | undefined;
process.on('message', async (command: LoadCommand) => {
  switch (command.kind) {
    case 'prepare':
      loop = new LoadLoop(command.options);
      return report({ kind: 'prepared' });
    case 'allow':
      return loop?.allow(command.events);
    case 'run': {
      const summary = await loop?.run(command.limits);
      if (summary !== undefined) report({ kind: 'done', summary });
      return;
    }
  }
});
process.on('disconnect', () => process.exit());
