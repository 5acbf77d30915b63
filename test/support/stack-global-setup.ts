// Vitest global setup: starts the engines before the first test that needs them, and stops them
// after the last.
import type { TestProject } from 'vitest/node';
import { build } from '../../tools/setup.mjs';
import { type Engines, type EngineUrls, startEngines } from './stack-engines.js';

declare module 'vitest' {
  interface ProvidedContext {
    readonly engines: EngineUrls;
  }
}

// Each project loads its own copy of this file; the engines are shared through the process.
const shared = globalThis as { eventAnalyticsEngines?: { readonly engines: Promise<Engines>; users: number } };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (shared.eventAnalyticsEngines === undefined) {
    // The engine and the processes of end-to-end tests are compiled code.
    build();
    shared.eventAnalyticsEngines = { engines: startEngines(), users: 0 };
  }
  const holder = shared.eventAnalyticsEngines;
  holder.users += 1;
  const engines = await holder.engines;
  project.provide('engines', engines.urls);
  return async () => {
    holder.users -= 1;
    if (holder.users === 0) await engines.stop();
  };
}
