// Properties of the current page. Absent ones are undefined, so JSON omits them.

export type Fields = Record<string, unknown>;

const ATTRIBUTION = /^(utm_(source|medium|campaign|term|content)|(gc|fbc)lid)$/;

/** Attribution parameters of a URL's query; names get the prefix. */
export const attributionOf = (search: string | undefined, prefix = ''): Fields => {
  const fields: Fields = {};
  for (const [name, value] of new URLSearchParams(search)) {
    if (value && ATTRIBUTION.test(name)) fields[prefix + name] = value;
  }
  return fields;
};
