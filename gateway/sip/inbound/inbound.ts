import { readNameAddr } from '@trunkline/sip-agent/message'
import type { Leg } from '../../calls/leg/leg.ts'
import { type Code, codeOf, TrunklineError } from '../../core/errors/catalogue.ts'
import { parseSipUri, type SipUri, shownUri, userOf } from '../../core/sip-uri.ts'
import type { Party } from '../../model.ts'
import type { Admission, AdmittedCall } from '../admission/admission.ts'
import type { Refusals } from '../admission/refusals.ts'
import { isSameOrigin } from '../dialog/known-dialogs.ts'
import { supportedTags, unsupportedTags } from '../dialog/option-tags.ts'
import { readReplaces } from '../dialog/refer-to.ts'
import { timerAnswer } from '../dialog/session-timer.ts'
import { printable } from '../headers.ts'
import { type Offer, readOffer } from '../media/inbound-audio.ts'
import { sdpOf } from '../media/sdp-body.ts'
import type { SipRequest, SipResponse } from '../srf.ts'
import { type AgreedTimer, InboundSetup, type InboundSetupDeps, originOf } from './inbound-setup.ts'
import { callerOf } from './invite-headers.ts'

/** Collaborators and settings of {@link Inbound}. */
export interface InboundDeps extends Omit<InboundSetupDeps, 'refuse'> {
  readonly admission: Pick<Admission, 'admit' | 'telTarget'>
  readonly refusals: Refusals
}

/** Parties and identifiers read from an INVITE. */
interface InviteParties {
  readonly target: SipUri
  /** Caller as stated by From. */
  readonly from: Party
  readonly to: Party
  readonly sipCallId: string
}

/**
 * Handles inbound INVITEs: reads and checks the request, asks admission, and sets up the leg or refuses the
 * call.
 */
export class Inbound {
  #deps: InboundDeps
  #setup: InboundSetup
  #settingUp = 0

  constructor(deps: InboundDeps) {
    this.#deps = deps
    const refuse = this.#refuseFor.bind(this)
    this.#setup = new InboundSetup({ ...deps, refuse })
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
    const { refusals, admission, link } = this.#deps
    const { connection } = link
    if (!connection) return
    const target = isTel(request.uri) ? admission.telTarget(request) : parseSipUri(request.uri)
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
    const admitted = admission.admit(request, caller.target, this.#settingUp)
    if ('refuse' in admitted) {
      refusals.refuse(response, admitted.refuse, { ...admitted.facts, ...partiesOf(caller) }, admitted)
      return
    }
    const replaces = this.#readReplaces(request, admitted)
    if (typeof replaces === 'string') {
      admitted.release()
      refusals.refuse(response, replaces, { ...facts, domain: admitted.domain, ...partiesOf(caller) })
      return
    }
    const callFacts = { ...facts, domain: admitted.domain, ...partiesOf(caller) }
    const timer = this.#readTimer(request, response, callFacts)
    const offer = timer === 'refused' ? timer : this.#readOffer(request, response, callFacts)
    if (timer === 'refused' || offer === 'refused') {
      admitted.release()
      return
    }
    this.#settingUp++
    void this.#setup
      .setUp({ request, response, connection, admitted, offer, timer, replaces, ...caller })
      .finally(() => this.#settingUp--)
  }

  /**
   * Returns the leg that the INVITE replaces (RFC 3891 section 3). Only the party at the other end of that
   * leg may do so. That is a carrier or an endpoint which moves its own end of a call.
   */
  #readReplaces(request: SipRequest, admitted: AdmittedCall): Leg | undefined | Code {
    const value = request.get('Replaces')
    if (value === undefined) return undefined
    const named = readReplaces(value)
    if (!named) return 'bad_request'
    const dialog = this.#deps.transfers.dialogs.find(named)
    if (!dialog?.leg.isAnswered || !dialog.leg.port) return 'unknown_dialog'
    if (!isSameOrigin(dialog.origin, originOf(admitted, request))) return 'not_permitted'
    return named.earlyOnly ? 'busy' : dialog.leg
  }

  /**
   * Answers the session timer of the INVITE (RFC 4028 section 9); undefined if the gateway runs no timers.
   */
  #readTimer(
    request: SipRequest,
    response: SipResponse,
    facts: Readonly<Record<string, unknown>>,
  ): AgreedTimer | undefined | 'refused' {
    const { timers, refusals } = this.#deps
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
    this.#deps.refusals.refuse(response, code, found, known ? { detail: error.message } : {})
  }
}

const partiesOf = ({ from, to }: InviteParties): Record<string, string> => ({
  from: printable(from.uri),
  to: printable(to.uri),
})

/** Whether a request-URI is a bare telephone number, as IMS trunks send it (RFC 3966). */
const isTel = (uri: string): boolean => /^tel:/i.test(uri)

/**
 * Returns the parts of an INVITE that admission needs, or a text that says what was expected. The agent's
 * parser is permissive.
 */
const readCaller = (request: SipRequest, target: SipUri | undefined): InviteParties | string => {
  if (!target) return 'a SIP URI in the request line'
  const from = callerOf(request, false)
  if (!from) return 'one address in From'
  if (!readNameAddr(request.get('To') ?? '')) return 'one address in To'
  if (!readNameAddr(request.get('Contact') ?? '')) return 'one address in Contact'
  const sipCallId = request.get('Call-ID')
  if (!sipCallId) return 'a Call-ID'
  return {
    target,
    from,
    to: { uri: shownUri(target.bare), user: userOf(target), name: '' },
    sipCallId: printable(sipCallId, 256),
  }
}
