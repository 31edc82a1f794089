import type { Edge, WebRtc } from '../../media/types.ts'
import { newCallId, newLegId } from '../calls/ids.ts'
import { type CallId, Leg, type Party } from '../calls/leg.ts'
import type { Arrivals } from '../calls/ports.ts'
import type { Clock } from '../clock.ts'
import { type Cause, codeOf, TrunklineError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Door, Entry } from './door.ts'
import { printable } from './headers.ts'
import { type Offer, openAudio, readOffer } from './inbound-audio.ts'
import { InboundLeg } from './inbound-leg.ts'
import type { AgentLink, Connection } from './link.ts'
import type { Refusals } from './refusals.ts'
import { partyOf } from './registrar/index.ts'
import type { SipMedia } from './sip-media.ts'
import type { SipRequest, SipResponse } from './srf.ts'
import { parseNameAddress, parseSipUri, type SipUri, shownUri, userOf } from './uri.ts'

/** A leg's far side as the registry knows it. */
export interface RegisteredLeg {
  readonly connection: Connection
  /** Ends the leg as if its call had done so. */
  hangUp(cause: Cause): void
  /** The connection to the agent is gone for good. */
  lost(): void
}

/** The far sides that exist. */
export interface LegRegistry {
  add(leg: RegisteredLeg): void
  delete(leg: RegisteredLeg): void
}

/** What the door for inbound calls works with. */
export interface InboundParts {
  readonly link: Pick<AgentLink, 'srf' | 'connection'>
  readonly edge: Pick<Edge, 'open' | 'usage'>
  /** For clients that speak WebRTC; without it they are refused. */
  readonly webrtc?: Pick<WebRtc, 'answer' | 'offer'>
  readonly arrivals: Arrivals
  readonly door: Pick<Door, 'enter'>
  readonly refusals: Refusals
  readonly legs: LegRegistry
  readonly clock: Clock
  readonly log: Log
  readonly userAgent: string
}

/** What was read of an INVITE at the door. */
interface Caller {
  readonly target: SipUri
  readonly from: Party
  readonly to: Party
  readonly sipCallId: string
}

/** Lets carriers' INVITEs in, or says why not: admission, SDP, media port, leg, in this order. */
export class Inbound {
  #parts: InboundParts
  #settingUp = 0

  constructor(parts: InboundParts) {
    this.#parts = parts
  }

  /** Takes an INVITE outside any dialog. */
  handle(request: SipRequest, response: SipResponse): void {
    const facts = { source: request.source_address, transport: printable(request.protocol, 8) }
    try {
      this.#handle(request, response, facts)
    } catch (error) {
      this.#refuseFor(response, error, facts)
    }
  }

