import { ClientError } from './errors.ts'

/** Where a client connects. */
export interface Hosts {
  /** The WebSocket's URL. */
  readonly socket: string
  /** Scheme, host and port of HTTP requests, without a slash at the end. */
  readonly http: string
  /** Host and port of HTTP requests. */
  readonly httpHost: string
}

/** The part of `window.location` that decides the defaults. */
export interface Page {
  readonly protocol: string
  readonly host: string
}

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  hostname === '[::1]' ||
  /^127(\.\d{1,3}){3}$/.test(hostname)

const schemes: Readonly<Record<string, string>> = {
  'http:': 'ws:',
  'https:': 'wss:',
  'ws:': 'ws:',
  'wss:': 'wss:',
}

const parse = (text: string, given: string): URL => {
  try {
    return new URL(text)
  } catch (cause) {
    throw new ClientError(
      'bad_host',
      `host: expected host[:port] or a ws, wss, http or https URL, got "${given}"`,
      {
        cause,
      },
    )
  }
}

/**
 * Finds the WebSocket URL and the HTTP base for the `host` option.
 *
 * - A URL with a scheme is taken as it is; `http` and `https` become `ws` and `wss`. A path is kept for the WebSocket alone.
 * - A bare `host[:port]` uses TLS, except where it is the page's own host (the page's scheme decides) and, on a page that is not https,
 *   a loopback name such as `localhost:8080`.
 * - Without a host it is the page's own.
 *
 * The HTTP base is always the same host. (The service's published library prefixes it with `fabric.` instead.)
 *
 * @throws ClientError `bad_host`
 */
export const resolveHosts = (host: string | undefined, page: Page | undefined): Hosts => {
  const given = host?.trim() || (page?.host ?? '')
  if (!given)
    throw new ClientError('bad_host', 'host: expected a value, since there is no page to take it from')
  const url = given.includes('://') ? parse(given, given) : parse(`wss://${given}`, given)
  const scheme = schemes[url.protocol]
  if (!scheme || !url.hostname)
    throw new ClientError('bad_host', `host: expected a ws, wss, http or https URL, got "${given}"`)
  let secure = scheme === 'wss:'
  if (!given.includes('://') && page?.protocol !== 'https:') {
    const isOwn = page?.protocol === 'http:' && page.host === given
    secure = !(isOwn || isLoopback(url.hostname))
  }
  // Built anew: the URL object does not let the scheme of its port default be changed safely.
  const path = url.pathname + url.search
  return {
    socket: `${secure ? 'wss' : 'ws'}://${portOf(given, url)}${path}`,
    http: `${secure ? 'https' : 'http'}://${portOf(given, url)}`,
    httpHost: portOf(given, url),
  }
}

// URL drops a port that is the default of the scheme it was parsed with, which may not be the scheme that is used in the end.
const portOf = (given: string, url: URL): string => {
  const authority = given.replace(/^[a-z]+:\/\//i, '').split(/[/?#]/, 1)[0] ?? ''
  const port = /:(\d+)$/.exec(authority)?.[1]
  return port ? `${url.hostname}:${port}` : url.hostname
}
