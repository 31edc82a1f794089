import { isIP } from 'node:net'
import { parseDuration } from '../durations.ts'
import { parseNetwork } from '../networks.ts'
import { parseAge, parseSize } from '../sizes.ts'

/** A kind of text in the configuration; `wanted` completes the sentence "must be …". */
export interface Format {
  readonly wanted: string
  readonly validate: (text: string) => boolean
}

const label = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i

const isHostName = (text: string): boolean =>
  text.length <= 253 &&
  isIP(text) === 0 &&
  // What looks like an IPv4 address and is none, such as 300.1.1.1, is a slip and no name.
  !/^[\d.]+$/.test(text) &&
  text.split('.').every((part) => label.test(part))

const isHost = (text: string): boolean => isIP(text) !== 0 || isHostName(text)

/** Only the whole left-most label may be a wildcard (RFC 6125 section 6.4.3). */
const isWildcard = (text: string): boolean => text.startsWith('*.') && isHostName(text.slice(2))

const isHttpUrl = (text: string): boolean => ['http:', 'https:'].includes(URL.parse(text)?.protocol ?? '')

/** A fragment has no meaning there, and is refused (RFC 6455 section 3). */
const isWebSocketUrl = (text: string): boolean =>
  ['ws:', 'wss:'].includes(URL.parse(text)?.protocol ?? '') && !text.includes('#')

const isHostPort = (text: string): boolean => {
  const match = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(text)
  if (!match) return false
  const host = (match[1] ?? '').replace(/^\[|\]$/g, '')
  return isHost(host) && Number(match[2] ?? 1) >= 1 && Number(match[2] ?? 1) <= 65_535
}

/**
 * `sips` is TLS; a transport that contradicts it, or that we cannot reach anybody by, is a slip: clients
 * alone open WebSockets.
 */
const isSipTarget = (text: string): boolean => {
  const [, scheme = '', hostPort = '', , parameters = ''] =
    /^(sips?):((\[[^\]]+\]|[^:;]+)(?::\d{1,5})?)((?:;[a-z0-9=._-]+)*)$/i.exec(text) ?? []
  const transport = /;transport=([^;]*)/i.exec(parameters)?.[1]?.toLowerCase()
  const transports = scheme.toLowerCase() === 'sips' ? ['tls', 'tcp'] : ['udp', 'tcp', 'tls']
  return isHostPort(hostPort) && (transport === undefined || transports.includes(transport))
}

/**
 * Without a port: 3478, or 5349 of turns (RFC 7065). Browsers take no other parameter, none of stun (RFC
 * 7064), and no UDP with TLS.
 */
const isIceUri = (text: string): boolean => {
  const [, scheme = '', hostPort = '', transport] =
    /^(stun|turns?):([^?]+)(?:\?transport=(udp|tcp))?$/i.exec(text) ?? []
  const transports = { stun: [], turns: ['tcp'] }[scheme.toLowerCase()] ?? ['udp', 'tcp']
  return isHostPort(hostPort) && (transport === undefined || transports.includes(transport.toLowerCase()))
}

const isBase64Url = (text: string, bytes: number): boolean =>
  /^[\w-]+$/.test(text) && Buffer.from(text, 'base64url').length === bytes

/** The formats that the schema names. */
export const formats: Readonly<Record<string, Format>> = {
  'number-prefix': {
    wanted: 'the first digits of a telephone number, such as +49 or 0900',
    validate: (text) => /^\+?\d{1,15}$/.test(text),
  },
  duration: {
    wanted: 'a duration such as 500ms, 30s, 5m or 4h',
    validate: (text) => parseDuration(text) !== undefined,
  },
  age: { wanted: 'an age such as 36h or 30d', validate: (text) => parseAge(text) !== undefined },
  size: { wanted: 'a size such as 512MiB or 20GiB', validate: (text) => parseSize(text) !== undefined },
  network: {
    wanted: 'an IP network such as 192.0.2.0/24',
    validate: (text) => parseNetwork(text) !== undefined,
  },
  ip: { wanted: 'an IP address such as 192.0.2.1', validate: (text) => isIP(text) !== 0 },
  'announced-ip': {
    wanted: 'an IP address that others can reach, not 0.0.0.0 or ::',
    validate: (text) => isIP(text) !== 0 && !/^[0.:]+$/.test(text),
  },
  host: { wanted: 'a host name or an IP address', validate: isHost },
  'certificate-name': {
    wanted:
      'a host name or an IP address, or a name such as *.carrier.example that the certificate has as it is',
    validate: (text) => isHost(text) || isWildcard(text),
  },
  'server-name': {
    wanted: 'a host name or an IP address, or a name such as *.sip.example for any one label before it',
    validate: (text) => isHost(text) || isWildcard(text),
  },
  'host-port': { wanted: 'a host name, with a port where it is not the usual one', validate: isHostPort },
  'http-url': { wanted: 'an http or https URL', validate: isHttpUrl },
  'ws-url': { wanted: 'a ws or wss URL without a fragment', validate: isWebSocketUrl },
  'file-path': { wanted: 'the path of a file', validate: (text) => text !== '' },
  'sip-target': {
    wanted: 'a SIP URI without a user, such as sip:gw.carrier.example;transport=tls',
    validate: isSipTarget,
  },
  'ice-uri': {
    wanted:
      'a STUN or TURN URI such as stun:stun.example, turn:turn.example:3478?transport=udp or turns:turn.example:443?transport=tcp',
    validate: isIceUri,
  },
  origin: {
    wanted: 'an origin such as https://app.example, without a path',
    validate: (text) => isHttpUrl(text) && new URL(text).origin === text.toLowerCase(),
  },
  'https-origin': {
    wanted: 'an https origin such as https://gw.example, without a path',
    validate: (text) => URL.parse(text)?.protocol === 'https:' && new URL(text).origin === text.toLowerCase(),
  },
  email: { wanted: 'an e-mail address', validate: (text) => /^[^\s@/?#]+@[^\s@/?#]+$/.test(text) },
  'postgres-url': {
    wanted: 'a URL such as postgres://user@host/database',
    validate: (text) => ['postgres:', 'postgresql:'].includes(URL.parse(text)?.protocol ?? ''),
  },
  'vapid-subject': {
    wanted: 'a mailto: or https: URI',
    validate: (text) => /^mailto:[^\s@]+@[^\s@]+$/.test(text) || URL.parse(text)?.protocol === 'https:',
  },
  'p256-public-key': {
    wanted: 'a public key of P-256, base64url, as `trunkline push-keys` prints it',
    validate: (text) => isBase64Url(text, 65) && Buffer.from(text, 'base64url')[0] === 4,
  },
  'p256-private-key': {
    wanted: 'a private key of P-256, base64url, as `trunkline push-keys` prints it',
    validate: (text) => isBase64Url(text, 32),
  },
  label: {
    wanted: 'a name of letters, digits and dashes',
    validate: (text) => /^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/i.test(text),
  },
  name: { wanted: 'a name without blanks, /, ? and #', validate: (text) => /^[^\s/?#]{1,100}$/.test(text) },
  address: {
    wanted: 'an address such as /public/menu',
    validate: (text) => /^\/[^\s/?#]+\/[^\s/?#]+$/.test(text),
  },
}
