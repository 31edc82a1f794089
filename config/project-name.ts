/**
 * Returns the default name of a project: its id, with a dash for each sequence of characters that are not
 * permitted in a domain label.
 */
export const projectNameOf = (id: string): string =>
  id
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '') || 'project'
