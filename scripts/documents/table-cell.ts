/**
 * Returns text for a cell of a Markdown table, on one line. `<` is escaped outside code spans, where Markdown
 * would read a tag; inside them an entity would be shown as it is.
 */
export const tableCell = (text: string): string =>
  text
    .replaceAll('|', '\\|')
    .replaceAll('\n', ' ')
    .split(/(`[^`]*`)/)
    .map((part, at) => (at % 2 === 0 ? part.replaceAll('<', '&lt;') : part))
    .join('')
