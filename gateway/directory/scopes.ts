/**
 * What an API token may do: make and drive calls; keep subscribers and their tokens; keep the other resources
 * (domain applications, carriers, flows …); read and remove recordings and the records of calls; act as a
 * realtime application; keep the tokens of the project.
 */
export const scopes = ['calling', 'subscribers', 'resources', 'records', 'applications', 'tokens'] as const

/** One of {@link scopes}. */
export type Scope = (typeof scopes)[number]
