/**
 * The name of a project that has none of its own: its id, with a dash for each run of characters that no
 * label of a domain may have.
 */
export const projectNameOf = (id: string): string =>
  id
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '') || 'project'
