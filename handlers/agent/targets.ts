import { asText } from '../common/as-text.ts'
import { hasControlCharacter } from '../common/headers.ts'
import type { Json, WebhookTarget } from './document-types.ts'
import type { Section } from './section.ts'

/**
 * Puts a user and a password into an `http(s)` URL, which may contain placeholders. A URL that has them
 * already stays as it is.
 */
export const withCredentials = (
  url: string,
  user: string | undefined,
  password: string | undefined,
): string => {
  if (!user && !password) return url
  const [, scheme = '', rest = ''] = /^(https?:\/\/)(.*)$/is.exec(url) ?? []
  const [authority = ''] = rest.split(/[/?#]/, 1)
  if (scheme === '' || authority.includes('@')) return url
  return `${scheme}${encode(user ?? '')}:${encode(password ?? '')}@${rest}`
}

/** Encodes a user or password, except for placeholders. */
const encode = (text: string): string =>
  /[$%]\{/.test(text) ? text : encodeURIComponent(text.toWellFormed())

/** Whether a text can be the URL of a webhook: `http(s)`, or a placeholder that becomes one. */
export const isTarget = (text: string): boolean =>
  text.length <= maxUrlLength &&
  !hasControlCharacter(text) &&
  (/^[$%]\{/.test(text) || (/^https?:\/\//i.test(text) && (/[$%]\{/.test(text) || URL.canParse(text))))

/** Maximum length of a URL, in characters. */
const maxUrlLength = 8192

/** Keys that may contain credentials of a target. */
export interface CredentialKeys {
  readonly user: readonly string[]
  readonly password: readonly string[]
}

/**
 * Reads the URL of a customer's server, with the credentials of other keys put into it. Undefined if it is
 * absent, or with a warning if it is no URL.
 */
export const readTarget = (
  section: Section,
  key: string,
  keys: CredentialKeys,
): WebhookTarget | undefined => {
  const url = section.text(key)?.trim()
  const user = section.text(...keys.user)
  const password = section.text(...keys.password)
  for (const other of [...keys.user, ...keys.password]) section.get(other)
  if (url === undefined) return undefined
  if (isTarget(url)) return { url: withCredentials(url, user, password) }
  section.warn(key, 'must be an http(s) URL; it is not used')
  return undefined
}

/** Headers of the connection, which only the gateway sets. */
const reservedHeaders = new Set(
  'host connection content-length transfer-encoding upgrade te trailer expect'.split(' '),
)

/** Returns headers of a request by lower-case name. Those that HTTP or the gateway forbids are left out. */
export const requestHeaders = (headers: Json): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]) => [name.toLowerCase(), asText(value)] as const)
      .filter(
        ([name, value]) =>
          /^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name) &&
          !reservedHeaders.has(name) &&
          !hasControlCharacter(value),
      ),
  )
