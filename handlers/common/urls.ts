/** The absolute `http(s)` URL of a reference; relative ones start from `base`. Throws an error that says what is wrong. */
export const resolveUrl = (reference: string, base: string | undefined): string => {
  const text = reference.trim()
  const url = base === undefined ? URL.parse(text) : URL.parse(text, base)
  if (!url) {
    const relative = base === undefined && !/^[a-z][a-z0-9+.-]*:/i.test(text)
    throw new Error(relative ? 'is relative, and the document has no URL of its own' : 'is not a valid URL')
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new Error('must be an http or https URL')
  return url.href
}

/** A URL for messages: scheme, host and path, without user, password, query and fragment, any of which may hold secrets. */
export const urlForPeople = (text: string): string => {
  const url = URL.parse(text)
  return url ? `${url.protocol}//${url.host}${url.pathname}` : '(not a URL)'
}

/** The URL with fields added to its query; a field that stands there already is replaced. */
export const withQuery = (text: string, fields: URLSearchParams): string => {
  const url = new URL(text)
  for (const [name, value] of fields) url.searchParams.set(name, value)
  return url.href
}
