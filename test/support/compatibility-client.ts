import { createRequire } from 'node:module'

/** Resource that the published client returns, as far as the tests read it. */
export type Resource = Readonly<Record<string, unknown>> & { readonly sid: string }

interface Members {
  (
    id: string,
  ): { fetch(): Promise<Resource>; update(change: object): Promise<Resource>; remove(): Promise<boolean> }
  list(query?: object): Promise<Resource[]>
  create(options: object): Promise<Resource>
}

interface Item extends ReturnType<Members> {
  readonly recordings: Members
  readonly streams: Members
  readonly participants: Members
  readonly members: Members
}

interface List extends Members {
  (id: string): Item
  page(query?: object): Promise<{ readonly instances: readonly Resource[]; readonly nextPageUrl?: string }>
}

/** Client of the published package. */
export interface Client {
  readonly calls: List
  readonly recordings: List
  readonly conferences: List
  readonly queues: List
  readonly applications: List
  readonly messages: List
  readonly api: { readonly accounts: (id: string) => { fetch(): Promise<Resource> } }
}

/** The published client of the XML family’s API, unmodified. */
export const { RestClient } = createRequire(import.meta.url)('@signalwire/compatibility-api') as {
  readonly RestClient: new (
    project: string,
    token: string,
    options: { readonly signalwireSpaceUrl: string },
  ) => Client
}
