import { SipParseError } from './error.ts'
import { type Params, parseParams, splitOutside } from './text.ts'
import { formatHost, parseHostPort } from './uri.ts'

/** One Via value (RFC 3261 20.42). */
export interface Via {
  /** Upper case: `UDP`, `TCP`, ... */
  readonly transport: string
  readonly host: string
  readonly port?: number
  readonly branch: string
  readonly params: Params
}

/** The start of every branch made by RFC 3261 (8.1.1.7); its absence tells an RFC 2543 element. */
export const magicCookie = 'z9hG4bK'

const protocolPattern = /^SIP\s*\/\s*2\.0\s*\/\s*([A-Za-z0-9\-.!%*_+`'~]+)\s+(.+)$/i

/** Parses one Via value. Throws {@link SipParseError}. */
export const parseVia = (value: string): Via => {
  const [head = '', ...pieces] = splitOutside(value, ';', 'Via')
  const match = protocolPattern.exec(head)
  if (!match) throw new SipParseError('Via', 'expected SIP/2.0/<transport> <host>')
  const params = parseParams(pieces, 'Via')
  const branch = params.get('branch') ?? ''
  if (branch === magicCookie) throw new SipParseError('Via', 'the branch is empty')
  const { host, port } = parseHostPort((match[2] as string).trim(), 'Via')
  return { transport: (match[1] as string).toUpperCase(), host, port, branch, params }
}

/**
 * The top Via with `received` and `rport` filled in (RFC 3261 18.2.1, RFC 3581 4). Both are always written: answers
 * go to where the request came from, whether the sender asked for it or not.
 */
export const completeVia = (value: string, via: Via, address: string, port: number): string => {
  const rport = via.params.get('rport') === String(port)
  if (rport && via.host === address) return value
  const kept = value
    .split(';')
    .filter((piece) => !/^\s*(?:rport|received)\s*(?:=|$)/i.test(piece))
    .join(';')
  const received = via.host === address ? '' : `;received=${formatHost(address).replace(/[[\]]/g, '')}`
  return `${kept}${received};rport=${port}`
}
