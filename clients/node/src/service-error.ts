// Reads an error response of the service, or what a proxy answers in its place.
import { ServiceError } from './types.js';

/** The message is that of the service; of any other body, its text, and without one the status. */
export function toServiceError(status: number, text: string): ServiceError {
  try {
    const { error, details } = JSON.parse(text) as { error?: unknown; details?: readonly unknown[] };
    if (typeof error === 'string') return new ServiceError(status, error, details);
  } catch {
    // A page of a proxy.
  }
  return new ServiceError(status, text || `status ${status}`);
}

/** The error of a page with status 200, such as the login page of a network. */
export function toPageError({ ok, headers, url }: Response): Error | undefined {
  const isPage = ok && headers.get('Content-Type')?.startsWith('text/html');
  return isPage ? new Error(`a page answered instead of the service at ${url}`) : undefined;
}
