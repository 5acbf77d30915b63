// Validates responses against the OpenAPI document: status, headers, media type and body. Every
// response to `send` is validated.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { toOpenApiDocument } from '../../src/api/openapi/document.js';

interface Response {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, unknown>>;
}

interface Document {
  readonly components: { readonly responses: Readonly<Record<string, Response>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, { responses: Readonly<Record<string, Response>> }>>>>;
}

const NAME = 'openapi.json';
const document = JSON.parse(JSON.stringify(toOpenApiDocument())) as Document;

export function createValidator(): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
  // Under NodeNext the types of this CommonJS module put its function one level too deep.
  (addFormats as unknown as (target: Ajv2020) => void)(ajv);
  for (const word of ['openapi', 'info', 'servers', 'tags', 'paths', 'components']) ajv.addKeyword(word);
  ajv.addSchema(document, NAME);
  return ajv;
}

const ajv = createValidator();

export interface SeenAnswer {
  readonly status: number;
  readonly contentType: string | null;
  readonly text: string;
  readonly headers?: Headers;
}

/**
 * Throws with the deviation. `route` is the method and path as sent, including the query string.
 */
export function expectDocumented(route: string, answer: SeenAnswer): void {
  const [method = '', target = ''] = route.split(' ');
  const path = findPath(target.split('?')[0] ?? '');
  const operation = path === undefined ? undefined : document.paths[path]?.[method.toLowerCase()];
  if (path === undefined || operation === undefined || isNotBuilt(answer)) return;
  const response = operation.responses[answer.status];
  const shown = `${method} ${path} answered ${answer.status} ${answer.contentType}: ${answer.text.slice(0, 300)}`;
  if (response === undefined) throw new Error(`the OpenAPI document has no such status: ${shown}`);

  const pointer = response.$ref ?? `#/paths/${escapePointer(path)}/${method.toLowerCase()}/responses/${answer.status}`;
  const { content, headers = {} } = response.$ref === undefined ? response : referredTo(response.$ref);
  const missing = Object.keys(headers).filter((name) => answer.headers?.has(name) !== true);
  if (missing.length > 0) throw new Error(`the OpenAPI document has the headers ${missing}: ${shown}`);
  if (content === undefined) return;
  const type = answer.contentType?.split(';')[0] ?? '';
  if (content[type] === undefined) throw new Error(`the OpenAPI document has no such media type: ${shown}`);
  if (type !== 'application/json') return;
  const validate = validatorOf(`${NAME}${pointer}/content/${escapePointer(type)}/schema`);
  if (!validate(JSON.parse(answer.text))) {
    throw new Error(`the OpenAPI document says otherwise: ${shown}\n${ajv.errorsText(validate.errors)}`);
  }
}

const referredTo = (ref: string): Response => {
  const response = document.components.responses[ref.replace('#/components/responses/', '')];
  if (response === undefined) throw new Error(`the OpenAPI document has no ${ref}`);
  return response;
};

/** Routes that do not exist yet are not validated. */
const isNotBuilt = ({ status, text }: SeenAnswer): boolean => status === 404 && text.includes('there is no such route');

const escapePointer = (text: string): string =>
  text.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D');

function findPath(path: string): string | undefined {
  const templates = Object.keys(document.paths).sort((a, b) => a.split('{').length - b.split('{').length);
  const find = (target: string) =>
    templates.find((template) => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(target));
  // The document leaves out what differs by a slash at the end only.
  return find(path) ?? find(path.replace(/\/$/, ''));
}

const validators = new Map<string, ValidateFunction>();

function validatorOf(ref: string): ValidateFunction {
  const validate = validators.get(ref) ?? ajv.compile({ $ref: ref });
  validators.set(ref, validate);
  return validate;
}
