const absolute = /^https?:\/\/[^/?#]+/i
const unreserved = /%(?:2[de]|3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])/gi

/**
 * Returns the URL of a request in the canonical form that path rules rely on. Removes the scheme and host of
 * an absolute URL (RFC 9112 section 3.2.2), and decodes characters that need no encoding (RFC 3986 section
 * 6.2.2.2). Otherwise a route would match forms that the path rules do not.
 */
export const plainUrl = (url: string): string => {
  const target = url.replace(absolute, '')
  const end = target.indexOf('?')
  const path = end < 0 ? target : target.slice(0, end)
  const query = end < 0 ? '' : target.slice(end)
  return (path === '' ? '/' : path.replaceAll(unreserved, decodeURIComponent)) + query
}
