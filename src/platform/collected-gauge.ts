// Gauges that query a store on every scrape. When the store is unavailable, its gauges have no
// value and all other metrics are still served; an alert fires on the missing value
// (ops/prometheus).
import { Gauge, type Registry } from 'prom-client';
import { withTimeout } from './flow/with-timeout.js';

const ANSWERED_WITHIN_MS = 1000;

export interface Sample<Label extends string> {
  readonly labels?: Readonly<Record<Label, string>>;
  readonly value: number;
}

export function createCollectedGauge<Label extends string = never>(
  registry: Registry,
  about: { readonly name: string; readonly help: string; readonly labelNames?: readonly Label[] },
  ask: () => Promise<readonly Sample<Label>[]>,
): void {
  new Gauge<Label>({
    name: about.name,
    help: about.help,
    labelNames: about.labelNames ?? [],
    registers: [registry],
    async collect() {
      const samples = await withTimeout(ANSWERED_WITHIN_MS, ask()).catch(() => []);
      this.reset();
      // reset() sets a gauge without labels to 0, which would be a value.
      if (about.labelNames === undefined) this.remove();
      for (const { labels, value } of samples) {
        if (labels === undefined) this.set(value);
        else this.set(labels, value);
      }
    },
  });
}
