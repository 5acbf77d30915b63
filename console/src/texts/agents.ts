// Texts of the connection of agents, which is loaded with it alone.

export const agentTexts = {
  note: 'A language model that speaks the Model Context Protocol answers questions about this project. It needs the address, and either you sign in when it asks, or it gets a token.',
  address: 'Address',
  addressNote:
    'Claude (web and Desktop), ChatGPT, Claude Code and other clients that use OAuth need this alone: add it there as a connector or a server. A page opens here that asks which project they may read. Clients on the web must be able to reach the address over https.',
  tokenName: 'Agent',
  mayDo: 'The agent may',
  query: 'read events by queries',
  dashboards: 'read and write dashboards',
  configuration: 'Configuration',
  client: 'Client',
  clients: {
    claudeCode: 'Claude Code',
    cursor: 'Cursor',
    vscode: 'VS Code',
    claudeDesktop: 'Claude Desktop',
    other: 'Another client',
  },
  places: {
    claudeCode: 'Run this command once.',
    cursor: 'Paste it into .cursor/mcp.json of the workspace.',
    vscode: 'Paste it into .vscode/mcp.json of the workspace.',
    claudeDesktop: 'Paste it into claude_desktop_config.json. It starts programs, so a small one passes messages on.',
    other: 'Enter address and header where the client asks for a server with streamable HTTP.',
  },
  withoutToken: 'Create a token, and it takes its place in the configuration.',
} as const;
