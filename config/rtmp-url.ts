/** Scheme, host with port, and path with query. User and password have no place in it. */
const urlForm = /^(rtmps?):\/\/([^/?#@\\\s]{1,300})(\/[^#\r\n]{1,2000})$/i

/** Parts of the URL of a stream, and its form without the key. */
export interface RtmpUrl {
  /** Host without the brackets of an IPv6 address. */
  readonly host: string
  readonly port: number
  readonly hasTls: boolean
  /** Application: the path without its last part. */
  readonly app: string
  /** URL of the application. */
  readonly tcUrl: string
  /** Last part of the path, with the query: a secret. */
  readonly key: string
  /** URL for lists and logs, without what follows the first part of its path. */
  readonly masked: string
}

/** Reads the URL of a stream: `rtmp://host/app/key`, or with `rtmps:`. Returns undefined if it is none. */
export const parseRtmpUrl = (text: string): RtmpUrl | undefined => {
  const [, scheme, authority = '', path = ''] = urlForm.exec(text.trim()) ?? []
  // Parsed as ftp: the parser knows its rules for hosts. It would change the path, and drop a default port.
  const url = URL.parse(`ftp://${authority}`)
  const [, ownPort] = /:(\d+)$/.exec(authority) ?? []
  const hasTls = scheme?.toLowerCase() === 'rtmps'
  const port = Number(ownPort ?? (hasTls ? 443 : 1935))
  const { app, first, key } = partsOf(path)
  if (!url || port === 0 || first === undefined || key === undefined) return undefined
  const origin = `${hasTls ? 'rtmps' : 'rtmp'}://${url.hostname}`
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port,
    hasTls,
    app,
    tcUrl: `${origin}:${port}/${app}`,
    key,
    masked: `${origin}${ownPort === undefined ? '' : `:${port}`}/${first}/***`,
  }
}

/**
 * Returns the form of a URL that is equal for all URLs with the same server, application and key: a secret.
 * Another text is returned as it is.
 */
export const comparableRtmpUrl = (text: string): string => {
  const url = parseRtmpUrl(text)
  return url ? `${url.tcUrl}/${url.key}` : text
}

/** Returns the parts of a path and query, as they are written: servers compare keys literally. */
const partsOf = (path: string) => {
  const query = path.indexOf('?')
  const segments = path
    .slice(0, query < 0 ? undefined : query)
    .split('/')
    .filter((part) => part !== '')
  const last = segments.pop()
  const key = last === undefined || query < 0 ? last : last + path.slice(query)
  return { app: segments.join('/'), first: segments[0], key }
}
