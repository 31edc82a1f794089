import { characterClasses, isAt, toLowerCase, trim } from './characters.ts'
import { SipParseError } from './sip-parse-error.ts'
import { type Params, parseParams, splitOutside } from './text.ts'
import { parseHostPort } from './uri.ts'

/** One Via value (RFC 3261 20.42). */
export interface Via {
  /** Upper case: `UDP`, `TCP`, ... */
  readonly transport: string
  readonly host: string
  readonly port?: number
  readonly branch: string
  readonly params: Params
}

/** Beginning of every branch of RFC 3261 (8.1.1.7); an RFC 2543 element does not use it. */
export const magicCookie = 'z9hG4bK'

const protocolPattern = /^SIP\s*\/\s*2\.0\s*\/\s*([A-Za-z0-9\-.!%*_+`'~]+)\s+(\S.*)$/i

const usual = 'SIP/2.0/'
const usualTransports: ReadonlySet<string> = new Set(['UDP', 'TCP', 'TLS', 'WS', 'WSS'])

/** Splits `SIP/2.0/UDP host:port`. White space around the slashes is allowed, but rare. */
const splitProtocol = (head: string): { transport: string; sentBy: string } => {
  if (head.startsWith(usual)) {
    let end = usual.length
    while (isAt(head, end, characterClasses.token)) end++
    if (end > usual.length && head.charCodeAt(end) === 32) {
      return { transport: head.slice(usual.length, end), sentBy: trim(head, end) }
    }
  }
  const match = protocolPattern.exec(head)
  if (!match) throw new SipParseError('Via', 'expected SIP/2.0/<transport> <host>')
  return { transport: match[1] as string, sentBy: (match[2] as string).trim() }
}

/** Parses one Via value. Throws {@link SipParseError}. */
export const parseVia = (value: string): Via => {
  const [head = '', ...pieces] = splitOutside(value, ';', 'Via')
  const { transport, sentBy } = splitProtocol(head)
  const params = parseParams(pieces, 'Via')
  const branch = params.get('branch') ?? ''
  if (branch === magicCookie) throw new SipParseError('Via', 'the branch is empty')
  const { host, port } = parseHostPort(sentBy, 'Via')
  return {
    transport: usualTransports.has(transport) ? transport : transport.toUpperCase(),
    host,
    port,
    branch,
    params,
  }
}

/**
 * Returns the top Via with `received` and `rport` (RFC 3261 18.2.1, RFC 3581 4). Both parameters are always
 * written: responses go to the source of the request, even if the sender did not ask for `rport`.
 */
export const completeVia = (value: string, via: Via, address: string, port: number): string => {
  if (via.host === address && via.params.get('rport') === String(port)) return value
  let kept = ''
  for (const piece of splitOutside(value, ';', 'Via')) {
    const equals = piece.indexOf('=')
    const name = toLowerCase(equals < 0 ? piece : piece.slice(0, equals).trimEnd())
    if (name !== 'rport' && name !== 'received') kept += kept === '' ? piece : `;${piece}`
  }
  const received = via.host === address ? '' : `;received=${address}`
  return `${kept}${received};rport=${port}`
}
