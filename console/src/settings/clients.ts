// What to paste into clients of the Model Context Protocol, so that they use this service with a
// token.

export const CLIENTS = ['claudeCode', 'cursor', 'vscode', 'claudeDesktop', 'other'] as const;
export type ClientName = (typeof CLIENTS)[number];

const NAME = 'analytics';

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

/** A command, or the content of a file of configuration. */
export function configurationOf(client: ClientName, publicUrl: string, token: string): string {
  const url = new URL('/mcp', publicUrl).href;
  const authorization = `Bearer ${token}`;
  switch (client) {
    case 'claudeCode':
      return `claude mcp add --transport http ${NAME} ${url} \\\n  --header "Authorization: ${authorization}"`;
    case 'cursor':
      return pretty({ mcpServers: { [NAME]: { url, headers: { Authorization: authorization } } } });
    case 'vscode':
      return pretty({ servers: { [NAME]: { type: 'http', url, headers: { Authorization: authorization } } } });
    case 'claudeDesktop':
      return pretty({
        mcpServers: {
          [NAME]: {
            command: 'npx',
            // A blank in an argument is lost by some versions, so the value is in the environment.
            // biome-ignore lint/suspicious/noTemplateCurlyInString: mcp-remote fills it in
            args: ['-y', 'mcp-remote', url, '--header', 'Authorization:${AUTHORIZATION}'],
            env: { AUTHORIZATION: authorization },
          },
        },
      });
    case 'other':
      return pretty({ url, transport: 'streamable-http', headers: { Authorization: authorization } });
  }
}
