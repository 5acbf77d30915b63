// Texts of the connection of agents, which is loaded with it alone.

export const agentTexts = {
  note: 'A language model that speaks the Model Context Protocol answers questions about this project. It needs an address and a token.',
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
