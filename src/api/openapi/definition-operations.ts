// Operations of the OpenAPI document for the routes of definitions.
import { changeQuery, syncQuery } from '../../definitions/schema.js';
import { json, jsonList, tagged } from './operation.js';
import { refTo } from './schemas.js';

export const DEFINITION_OPERATIONS = tagged('Definitions', {
  'PUT /api/definitions': [
    'Validates the definitions of the project and stores a new version when they changed; 201 when they are the first',
    { 200: json('SavedDefinitions'), 201: json('SavedDefinitions') },
    { body: refTo('DefinitionsBody'), query: syncQuery },
  ],
  'GET /api/definitions': ['Reads the definitions; version 0 when the project has none', { 200: json('Definitions') }],
  'GET /api/definitions/dropped': [
    'Lists the drop rules with the events that each has dropped, by day, in the last 30 days',
    { 200: json('DroppedEvents') },
    { errors: [503] },
  ],
  'GET /api/projects/{projectID}/definitions/dropped': [
    'Lists the drop rules with the events that each has dropped, for a signed-in person',
    { 200: json('DroppedEvents') },
    { errors: [503] },
  ],
  'GET /api/definitions/uses': [
    'Lists the cards, variables, alerts and definitions that name a definition',
    { 200: jsonList('DefinitionUse') },
  ],
  'GET /api/projects/{projectID}/definitions/uses': [
    'Lists what names a definition, for a signed-in person',
    { 200: jsonList('DefinitionUse') },
  ],
  'GET /api/definitions/keep': [
    'Lists how long events are kept, how many the next night deletes, and the receipts of the last 100 nights',
    { 200: json('KeptEvents') },
  ],
  'GET /api/projects/{projectID}/definitions/keep': [
    'Lists how long events are kept, for a signed-in person',
    { 200: json('KeptEvents') },
  ],
  'GET /api/projects/{projectID}/definitions': [
    'Reads the definitions, for a signed-in person',
    { 200: json('Definitions') },
  ],
  'PUT /api/projects/{projectID}/definitions': [
    'Changes the definitions as a signed-in person; with dry_run only checks the document',
    { 200: json('SavedDefinitions'), 201: json('SavedDefinitions') },
    { body: refTo('DefinitionsBody'), query: changeQuery },
  ],
  'GET /api/projects/{projectID}/definitions/versions': [
    'Lists the versions that are kept, newest first',
    { 200: jsonList('DefinitionsVersionItem') },
  ],
  'GET /api/projects/{projectID}/definitions/versions/{version}': [
    'Reads a version of the definitions',
    { 200: json('Definitions') },
  ],
});
