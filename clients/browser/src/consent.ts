// Whether anything may be tracked or stored.
import { settings } from './settings.js';
import { consentEntry } from './storage.js';

export const isAllowed = (): boolean => (consentEntry() || `${settings.consent !== 'true'}`) === 'true';
