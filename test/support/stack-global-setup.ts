// Vitest global setup: starts the engines before the first test that needs them, and stops them
// after the last.
import type { TestProject } from 'vitest/node';
import { build } from '../../tools/build.mjs';
import { type Engines, type EngineUrls, startEngines } from './stack-engines.js';
import { createTemplate, type Template } from './stack-template.js';

declare module 'vitest' {
  interface ProvidedContext {
    readonly engines: EngineUrls;
    readonly template: Template;
  }
}

interface Running {
  readonly engines: Engines;
  readonly template: Template;
}

// Each project loads its own copy of this file; the engines are shared through the process.
const shared = globalThis as { eventAnalyticsEngines?: { readonly running: Promise<Running>; users: number } };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (shared.eventAnalyticsEngines === undefined) {
    // The engine and the processes of end-to-end tests are compiled code.
    build();
    shared.eventAnalyticsEngines = { running: start(), users: 0 };
  }
  const holder = shared.eventAnalyticsEngines;
  holder.users += 1;
  const { engines, template } = await holder.running;
  project.provide('engines', engines.urls);
  project.provide('template', template);
  return async () => {
    holder.users -= 1;
    if (holder.users === 0) await engines.stop();
  };
}

async function start(): Promise<Running> {
  const engines = await startEngines();
  try {
    return { engines, template: await createTemplate(engines.urls) };
  } catch (error) {
    await engines.stop();
    throw error;
  }
}
