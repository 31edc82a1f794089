/**
 * Resolves a reference against `base` to an absolute `http(s)` URL. Throws an error that describes the fault.
 */
export const resolveUrl = (reference: string, base: string | undefined): string => {
  const text = reference.trim()
  const url = base === undefined ? URL.parse(text) : URL.parse(text, base)
  if (!url) {
    const relative = base === undefined && !/^[a-z][a-z0-9+.-]*:/i.test(text)
    throw new Error(relative ? 'is relative, and the document has no URL of its own' : 'is not a valid URL')
  }
  if (!isHttp(url)) throw new Error('must be an http or https URL')
  return url.href
}

/** Whether a text is an absolute URL of `http` or `https`. */
export const isHttpUrl = (text: string): boolean => isHttp(URL.parse(text))

const isHttp = (url: URL | null): boolean => url?.protocol === 'http:' || url?.protocol === 'https:'

/** Returns a URL for messages: scheme, host and path, without the parts that may contain secrets. */
export const redactedUrl = (text: string): string => {
  const url = URL.parse(text)
  return url ? `${url.protocol}//${url.host}${url.pathname}` : '(not a URL)'
}

/** Adds fields to a URL's query and replaces those that it has already. */
export const withQuery = (text: string, fields: URLSearchParams): string => {
  const url = new URL(text)
  for (const [name, value] of fields) url.searchParams.set(name, value)
  return url.href
}
