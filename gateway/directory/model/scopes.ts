/**
 * Permissions of an API token. `calling`: make and control calls. `subscribers`: manage subscribers and their
 * tokens. `resources`: manage other resources (domain applications, carriers, flows …). `records`: read and
 * remove recordings and CDRs. `applications`: act as a realtime application, on its calls and on all rooms
 * of the project. `tokens`: manage the tokens of the project.
 */
export const scopes = ['calling', 'subscribers', 'resources', 'records', 'applications', 'tokens'] as const

/** One of {@link scopes}. */
export type Scope = (typeof scopes)[number]
