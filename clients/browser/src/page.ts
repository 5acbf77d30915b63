// What is captured of the page that is open. Fields without a value are undefined, so JSON leaves them out.

export type Fields = Record<string, unknown>;

const ATTRIBUTION = /^(utm_(source|medium|campaign|term|content)|(gc|fbc)lid)$/;

/** What the query of an address says about where the visitor comes from; names get the prefix. */
export const attributionOf = (search: string | undefined, prefix = ''): Fields => {
  const fields: Fields = {};
  for (const [name, value] of new URLSearchParams(search)) {
    if (value && ATTRIBUTION.test(name)) fields[prefix + name] = value;
  }
  return fields;
};
