// Texts of the menu that copies and downloads an answer, which loads them.
export const shareTexts = {
  link: 'Copy link for members',
  curl: 'Copy as curl',
  yaml: 'Copy as dashboard card',
  markdown: 'Copy as Markdown',
  prompt: 'Copy as prompt',
  csv: 'Download CSV',
  downloaded: 'Downloaded',
} as const;
