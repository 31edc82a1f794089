import type { AudioCodec } from '../../../media/types.ts'
import type { Arrivals } from '../../calls/call/arrival.ts'
import { newCallId } from '../../calls/call/ids.ts'
import type { Leg } from '../../calls/leg/leg.ts'
import { type Cause, type Code, codeOf, TrunklineError } from '../../core/errors/catalogue.ts'
import { parseSipUri } from '../../core/sip-uri.ts'
import type { CallId } from '../../model.ts'
import type { Admission } from '../admission/admission.ts'
import type { AdmittedCall } from '../admission/call-counts.ts'
import type { Refusals } from '../admission/refusals.ts'
import { isSameOrigin } from '../dialog/known-dialogs.ts'
import { LegSession } from '../dialog/leg-session.ts'
import { methodsOf, supportedTags, unsupportedTags } from '../dialog/option-tags.ts'
import { readReplaces } from '../dialog/refer-to.ts'
import { type SessionTimerSettings, type TimerAnswer, timerAnswer } from '../dialog/session-timer.ts'
import type { Transfers } from '../dialog/transfers.ts'
import { printable } from '../headers.ts'
import { audioRules } from '../media/audio-far-end.ts'
import { sdpOf } from '../media/sdp-body.ts'
import { type Offer, readOffer, type SipAudio } from '../media/sip-audio.ts'
import { privateAddressMessage, type SipMedia } from '../media/sip-media.ts'
import { causeOfCancel } from '../sip-causes.ts'
import type { SipContext } from '../sip-context.ts'
import type { SipLegs } from '../sip-legs.ts'
import type { SipRequest, SipResponse } from '../srf.ts'
import type { LikelyCodecs } from '../trunks/likely-codecs.ts'
import { InboundInvite, type InviteParties, readParties } from './inbound-invite.ts'
import { InboundLeg } from './inbound-leg.ts'

/** Collaborators of {@link Inbound}. */
export interface InboundDeps {
  readonly context: SipContext
  readonly legs: SipLegs
  readonly admission: Pick<Admission, 'admit' | 'telTarget'>
  readonly refusals: Pick<Refusals, 'refuse'>
  readonly audio: Pick<SipAudio, 'answer'>
  readonly arrivals: Arrivals
  /** Transfers that peers may request. */
  readonly transfers: Transfers
  /** Codecs that the callee probably speaks; default: unknown. */
  readonly likely?: Pick<LikelyCodecs, 'of'>
}

/** An agreed session timer, and its headers. */
type AgreedTimer = Exclude<TimerAnswer, { readonly refuse: unknown }>

/** Terms of an INVITE for the setup of its leg. */
export interface InviteTerms {
  readonly offer: Offer
  /** Default: the gateway runs no session timer. */
  readonly timer?: AgreedTimer | undefined
  /** Leg that the new leg replaces (RFC 3891); default: the INVITE starts a new call. */
  readonly replaces?: Leg | undefined
}

type Facts = Readonly<Record<string, unknown>>

/**
 * Handles inbound INVITEs. Reads and checks the request, and applies the admission rules. Then sets up audio,
 * leg and call, or rejects the call.
 */
export class Inbound {
  readonly #deps: InboundDeps
  readonly #timers: SessionTimerSettings | undefined
  #settingUp = 0

  /** `timers`: session timers on the gateway's clock; default: the agent runs its own. */
  constructor(deps: InboundDeps, timers?: SessionTimerSettings) {
    this.#deps = deps
    this.#timers = timers
  }

  /** Takes an INVITE outside any dialog. */
  handle(request: SipRequest, response: SipResponse): void {
    const facts = {
      source: request.source_address,
      transport: printable(request.protocol, 8),
      sipCallId: printable(request.get('Call-ID') ?? '', 256),
    }
    try {
      this.#handle(request, response, facts)
    } catch (error) {
      this.#refuseFor(response, error, facts)
    }
  }

