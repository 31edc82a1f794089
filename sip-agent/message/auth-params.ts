/** Value of one parameter. */
export interface AuthParam {
  /** The value as written, with the escapes of a quoted text. */
  readonly raw: string
  /** The value without quotes and escapes. */
  readonly value: string
}

/** One scheme of an authentication header with its parameters (RFC 7235 section 2.1). */
export interface AuthScheme {
  /** In lower case. */
  readonly scheme: string
  /** Parameters by name in lower case; if a name is repeated, the last one. */
  readonly params: ReadonlyMap<string, AuthParam>
  /** Whether every name and value fits the grammar, and no name is repeated. */
  readonly isStrict: boolean
}

const token = /^[A-Za-z0-9\-.!%*_+`'~]+$/
const scheme = /[\s,]*([A-Za-z0-9\-.!%*_+`'~]+)\s+(?=[A-Za-z0-9\-.!%*_+`'~]+\s*=)/y
const parameter = /\s*([A-Za-z0-9\-.!%*_+`'~]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))\s*(?:,\s*|$)/y

/**
 * Reads the schemes of an Authorization or WWW-Authenticate value in order; one value may have several.
 * Yields undefined, and ends, at text that is not a scheme with parameters.
 */
export function* readAuthSchemes(header: string): Generator<AuthScheme | undefined> {
  let at = 0
  while (!/^[\s,]*$/.test(header.slice(at))) {
    scheme.lastIndex = at
    const name = scheme.exec(header)?.[1]
    if (name === undefined) {
      yield undefined
      return
    }
    const { params, isStrict, end } = readParams(header, scheme.lastIndex)
    at = end
    yield { scheme: name.toLowerCase(), params, isStrict }
  }
}

const readParams = (
  header: string,
  start: number,
): { readonly params: ReadonlyMap<string, AuthParam>; readonly isStrict: boolean; readonly end: number } => {
  const params = new Map<string, AuthParam>()
  let isStrict = true
  let end = start
  for (;;) {
    scheme.lastIndex = end
    parameter.lastIndex = end
    const found = params.size > 0 && scheme.test(header) ? null : parameter.exec(header)
    if (!found) return { params, isStrict, end }
    const [, name = '', quoted, plain = ''] = found
    const key = name.toLowerCase()
    if (params.has(key) || (quoted === undefined && !token.test(plain))) isStrict = false
    const value = quoted?.replace(/\\(.)/gs, '$1') ?? plain
    params.set(key, { raw: quoted ?? plain, value })
    end = parameter.lastIndex
  }
}
