// Settings from the script tag's attributes, and the global object of the script.

export type PageFunction = (...args: unknown[]) => unknown;
type Service = Record<string, PageFunction | undefined> & { version?: string };

declare global {
  interface Window {
    service?: Service;
  }
}

const script = document.currentScript as HTMLScriptElement;

export const settings = script.dataset;

const host = (settings.host || new URL(script.src).origin).replace(/\/$/, '');

// Avoids a CORS preflight: the key is in the URL and the body is text/plain.
// biome-ignore lint/style/useTemplate: a few bytes fewer when compressed.
const addressOf = (path: string): string => host + path + '?key=' + settings.key;

export const trackUrl = addressOf(settings.track || '/track');
export const identifyUrl = addressOf(settings.identify || '/identify');

/** Reuses the stub object, so that references to it keep working. */
// biome-ignore lint/suspicious/noAssignInExpressions: a few bytes fewer than two statements.
export const service: Service = (window.service ||= {});

/** Calls the page's error callback with a text, an error, or a final HTTP status. */
export const report = (problem: unknown): undefined => {
  try {
    service.onError?.(problem);
  } catch {
    // Ignore errors of the callback itself.
  }
};
