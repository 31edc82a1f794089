import { isIP } from 'node:net'
import type { PeerCertificate } from 'node:tls'

type Names = Readonly<Record<'DNS' | 'URI' | 'IP Address', readonly string[]>>

// Node writes values with special characters as JSON strings, so that one value cannot imitate two entries.
const entryPattern = /(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,"]*)/y

const unquoted = (text: string): string | undefined => {
  try {
    return String(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Returns the entries of a subjectAltName in Node's form; empty if a part of the text cannot be parsed. */
const readNames = (text: string): Names => {
  const names = { DNS: [] as string[], URI: [] as string[], 'IP Address': [] as string[] }
  const pattern = new RegExp(entryPattern)
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text)
    if (!match) return { DNS: [], URI: [], 'IP Address': [] }
    const [, kind = '', written = ''] = match
    const value = written.startsWith('"') ? unquoted(written) : written
    if (value === undefined) return { DNS: [], URI: [], 'IP Address': [] }
    if (kind === 'DNS' || kind === 'URI' || kind === 'IP Address') names[kind].push(value)
  }
  return names
}

/** Returns the domain of a SIP URI without a user (RFC 5922 7.1). */
const sipDomain = (uri: string): string[] => {
  const match = /^sip:([^@;?]+)$/i.exec(uri)
  return match ? [(match[1] as string).replace(/:\d+$/, '')] : []
}

/**
 * Returns the SIP domains of a certificate in lower case (RFC 5922 7.1): its SIP URIs, else its DNS names.
 * Without a subjectAltName, returns the common name. IP addresses are included, for peers whose URIs name an
 * address.
 */
export const domainsOf = (certificate: PeerCertificate): string[] => {
  const text = certificate.subjectaltname
  const common = certificate.subject?.CN
  const names = text === undefined ? undefined : readNames(text)
  const byUri = names?.URI.flatMap(sipDomain) ?? []
  const byName = names ? names.DNS : [common ?? []].flat()
  const domains = [...(byUri.length > 0 ? byUri : byName), ...(names?.['IP Address'] ?? [])]
  return domains.map((each) => each.toLowerCase())
}

/** Returns whether two texts are the same IP address in any spelling. */
const sameAddress = (a: string, b: string): boolean => {
  const family = isIP(a)
  if (family !== isIP(b)) return false
  if (family === 4) return a === b
  const plain = (address: string) => new URL(`http://[${address}]`).hostname
  return plain(a) === plain(b)
}

/**
 * Checks that a certificate is valid for a host (RFC 5922 7.2: the whole name, ignoring case, without
 * wildcards). A `name` that begins with `*.` must stand in the certificate literally. Returns the error, or
 * undefined if the certificate is valid.
 */
export const checkDomain = (name: string, certificate: PeerCertificate): Error | undefined => {
  const wanted = name.toLowerCase().replace(/\.$/, '')
  const domains = domainsOf(certificate)
  const fits = isIP(wanted)
    ? (each: string) => isIP(each) > 0 && sameAddress(each, wanted)
    : (each: string) => each === wanted
  if (domains.some(fits)) return undefined
  return new Error(`the certificate is for ${domains.slice(0, 5).join(', ') || 'no host'}, not for ${wanted}`)
}
