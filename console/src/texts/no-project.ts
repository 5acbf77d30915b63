// Texts of the first project, and of each further one.
export const noProjectTexts = {
  title: 'Make your first project',
  text: 'A project holds the events of one product. Its key is all that a page or an app needs to send them.',
  organization: 'Organization',
  name: 'Name of the project',
  create: 'Make the project',
  needsAdmin: 'You belong to organizations without projects. An admin or owner can make one.',
} as const;
