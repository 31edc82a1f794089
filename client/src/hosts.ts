import { ClientError } from './errors.ts'

/** Endpoints of a client. */
export interface Hosts {
  /** URL of the WebSocket. */
  readonly socket: string
  /** Scheme, host and port of HTTP requests, without a trailing slash. */
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
 * Returns the WebSocket URL and the HTTP base for the `host` option.
 *
 * - A URL with a scheme is used unchanged; `http` and `https` become `ws` and `wss`. A path applies to the
 *   WebSocket only.
 * - A bare `host[:port]` uses TLS, with two exceptions. For the page's own host the page's scheme applies. On
 *   a page without https, loopback names such as `localhost:8080` use no TLS.
 * - The default is the page's own host.
 *
 * The HTTP base is always the same host. (The service's published library prefixes it with `fabric.`
 * instead.)
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
  // Rebuilt, since changing the scheme of a URL object may lose its port.
  const path = url.pathname + url.search
  return {
    socket: `${secure ? 'wss' : 'ws'}://${portOf(given, url)}${path}`,
    http: `${secure ? 'https' : 'http'}://${portOf(given, url)}`,
    httpHost: portOf(given, url),
  }
}

// `URL` drops the default port of the parsed scheme, but the final scheme may differ.
const portOf = (given: string, url: URL): string => {
  const authority = given.replace(/^[a-z]+:\/\//i, '').split(/[/?#]/, 1)[0] ?? ''
  const port = /:(\d+)$/.exec(authority)?.[1]
  return port ? `${url.hostname}:${port}` : url.hostname
}
