/** Hosts of redirects to the device itself (RFC 8252 section 7.3). */
const loopbacks = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Returns the fault of a redirect URI of an OAuth client, as the end of a sentence that begins with the key's
 * name. Returns undefined for a valid URI. `native`: the client is installed on a device, and may use a
 * private scheme (RFC 8252 section 7.1).
 */
export const redirectUriFault = (uri: string, native: boolean): string | undefined => {
  const url = URL.parse(uri)
  if (!url || uri.length > 2048 || /[\s*\\]/.test(uri)) return 'must be an absolute URI without spaces and *'
  if (uri.includes('#')) return 'must not have a fragment'
  if (url.username || url.password) return 'must not have a user'
  if (/(^|\/)(\.|%2e){1,2}($|\/|\?)/i.test(uri)) return 'must not have . and .. in its path'
  if (url.protocol === 'https:') return undefined
  if (url.protocol === 'http:')
    return loopbacks.has(url.hostname) ? undefined : 'must be https unless the host is localhost'
  if (!native) return 'must be https; only a native client may use a private scheme'
  // A private scheme must be a reversed domain name, which excludes schemes such as `javascript`.
  return /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/.test(url.protocol)
    ? undefined
    : 'must have a reversed domain name as its scheme, such as com.example.app'
}
