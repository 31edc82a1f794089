const absolute = /^https?:\/\/[^/?#]+/i
const unreserved = /%(?:2[de]|3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])/gi

/**
 * What a request asks for, in the one way of writing that rules which go by the path know: without the origin
 * that a proxy is sent (RFC 9112 section 3.2.2), and nothing in the path encoded that needs no encoding (RFC
 * 3986 section 6.2.2.2). Routes are found in all ways of writing.
 */
export const plainUrl = (url: string): string => {
  const target = url.replace(absolute, '')
  const end = target.indexOf('?')
  const path = end < 0 ? target : target.slice(0, end)
  const query = end < 0 ? '' : target.slice(end)
  return (path === '' ? '/' : path.replaceAll(unreserved, decodeURIComponent)) + query
}
