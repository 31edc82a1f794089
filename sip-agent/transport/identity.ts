import { isIP } from 'node:net'
import type { PeerCertificate } from 'node:tls'

type Names = Readonly<Record<'DNS' | 'URI' | 'IP Address', readonly string[]>>

// Node writes values with special characters as JSON strings, so that none of them can pass for two entries.
const entryPattern = /(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,"]*)/y

const unquoted = (text: string): string | undefined => {
  try {
    return String(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** The entries of a subjectAltName as Node writes it; none at all where it cannot be read to its end. */
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

/** RFC 5922 7.1: a SIP URI without a user names a domain. */
const sipDomain = (uri: string): string[] => {
  const match = /^sip:([^@;?]+)$/i.exec(uri)
  return match ? [(match[1] as string).replace(/:\d+$/, '')] : []
}

/**
 * The SIP domains that a certificate is for, in lower case (RFC 5922 7.1): its SIP URIs; without one its DNS names; without a subjectAltName
 * its common name. Its IP addresses count besides, for peers that are named by address.
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

/** One spelling for each address, as certificates have them. */
const sameAddress = (a: string, b: string): boolean => {
  const family = isIP(a)
  if (family !== isIP(b)) return false
  if (family === 4) return a === b
  const plain = (address: string) => new URL(`http://[${address}]`).hostname
  return plain(a) === plain(b)
}

/**
 * Checks that a certificate is for this host (RFC 5922 7.2: the whole name, without case, and no wildcards). A `name` that itself is written
 * with `*.` has to stand in the certificate as it is. Returns what is wrong.
 */
export const checkDomain = (name: string, certificate: PeerCertificate): Error | undefined => {
  const wanted = name.toLowerCase().replace(/\.$/, '')
  const domains = domainsOf(certificate)
  const fits = isIP(wanted)
    ? (each: string) => isIP(each) > 0 && sameAddress(each, wanted)
    : (each: string) => each === wanted
  if (domains.some(fits)) return undefined
  return new Error(`the certificate is for ${domains.slice(0, 5).join(', ') || 'nobody'}, not for ${wanted}`)
}
