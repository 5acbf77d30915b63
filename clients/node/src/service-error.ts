// Reads an error response of the service, or of a proxy in front of it.
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
