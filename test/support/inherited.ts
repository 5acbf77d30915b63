// The environment of this process, by name, for programs that tests start with little else: npm
// needs the certificates of the machine (NODE_EXTRA_CA_CERTS) to reach a registry.

export const inherited = (...names: string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
