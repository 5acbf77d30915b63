// Texts of the first questions of a project, which load them.
export const starterTexts = {
  title: 'Start with a question',
  noEvents: 'This project has no events yet.',
  demo: 'Questions about the demo shop',
} as const;
