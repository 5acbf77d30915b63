// Gauges whose values are asked of a store whenever the metrics are. A store that is away takes no other metric with it: its
// gauges have no value until it answers again, which the alerts notice (ops/prometheus).
import { Gauge, type Registry } from 'prom-client';
import { answeredWithin } from './answered-within.js';

const ANSWERED_WITHIN_MS = 1000;

export interface Sample<Label extends string> {
  readonly labels?: Readonly<Record<Label, string>>;
  readonly value: number;
}

export function createAskedGauge<Label extends string = never>(
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
      const samples = await answeredWithin(ANSWERED_WITHIN_MS, ask()).catch(() => []);
      this.reset();
      // A gauge without labels is reset to 0, which is a value.
      if (about.labelNames === undefined) this.remove();
      for (const { labels, value } of samples) {
        if (labels === undefined) this.set(value);
        else this.set(labels, value);
      }
    },
  });
}