  #handle(request: SipRequest, response: SipResponse, facts: Facts): void {
    const { refusals, admission } = this.#deps
    const { connection, capabilities } = this.#deps.context.link
    if (!connection) return
    const target = isTel(request.uri) ? admission.telTarget(request) : parseSipUri(request.uri)
    // The log line has the number, so that the operator can configure a domain for it.
    if (!target && isTel(request.uri)) {
      refusals.refuse(response, 'unsupported_uri', { ...facts, requestUri: printable(request.uri) })
      return
    }
    const parties = readParties(request, target)
    if (typeof parties === 'string') {
      refusals.refuse(response, 'bad_request', { ...facts, expected: parties })
      return
    }
    const named = namesOf(parties)
    // RFC 3261 section 8.2.2.3.
    const unsupported = printable(unsupportedTags(request.get('Require'), capabilities).join(', '))
    if (unsupported !== '') {
      const headers = { Unsupported: unsupported, Supported: supportedTags(capabilities) }
      refusals.refuse(response, 'bad_extension', { ...facts, required: unsupported, ...named }, { headers })
      return
    }
    const admitted = admission.admit(request, parties.target, this.#settingUp)
    if ('refuse' in admitted) {
      refusals.refuse(
        response,
        admitted.refuse,
        { ...admitted.facts, ...named, sipCallId: facts.sipCallId },
        admitted,
      )
      return
    }
    const invite = new InboundInvite(request, response, connection, admitted, parties)
    const terms = this.#readTerms(invite, { ...facts, domain: admitted.domain, ...named })
    if (!terms) {
      admitted.release()
      return
    }
    this.#settingUp++
    void this.setUp(invite, terms).finally(() => this.#settingUp--)
  }

  /**
   * Opens the audio of an admitted INVITE, and makes its leg and call. On a failure, responds to the INVITE
   * with an error. The promise always resolves.
   */
  async setUp(invite: InboundInvite, terms: InviteTerms): Promise<void> {
    const { request, response, connection, admitted } = invite
    const { clock } = this.#deps.context
    // Only ports of the same call can be joined.
    const callId = (terms.replaces?.port?.group as CallId | undefined) ?? newCallId()
    let gone: Cause | undefined
    request.on('cancel', (cancel) => {
      gone = causeOfCancel(cancel?.get('Reason'))
    })
    let media: SipMedia | undefined
    try {
      media = await this.#deps.audio.answer(callId, terms.offer, {
        source: request.source_address,
        srtp: invite.srtp,
        rules: audioRules(admitted),
        likely: this.#likelyCodecs(admitted),
        ...(admitted.standing === 'untrusted' && {
          untrusted: { clock, isConfirmed: !admitted.isUnconfirmed },
        }),
      })
      if (!connection.isAlive) gone ??= { code: 'control_lost' }
      if (gone) {
        media.close()
        this.#abandon(invite, terms, callId, gone)
      } else this.#arrive(invite, terms, callId, media)
    } catch (error) {
      media?.close()
      admitted.release()
      const facts = { call: callId, source: request.source_address, domain: admitted.domain }
      this.#refuseFor(response, error, facts)
    }
  }

  /** Makes the leg, and hands it to a new call, or to the call of the leg that it replaces. */
  #arrive(invite: InboundInvite, terms: InviteTerms, callId: CallId, media: SipMedia): void {
    const { admitted } = invite
    const leg = this.#legOf(invite)
    const log = this.#deps.context.log.child({ call: callId, leg: leg.id })
    if (media.isBehindNat)
      log.info(
        { event: 'media.private-address-found', source: invite.request.source_address },
        privateAddressMessage,
      )
    const { clock, headers } = this.#deps.context
    this.#attach(
      invite,
      terms,
      new LegSession(leg, media, { connection: invite.connection, clock, log, headers }),
    )
    if (!media.isWaiting) leg.setPort(media.port)
    if (terms.replaces) {
      this.#replace(leg, terms.replaces)
        .then((isReplaced) =>
          log.info(
            { event: 'call.replace-requested', replaced: terms.replaces?.id, taken: isReplaced },
            'INVITE with Replaces',
          ),
        )
        .catch((error: unknown) => {
          log.error({ event: 'call.replace-failed', err: error }, 'leg not replaced')
          leg.end({ code: 'internal' })
        })
        // The leg joins a call that is counted already, so its own count ends.
        .finally(admitted.releaseCall)
      return
    }
    try {
      this.#deps.arrivals.arrive(invite.arrival(leg, callId))
    } catch (error) {
      log.error({ event: 'call.start-failed', err: error }, 'call not started')
      leg.end({ code: 'internal' })
      admitted.releaseCall()
    }
  }

  /**
   * Ends a call whose caller left before the leg was set up. The call gets a CDR, but an INVITE with Replaces
   * does not.
   */
  #abandon(invite: InboundInvite, { replaces }: InviteTerms, callId: CallId, cause: Cause): void {
    invite.admitted.release()
    const leg = this.#legOf(invite)
    this.#deps.context.log.info(
      { event: 'call.abandoned', call: callId, leg: leg.id, code: cause.code },
      'caller gone before the call was set up',
    )
    leg.ended(cause)
    if (!replaces) this.#deps.arrivals.arrive(invite.arrival(leg, callId))
  }

  #legOf(invite: InboundInvite): Leg {
    const leg = this.#deps.legs.create('inbound', invite.caller, invite.callee)
    invite.describe(leg)
    return leg
  }

  /** Connects the leg with its SIP side. The end of the leg closes its audio and ends its count. */
  #attach(invite: InboundInvite, { timer }: InviteTerms, session: LegSession): void {
    const { request, response, admitted, trust } = invite
    const { context, legs, transfers } = this.#deps
    const { srf, capabilities } = context.link
    const { leg, media } = session
    const options = {
      reliability: invite.reliability(capabilities),
      farEnd: context.headers.farEnd(admitted.carrier && { kind: 'carrier', name: admitted.carrier.name }),
      answerHeaders: { Supported: supportedTags(capabilities), ...timer?.headers },
      terms: {
        ...(this.#timers && { timer: { settings: this.#timers, terms: timer?.terms } }),
        allowsUpdate: methodsOf(request.get('Allow')).includes('UPDATE'),
        transferor: transfers.transferor(invite.origin),
      },
      ...(trust && { trust }),
      ...(admitted.isUnconfirmed && { onConfirmed: admitted.onConfirmed }),
    }
    const side = new InboundLeg(session, { request, response, srf }, options, () => legs.delete(side))
    leg.attach(side)
    leg.whenGone(admitted.releaseLeg)
    leg.whenGone(() => media.close())
    media.onFault((error) => leg.end({ code: codeOf(error), detail: error.message }))
    legs.add(side)
  }

  /**
   * Answers at once, without ringing: the caller takes over an answered call (RFC 3891 section 3). Resolves
   * with false, with the leg ended, if the old leg is gone.
   */
  async #replace(leg: Leg, old: Leg): Promise<boolean> {
    await leg.answer()
    const isReplaced = leg.isAnswered && old.replaced(leg)
    if (!isReplaced) leg.end({ code: 'unknown_dialog' })
    return isReplaced
  }

  /** Returns the codecs that the callee probably speaks. */
  #likelyCodecs({ plan, projectId }: AdmittedCall): readonly AudioCodec[] {
    return plan.kind === 'dial' ? (this.#deps.likely?.of(plan.to, projectId) ?? []) : []
  }

  /** Reads Replaces, the session timer and the offer. Returns undefined if one of them is rejected. */
  #readTerms(invite: InboundInvite, facts: Facts): InviteTerms | undefined {
    const { request, response } = invite
    const replaces = this.#readReplaces(invite)
    if (typeof replaces === 'string') {
      this.#deps.refusals.refuse(response, replaces, facts)
      return undefined
    }
    const timer = this.#timers && timerAnswer(request, this.#timers)
    if (timer && 'refuse' in timer) {
      const code = timer.refuse === 422 ? 'interval_too_small' : 'bad_request'
      const sessionExpires = printable(request.get('Session-Expires') ?? '', 64)
      this.#deps.refusals.refuse(response, code, { ...facts, sessionExpires }, { headers: timer.headers })
      return undefined
    }
    try {
      return { offer: readOffer(request, sdpOf(request)), timer, replaces }
    } catch (error) {
      this.#refuseFor(response, error, facts)
      return undefined
    }
  }

  /**
   * Returns the leg that the INVITE replaces (RFC 3891 section 3). Only the party at the other end of that
   * leg may do so. That is a carrier or an endpoint which moves its own end of a call.
   */
  #readReplaces({ request, origin }: InboundInvite): Leg | undefined | Code {
    const value = request.get('Replaces')
    if (value === undefined) return undefined
    const named = readReplaces(value)
    if (!named) return 'bad_request'
    const dialog = this.#deps.transfers.dialogs.find(named)
    if (!dialog?.leg.isAnswered || !dialog.leg.port) return 'unknown_dialog'
    if (!isSameOrigin(dialog.origin, origin)) return 'not_permitted'
    return named.isEarlyOnly ? 'busy' : dialog.leg
  }

  #refuseFor(response: SipResponse, error: unknown, facts: Facts): void {
    const code = codeOf(error)
    const isCatalogued = error instanceof TrunklineError
    const found = { ...facts, ...(isCatalogued ? error.facts : { err: error }) }
    this.#deps.refusals.refuse(response, code, found, isCatalogued ? { detail: error.message } : {})
  }
}

const namesOf = ({ from, to }: InviteParties): Record<string, string> => ({
  from: printable(from.uri),
  to: printable(to.uri),
})

/** Whether a request-URI is a bare telephone number, as IMS trunks send it (RFC 3966). */
const isTel = (uri: string): boolean => /^tel:/i.test(uri)