  #handle(request: SipRequest, response: SipResponse, facts: Readonly<Record<string, unknown>>): void {
    const { refusals, door, link } = this.#parts
    const { connection } = link
    if (!connection) return
    const caller = readCaller(request)
    if (typeof caller === 'string') {
      refusals.refuse(response, 'bad_request', { ...facts, expected: caller })
      return
    }
    // No extension is supported that could be required (RFC 3261 section 8.2.2.3).
    const required = printable(request.get('Require') ?? '')
    if (required !== '') {
      const headers = { Unsupported: required }
      refusals.refuse(response, 'bad_extension', { ...facts, required, ...partiesOf(caller) }, { headers })
      return
    }
    const entry = door.enter(request, caller.target, this.#settingUp)
    if ('refuse' in entry) {
      const { headers, quiet } = entry
      refusals.refuse(response, entry.refuse, { ...entry.facts, ...partiesOf(caller) }, { headers, quiet })
      return
    }
    const offer = this.#readOffer(request, response, {
      ...facts,
      domain: entry.domain,
      ...partiesOf(caller),
    })
    if (offer === 'refused') {
      entry.release()
      return
    }
    this.#settingUp++
    void this.#setUp({ request, response, connection, caller, entry, offer }).finally(() => this.#settingUp--)
  }

  #readOffer(
    request: SipRequest,
    response: SipResponse,
    facts: Readonly<Record<string, unknown>>,
  ): Offer | 'refused' {
    try {
      if (!request.body) return readOffer(request, undefined)
      const type = request.get('Content-Type')?.split(';')[0]?.trim().toLowerCase()
      if (type !== 'application/sdp')
        throw new TrunklineError('bad_sdp', 'A body of application/sdp expected.', {
          found: printable(type ?? '', 64),
        })
      return readOffer(request, request.body)
    } catch (error) {
      this.#refuseFor(response, error, facts)
      return 'refused'
    }
  }

  async #setUp(invite: {
    readonly request: SipRequest
    readonly response: SipResponse
    readonly connection: Connection
    readonly caller: Caller
    readonly entry: Entry
    readonly offer: Offer
  }): Promise<void> {
    const { request, response, connection, entry, offer } = invite
    const callId = newCallId()
    const facts = { call: callId, source: request.source_address, domain: entry.domain }
    let canceled = false
    request.on('cancel', () => {
      canceled = true
    })
    try {
      const media = await openAudio(this.#parts, callId, offer, { source: request.source_address })
      if (canceled || !connection.alive) {
        this.#parts.log.info({ ...facts, canceled }, 'the caller gave up before its call was set up')
        media.close()
        entry.release()
        return
      }
      this.#arrive({ ...invite, callId, media })
    } catch (error) {
      entry.release()
      this.#refuseFor(response, asPortError(error), facts)
    }
  }

  #arrive(invite: {
    readonly request: SipRequest
    readonly response: SipResponse
    readonly connection: Connection
    readonly caller: Caller
    readonly entry: Entry
    readonly callId: CallId
    readonly media: SipMedia
  }): void {
    const { request, response, connection, caller, entry, callId, media } = invite
    const { link, clock, userAgent, legs, arrivals } = this.#parts
    const { to } = caller
    const { endpoint, carrier } = entry
    const leg = new Leg({
      id: newLegId(),
      kind: 'sip',
      direction: 'inbound',
      from: endpoint ? partyOf(endpoint) : caller.from,
      to,
      now: () => clock.now(),
    })
    const log = this.#parts.log.child({ call: callId, leg: leg.id })
    if (media.behindNat)
      log.info(
        { source: request.source_address },
        'the SDP has a private address; audio is learnt from the source of the signalling',
      )
    const side = new InboundLeg({
      ...{ leg, media, request, response, srf: link.srf, connection, clock, log, userAgent },
      onReleased: () => legs.delete(side),
    })
    leg.attach(side)
    leg.whenGone(entry.release)
    leg.whenGone(() => media.close())
    media.onFault((error) => leg.end({ code: codeOf(error), detail: error.message }))
    legs.add(side)
    if (!media.isWaiting) leg.setPort(media.port)
    try {
      arrivals.arrive({
        leg,
        callId,
        projectId: entry.projectId,
        plan: entry.plan,
        headers: applicationHeadersOf(request),
        sip: { callId: caller.sipCallId, domain: entry.domain, sourceAddress: request.source_address },
        ...(carrier && { carrier: carrier.name }),
        ...(endpoint && { endpointId: endpoint.id }),
      })
    } catch (error) {
      log.error({ err: error }, 'the call could not be started')
      leg.end({ code: 'internal' })
    }
  }

  #refuseFor(response: SipResponse, error: unknown, facts: Readonly<Record<string, unknown>>): void {
    const code = codeOf(error)
    const known = error instanceof TrunklineError
    this.#parts.refusals.refuse(
      response,
      code,
      { ...facts, ...(known ? error.facts : { err: error }) },
      known ? { detail: error.message } : {},
    )
  }
}

/** The edge's own error for a range that is used up, in the words of the catalogue. */
export const asPortError = (error: unknown): unknown =>
  error instanceof Error && 'code' in error && error.code === 'no_ports'
    ? new TrunklineError('no_ports', undefined, {}, error)
    : error

const partiesOf = ({ from, to }: Caller): Record<string, string> => ({
  from: printable(from.uri),
  to: printable(to.uri),
})

/** What the door needs of an INVITE; a text says what was expected. The agent's parser is a permissive one. */
const readCaller = (request: SipRequest): Caller | string => {
  const target = parseSipUri(request.uri)
  if (!target) return 'a SIP URI in the request line'
  const from = parseNameAddress(request.get('From') ?? '')
  if (!from) return 'one address in From'
  if (!parseNameAddress(request.get('To') ?? '')) return 'one address in To'
  if (!parseNameAddress(request.get('Contact') ?? '')) return 'one address in Contact'
  const sipCallId = request.get('Call-ID')
  if (!sipCallId) return 'a Call-ID'
  return {
    target,
    from: { uri: shownUri(from.uri), user: callerUser(from.uri), name: from.name },
    to: { uri: shownUri(target.bare), user: userOf(target), name: '' },
    sipCallId: printable(sipCallId, 256),
  }
}

const callerUser = (uri: string): string => {
  const parsed = parseSipUri(uri)
  if (parsed) return userOf(parsed)
  return /^tel:([^;]+)/i.exec(uri)?.[1] ?? ''
}

const applicationHeadersOf = (request: SipRequest): { name: string; value: string }[] =>
  Object.entries(request.msg.headers)
    .filter(([name]) => /^x-/i.test(name))
    .map(([name, value]) => ({ name, value: printable(String(value), 1_024) }))
