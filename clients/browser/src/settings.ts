// The attributes of the script's tag, and the object that stands for the script in the page.

export type PageFunction = (...args: unknown[]) => unknown;
type Service = Record<string, PageFunction | undefined> & { version?: string };

declare global {
  interface Window {
    service?: Service;
  }
}

const script = document.currentScript as HTMLScriptElement;

export const settings = script.dataset;

const host = settings.host || new URL(script.src).origin;

// A browser asks before it sends a header or JSON to another origin: the key goes in the address, and the body as text.
const addressOf = (path: string): string => `${host + path}?key=${settings.key}`;

export const trackUrl = addressOf(settings.track || '/track');
export const identifyUrl = addressOf(settings.identify || '/identify');

/** The object of the stub, where there is one, so that whoever kept it reaches the script. */
// biome-ignore lint/suspicious/noAssignInExpressions: a few bytes fewer than two statements.
export const service: Service = (window.service ||= {});

/** Tells the page what went wrong: a text, an error, or the status of an answer that is final. */
export const report = (problem: unknown): undefined => {
  try {
    service.onError?.(problem);
  } catch {
    // A callback that fails has nobody left to tell.
  }
};
