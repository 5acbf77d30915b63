// Checks the webhooks of the alerts and reports of a document: one whose host is an address that is
// never called is refused. A host that is a name is checked when it is called, because what it
// resolves to may change.
import type { DashboardProblem } from '../dashboards/problems.js';
import type { YamlSource } from '../dashboards/yaml-source.js';
import { isRefusedAddress } from './addresses.js';
import { targetsSchema } from './config-schema.js';
import { parseTarget } from './targets.js';

export interface TargetsContext {
  /** Addresses and networks that webhooks may call although they are private. */
  readonly privateAddresses: readonly string[];
}

const HINT = 'call a public one; the operator allows others with the setting WEBHOOK_PRIVATE_ADDRESSES';

/** Targets with structural problems are skipped, because the schema reports them. */
export function checkTargets(source: YamlSource, { privateAddresses }: TargetsContext): DashboardProblem[] {
  return ['alerts', 'reports'].flatMap((list) => {
    const items = source.at([list]);
    return (Array.isArray(items) ? items : []).flatMap((_, index) => {
      const targets = targetsSchema.safeParse(source.at([list, index, 'to'])).data ?? [];
      return targets.flatMap((text, place) => {
        const target = parseTarget(text);
        if (!('url' in target) || !isRefusedAddress(target.url.hostname, privateAddresses)) return [];
        const message = `${target.url.hostname} is not a public address`;
        return [source.problemAt([list, index, 'to', place], { message, hint: HINT })];
      });
    });
  });
}
