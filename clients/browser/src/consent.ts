// Consent: whether tracking and storage are allowed.
import { settings } from './settings.js';
import { consentEntry } from './storage.js';

export const isAllowed = (): boolean => (consentEntry() || `${settings.consent !== 'true'}`) === 'true';
