import { createHash } from 'node:crypto'

/** Request with a digest answer. */
export interface ExpectedDigest {
  readonly method: string
  readonly username: string
  readonly password: string
  readonly body?: string
}

/** Returns the parameters of an Authorization value, without quotes. */
export const digestParameters = (value: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...value.matchAll(/([\w-]+)=(?:"([^"]*)"|([^\s,]+))/g)].map(([, name = '', quoted, plain]) => [
      name,
      quoted ?? plain ?? '',
    ]),
  )

const hasher =
  (algorithm: string) =>
  (...parts: readonly (string | undefined)[]): string =>
    createHash(algorithm === 'SHA-256' ? 'sha256' : 'md5')
      .update(parts.join(':'))
      .digest('hex')

/**
 * Whether an Authorization value proves the password, computed here from its own parameters (RFC 7616 section
 * 3.4).
 */
export const digestFits = (value: string, expected: ExpectedDigest): boolean => {
  const { algorithm = 'MD5', realm, nonce, uri, nc, cnonce, qop, response } = digestParameters(value)
  const hash = hasher(algorithm)
  const { method, username, password, body = '' } = expected
  const secret = hash(username, realm, password)
  const signed = qop === 'auth-int' ? hash(method, uri, hash(body)) : hash(method, uri)
  return response === (qop ? hash(secret, nonce, nc, cnonce, qop, signed) : hash(secret, nonce, signed))
}

/** Returns an Authorization value that answers the challenge of a 401 with one of its algorithms. */
export const digestAnswer = (
  challenge: string,
  { method, username, password, uri }: ExpectedDigest & { readonly uri: string },
  algorithm: 'MD5' | 'SHA-256' = 'MD5',
): string => {
  const { realm, nonce } = digestParameters(challenge)
  const hash = hasher(algorithm)
  const response = hash(
    hash(username, realm, password),
    nonce,
    '00000001',
    'c0ffee',
    'auth',
    hash(method, uri),
  )
  return (
    `Digest username="${username}", realm="${realm}", nonce="${nonce}", uri="${uri}", response="${response}", ` +
    `algorithm=${algorithm}, qop=auth, nc=00000001, cnonce="c0ffee"`
  )
}
