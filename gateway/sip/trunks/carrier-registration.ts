import { randomUUID } from 'node:crypto'
import { readNameAddr } from '@trunkline/sip-agent/message'
import { parseSipUri } from '../../core/sip-uri.ts'
import { DigestSession } from '../digest/digest-session.ts'
import { quotedName, splitList } from '../headers.ts'
import { problemOf } from '../sip-causes.ts'
import type { Carrier } from './carrier.ts'
import type { SendOutcome } from './carrier-requests.ts'
import { OutboundRegistration, type RegisterResult } from './outbound-registration.ts'
import { retryAfterMs } from './retry-after.ts'
import type { TrunkDeps } from './trunk-deps.ts'

/**
 * Returns the registration with one carrier, and the function that cancels the wait for a response. All
 * REGISTERs go to the carrier's first target, with the same Call-ID and a rising CSeq (RFC 3261 section
 * 10.2.4). Returns undefined if the carrier has no account to register.
 */
export const registrationOf = (
  carrier: Carrier,
  { requests, random, clock, log: gatewayLog }: TrunkDeps,
): { readonly registration: OutboundRegistration; giveUp(): void } | undefined => {
  const { register, identity, auth } = carrier.config
  const [registrar] = carrier.targets
  const user = typeof identity.from === 'object' ? identity.from.user : auth?.username
  if (!register || !registrar || user === undefined) return undefined
  const log = gatewayLog.child({ carrier: carrier.name })
  const account = `${encodeURIComponent(user).replaceAll('%2B', '+')}`
  const host = identity.host ?? registrar.uri.host
  const address = `<sip:${account}@${host.includes(':') ? `[${host}]` : host}>`
  const digest = new DigestSession(carrier.credentials)
  const callId = randomUUID()
  const tag = randomUUID().slice(0, 8)
  let sequence = 0
  let giveUp = () => {}
  const send = (expiresMs: number, done: (result: RegisterResult) => void) => {
    const headers = () => ({
      From: `${quotedName('')}${address};tag=${tag}`,
      To: address,
      'Call-ID': callId,
      CSeq: `${++sequence} REGISTER`,
      Contact: `<sip:${account}@localhost>`,
      Expires: String(Math.ceil(expiresMs / 1_000)),
    })
    const request = { carrier, target: registrar, method: 'REGISTER', headers, digest }
    giveUp = requests.send(request, (outcome) => done(resultOf(outcome)))
  }
  const registration = new OutboundRegistration({ expiresMs: register.expiresMs, send, clock, random, log })
  return { registration, giveUp: () => giveUp() }
}

const resultOf = (outcome: SendOutcome): RegisterResult => {
  if (outcome.kind !== 'final') return { kind: 'failed', why: outcome.why }
  const { response, sent } = outcome
  const seconds = (name: string) => {
    const found = /^\s*(\d{1,9})\s*$/.exec(response.get(name) ?? '')?.[1]
    return found === undefined ? undefined : Number(found) * 1_000
  }
  const contact = grantedMs(response.get('Contact') ?? '', sent?.get('Contact') ?? '')
  return {
    kind: 'final',
    status: response.status,
    grantedMs: contact ?? seconds('Expires'),
    minExpiresMs: seconds('Min-Expires'),
    retryAfterMs: retryAfterMs(response.get('Retry-After')),
    why: problemOf({ res: response }),
  }
}

/**
 * Returns the time in ms that the carrier has granted to the gateway's contact. `listed`: Contact of the
 * response, with all contacts of the account. `ours`: Contact of the REGISTER.
 */
const grantedMs = (listed: string, ours: string): number | undefined => {
  const own = addressOf(ours)
  for (const entry of splitList(listed)) {
    const address = readNameAddr(entry)
    const seconds = /^"?(\d{1,9})"?$/.exec(address?.params.get('expires') ?? '')?.[1]
    if (address && seconds !== undefined && addressOf(entry) === own) return Number(seconds) * 1_000
  }
  return undefined
}

const addressOf = (contact: string): string | undefined => {
  const uri = parseSipUri(readNameAddr(contact)?.uri ?? '')
  return uri && `${uri.user}@${uri.host}:${uri.port ?? 5060}`
}
