import type { Report } from '../faults.ts'
import type { FileConfig } from '../file-config.ts'
import { redirectUriFault } from './redirect-uris.ts'
import { type Entry, unique } from './unique.ts'

/** Checks the rules of `oauth` beyond the schema. */
export const checkOAuth = ({ oauth: { url, clients }, http }: FileConfig, report: Report): void => {
  if (clients.length > 0 && url === undefined && http.publicHost === undefined)
    report(['oauth', 'clients'], 'requires oauth.url or http.publicHost, by which browsers reach the gateway')
  unique(
    'client',
    clients.map(({ id }, i): Entry => [id, ['oauth', 'clients', i, 'id']]),
    report,
  )
  clients.forEach(({ redirectUris, native }, i) => {
    redirectUris.forEach((uri, at) => {
      const fault = redirectUriFault(uri, native)
      if (fault) report(['oauth', 'clients', i, 'redirectUris', at], fault)
    })
  })
}
