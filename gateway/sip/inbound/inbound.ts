import type { Leg } from '../../calls/leg/leg.ts'
import { type Cause, type Code, codeOf, TrunklineError } from '../../core/errors/catalogue.ts'
import { parseNameAddress, parseSipUri, type SipUri, shownUri, userOf } from '../../core/sip-uri.ts'
import type { Party } from '../../model.ts'
import type { Refusals } from '../admission/refusals.ts'
import { sameOrigin } from '../dialog/dialogs.ts'
import { supportedTags, unsupportedTags } from '../dialog/extensions.ts'
import { readReplaces } from '../dialog/refer-to.ts'
import { timerAnswer } from '../dialog/session-timer.ts'
import { printable } from '../headers.ts'
import type { Connection } from '../link.ts'
import { sdpOf } from '../media/body.ts'
import { type Offer, readOffer } from '../media/inbound-audio.ts'
import type { SipRequest, SipResponse } from '../srf.ts'
import { callerOf } from './caller.ts'
import type { Door, Entry } from './door.ts'
import { type AgreedTimer, originOf, SetUp, type SetUpParts } from './set-up.ts'

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
export interface InboundParts extends Omit<SetUpParts, 'refuse'> {
  readonly door: Pick<Door, 'enter' | 'telTarget'>
  readonly refusals: Refusals
}

/** What was read of an INVITE at the door. */
interface Caller {
  readonly target: SipUri
  /** As its From says. */
  readonly from: Party
  readonly to: Party
  readonly sipCallId: string
}

/** Lets carriers' INVITEs in, or says why not: admission, SDP, media port, leg, in this order. */
export class Inbound {
  #parts: InboundParts
  #setUp: SetUp
  #settingUp = 0

  constructor(parts: InboundParts) {
    this.#parts = parts
    const refuse = this.#refuseFor.bind(this)
    this.#setUp = new SetUp({ ...parts, refuse })
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
    const target = isTel(request.uri) ? door.telTarget(request) : parseSipUri(request.uri)
    // The number in the log helps the operator to set up the trunk.
    if (!target && isTel(request.uri)) {
      refusals.refuse(response, 'unsupported_uri', { ...facts, requestUri: printable(request.uri) })
      return
    }
    const caller = readCaller(request, target)
    if (typeof caller === 'string') {
      refusals.refuse(response, 'bad_request', { ...facts, expected: caller })
      return
    }
    // RFC 3261 section 8.2.2.3.
    const unsupported = printable(unsupportedTags(request.get('Require'), link.capabilities).join(', '))
    if (unsupported !== '') {
      const headers = { Unsupported: unsupported, Supported: supportedTags(link.capabilities) }
      const found = { ...facts, required: unsupported, ...partiesOf(caller) }
      refusals.refuse(response, 'bad_extension', found, { headers })
      return
    }
    const entry = door.enter(request, caller.target, this.#settingUp)
    if ('refuse' in entry) {
      refusals.refuse(response, entry.refuse, { ...entry.facts, ...partiesOf(caller) }, entry)
      return
    }
    const replaces = this.#readReplaces(request, entry)
    if (typeof replaces === 'string') {
      entry.release()
      refusals.refuse(response, replaces, { ...facts, domain: entry.domain, ...partiesOf(caller) })
      return
    }
    const told = { ...facts, domain: entry.domain, ...partiesOf(caller) }
    const timer = this.#readTimer(request, response, told)
    const offer = timer === 'refused' ? timer : this.#readOffer(request, response, told)
    if (timer === 'refused' || offer === 'refused') {
      entry.release()
      return
    }
    this.#settingUp++
    void this.#setUp
      .run({ request, response, connection, entry, offer, timer, replaces, ...caller })
      .finally(() => this.#settingUp--)
  }

  /**
   * The leg that the INVITE wants to replace (RFC 3891 section 3). Only whoever is at its other end may do that: a carrier or an endpoint that
   * moves its own end of a call.
   */
  #readReplaces(request: SipRequest, entry: Entry): Leg | undefined | Code {
    const value = request.get('Replaces')
    if (value === undefined) return undefined
    const named = readReplaces(value)
    if (!named) return 'bad_request'
    const dialog = this.#parts.transfers.dialogs.find(named)
    if (!dialog?.leg.isAnswered || !dialog.leg.port) return 'unknown_dialog'
    if (!sameOrigin(dialog.origin, originOf(entry, request))) return 'not_permitted'
    return named.earlyOnly ? 'busy' : dialog.leg
  }

  /** What the session timer of the INVITE gets (RFC 4028 section 9); undefined where timers are not ours to run. */
  #readTimer(
    request: SipRequest,
    response: SipResponse,
    facts: Readonly<Record<string, unknown>>,
  ): AgreedTimer | undefined | 'refused' {
    const { timers, refusals } = this.#parts
    const answer = timers && timerAnswer(request, timers)
    if (!answer || !('refuse' in answer)) return answer
    const code = answer.refuse === 422 ? 'interval_too_small' : 'bad_request'
    const asked = printable(request.get('Session-Expires') ?? '', 64)
    refusals.refuse(response, code, { ...facts, sessionExpires: asked }, { headers: answer.headers })
    return 'refused'
  }

  #readOffer(
    request: SipRequest,
    response: SipResponse,
    facts: Readonly<Record<string, unknown>>,
  ): Offer | 'refused' {
    try {
      return readOffer(request, sdpOf(request))
    } catch (error) {
      this.#refuseFor(response, error, facts)
      return 'refused'
    }
  }

  #refuseFor(response: SipResponse, error: unknown, facts: Readonly<Record<string, unknown>>): void {
    const code = codeOf(error)
    const known = error instanceof TrunklineError
    const found = { ...facts, ...(known ? error.facts : { err: error }) }
    this.#parts.refusals.refuse(response, code, found, known ? { detail: error.message } : {})
  }
}

const partiesOf = ({ from, to }: Caller): Record<string, string> => ({
  from: printable(from.uri),
  to: printable(to.uri),
})

/** Whether a request-URI is a telephone number alone, as IMS trunks send it (RFC 3966). */
const isTel = (uri: string): boolean => /^tel:/i.test(uri)

/** Parts of an INVITE that admission needs; a text says what was expected. The agent's parser is a permissive one. */
const readCaller = (request: SipRequest, target: SipUri | undefined): Caller | string => {
  if (!target) return 'a SIP URI in the request line'
  const from = callerOf(request, false)
  if (!from) return 'one address in From'
  if (!parseNameAddress(request.get('To') ?? '')) return 'one address in To'
  if (!parseNameAddress(request.get('Contact') ?? '')) return 'one address in Contact'
  const sipCallId = request.get('Call-ID')
  if (!sipCallId) return 'a Call-ID'
  return {
    target,
    from,
    to: { uri: shownUri(target.bare), user: userOf(target), name: '' },
    sipCallId: printable(sipCallId, 256),
  }
}
