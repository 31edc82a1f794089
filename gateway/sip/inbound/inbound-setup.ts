import { readNameAddr } from '@trunkline/sip-agent/message'
import type { AudioCodec, Edge, WebRtc } from '../../../media/types.ts'
import type { Arrival, Arrivals } from '../../calls/call/arrival.ts'
import { newCallId, newLegId } from '../../calls/call/ids.ts'
import { Leg } from '../../calls/leg/leg.ts'
import type { Clock } from '../../core/clock.ts'
import { type Cause, codeOf } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import { parseSipUri } from '../../core/sip-uri.ts'
import type { CallId, Party } from '../../model.ts'
import type { AdmittedCall } from '../admission/admission.ts'
import { partyOf } from '../admission/dial-plan.ts'
import type { AgentLink, Connection } from '../agent-link.ts'
import type { DialogOrigin } from '../dialog/known-dialogs.ts'
import { hasExtension, methodsOf, optionTags, supportedTags } from '../dialog/option-tags.ts'
import type { SessionTimerSettings, TimerAnswer } from '../dialog/session-timer.ts'
import type { Transfers } from '../dialog/transfers.ts'
import type { DialogTrust } from '../digest/dialog-digest.ts'
import { farEndHeader } from '../far-end-header.ts'
import type { LegRegistry } from '../leg-registry.ts'
import { audioRules } from '../media/audio-far-end.ts'
import { type Offer, openAudio } from '../media/inbound-audio.ts'
import { asPortError } from '../media/port-error.ts'
import { privateAddressMessage, type SipMedia } from '../media/sip-media.ts'
import { narrowed, type SrtpPolicy, srtpPolicy } from '../sdp/srtp-policy.ts'
import { causeOfCancel } from '../sip-causes.ts'
import type { SipRequest, SipResponse } from '../srf.ts'
import type { CarrierDirectory } from '../trunks/carrier-directory.ts'
import type { LikelyCodecs } from '../trunks/likely-codecs.ts'
import { InboundLeg } from './inbound-leg.ts'
import { callerOf, keptHeaders, maxForwardsOf } from './invite-headers.ts'
import type { Reliability } from './provisionals.ts'

/** An agreed session timer, and its headers. */
export type AgreedTimer = Exclude<TimerAnswer, { readonly refuse: unknown }>

/** Collaborators and settings of {@link InboundSetup}. */
export interface InboundSetupDeps {
  readonly link: Pick<AgentLink, 'srf' | 'connection' | 'capabilities'>
  readonly edge: Pick<Edge, 'open'>
  /** For clients that speak WebRTC; without it they are refused. */
  readonly webrtc?: Pick<WebRtc, 'answer' | 'offer'>
  readonly arrivals: Arrivals
  readonly legs: LegRegistry
  /** Codecs that the callee probably speaks; default: unknown. */
  readonly likely?: Pick<LikelyCodecs, 'of'>
  /** Carriers whose credentials answer challenges inside their calls; default none. */
  readonly carriers?: Pick<CarrierDirectory, 'byName'>
  /** Time after which a caller may try again after a 503; default 10 s. */
  readonly retryAfterMs?: () => number
  readonly clock: Clock
  readonly log: Log
  readonly userAgent: string
  /** Session timers on the gateway's clock; undefined: the agent runs its own. */
  readonly timers: SessionTimerSettings | undefined
  /** Transfers that peers may request. */
  readonly transfers: Transfers
  /** Refuses the INVITE, with the facts found. */
  readonly refuse: (response: SipResponse, error: unknown, facts: Readonly<Record<string, unknown>>) => void
}

/** An INVITE that was let in. */
export interface InviteContext {
  readonly request: SipRequest
  readonly response: SipResponse
  readonly connection: Connection
  readonly admitted: AdmittedCall
  /** Caller as stated by From. */
  readonly from: Party
  readonly to: Party
  readonly sipCallId: string
  readonly offer: Offer
  readonly timer: AgreedTimer | undefined
  /** The leg whose place the new one takes (RFC 3891); undefined: a call of its own. */
  readonly replaces: Leg | undefined
}

/** Makes legs of INVITEs that were let in: audio with its answer or offer, leg, call. */
export class InboundSetup {
  #deps: InboundSetupDeps

  constructor(deps: InboundSetupDeps) {
    this.#deps = deps
  }

  /** Never rejects; every failure refuses the INVITE. */
  async setUp(context: InviteContext): Promise<void> {
    const { request, response, connection, admitted, offer, replaces } = context
    // Only ports of the same call can be joined.
    const callId = (replaces?.port?.group as CallId | undefined) ?? newCallId()
    const facts = { call: callId, source: request.source_address, domain: admitted.domain }
    let gone: Cause | undefined
    request.on('cancel', (cancel) => {
      gone = causeOfCancel(cancel?.get('Reason'))
    })
    let media: SipMedia | undefined
    try {
      const source = request.source_address
      media = await openAudio(this.#deps, callId, offer, {
        source,
        srtp: srtpOf(context),
        rules: audioRules(admitted),
        likely: this.#likely(admitted),
        ...(admitted.standing === 'stranger' && {
          untrusted: { clock: this.#deps.clock, isConfirmed: !admitted.isUnconfirmed },
        }),
      })
      if (!connection.isAlive) gone ??= { code: 'control_lost' }
      if (gone) {
        media.close()
        this.#missed(context, callId, gone)
      } else this.#arrive(context, callId, media)
    } catch (error) {
      media?.close()
      admitted.release()
      this.#deps.refuse(response, asPortError(error), facts)
    }
  }

  /**
   * Ends a call whose caller left before the leg was set up. The call gets a CDR, but an INVITE with Replaces
   * does not.
   */
  #missed(context: InviteContext, callId: CallId, cause: Cause): void {
    context.admitted.release()
    const leg = this.#legOf(context)
    const { code } = cause
    this.#deps.log.info(
      { event: 'call.abandoned', call: callId, leg: leg.id, code },
      'caller gone before the call was set up',
    )
    leg.ended(cause)
    if (!context.replaces) this.#deps.arrivals.arrive(arrivalOf(context, leg, callId))
  }

  /** Returns the codecs that the callee probably speaks. */
  #likely({ plan, projectId }: AdmittedCall): readonly AudioCodec[] {
    return plan.kind === 'dial' ? (this.#deps.likely?.of(plan.to, projectId) ?? []) : []
  }

  #arrive(context: InviteContext, callId: CallId, media: SipMedia): void {
    const { request, admitted } = context
    const leg = this.#legOf(context)
    const log = this.#deps.log.child({ call: callId, leg: leg.id })
    if (media.isBehindNat)
      log.info(
        { event: 'media.private-address-found', source: request.source_address },
        privateAddressMessage,
      )
    this.#attach(context, leg, media, log)
    if (!media.isWaiting) leg.setPort(media.port)
    if (context.replaces) {
      this.#takePlace(leg, context.replaces, log)
        .catch((error: unknown) => {
          log.error({ event: 'call.replace-failed', err: error }, 'leg not replaced')
          leg.end({ code: 'internal' })
        })
        // The leg joins another call, which is counted already.
        .finally(admitted.releaseCall)
      return
    }
    try {
      this.#deps.arrivals.arrive(arrivalOf(context, leg, callId))
    } catch (error) {
      log.error({ event: 'call.start-failed', err: error }, 'call not started')
      leg.end({ code: 'internal' })
      admitted.releaseCall()
    }
  }

  /** Answers at once, without ringing: the caller takes over an answered call (RFC 3891 section 3). */
  async #takePlace(leg: Leg, old: Leg, log: Log): Promise<void> {
    await leg.answer()
    const taken = leg.isAnswered && old.replaced(leg)
    log.info({ event: 'call.replace-requested', replaced: old.id, taken }, 'INVITE with Replaces')
    if (!taken) leg.end({ code: 'unknown_dialog' })
  }

  #legOf({ request, admitted, from, to, sipCallId }: InviteContext): Leg {
    const { endpoint, carrier } = admitted
    const caller = endpoint ? partyOf(endpoint) : (callerOf(request, isTrusted(admitted)) ?? from)
    const party = { ...caller, ...(from.private && { private: true }) }
    const now = () => this.#deps.clock.now()
    const leg = new Leg({ id: newLegId(), kind: 'sip', direction: 'inbound', from: party, to, now })
    const maxForwards = maxForwardsOf(request)
    leg.note({
      sipCallId,
      ...(carrier && { carrier: carrier.name }),
      ...(maxForwards !== undefined && { maxForwards }),
    })
    return leg
  }

  #attach(context: InviteContext, leg: Leg, media: SipMedia, log: Log): void {
    const { request, response, connection, admitted, timer } = context
    const { link, clock, userAgent, legs, timers } = this.#deps
    const side = new InboundLeg({
      leg,
      media,
      request,
      response,
      srf: link.srf,
      connection,
      clock,
      log,
      userAgent,
      reliability: reliabilityOf(request, link),
      farEnd: farEndHeader(
        admitted.carrier && { kind: 'carrier', name: admitted.carrier.name },
        link.capabilities,
      ),
      answerHeaders: { Supported: supportedTags(link.capabilities), ...timer?.headers },
      dialog: {
        ...(timers && { timers: { settings: timers, terms: timer?.terms } }),
        allowsUpdate: methodsOf(request.get('Allow')).includes('UPDATE'),
        transfers: this.#deps.transfers,
        origin: originOf(admitted, request),
      },
      trust: this.#trustOf(context),
      retryAfterMs: this.#deps.retryAfterMs?.(),
      ...(admitted.isUnconfirmed && {
        unconfirmed: {
          hasPrivateHeaders: link.capabilities.hasPrivateHeaders,
          onConfirmed: admitted.onConfirmed,
        },
      }),
      onReleased: () => legs.delete(side),
    })
    leg.attach(side)
    leg.whenGone(admitted.releaseLeg)
    leg.whenGone(() => media.close())
    media.onFault((error) => leg.end({ code: codeOf(error), detail: error.message }))
    legs.add(side)
  }

  /** Returns the credentials for challenges inside a carrier's call: those that are used outside it. */
  #trustOf({ admitted, request }: InviteContext): DialogTrust | undefined {
    const carrier = admitted.carrier && this.#deps.carriers?.byName(admitted.carrier.name)
    if (!carrier?.credentials) return undefined
    const contact = parseSipUri(readNameAddr(request.get('Contact') ?? '')?.uri ?? '')
    const target = carrier.targets.find(({ uri }) => uri.host === contact?.host)
    return { credentials: carrier.credentials, realms: [], host: target?.uri.host }
  }
}

/** Returns the description of the call for its handler. */
const arrivalOf = ({ request, admitted, sipCallId }: InviteContext, leg: Leg, callId: CallId): Arrival => {
  const { carrier, endpoint, domain, projectId, plan } = admitted
  const { maxForwards } = leg.facts
  return {
    leg,
    callId,
    projectId,
    plan,
    onOver: admitted.releaseCall,
    headers: keptHeaders(request, isTrusted(admitted)),
    ...(maxForwards !== undefined && { maxForwards }),
    sip: { callId: sipCallId, domain, sourceAddress: request.source_address },
    ...(carrier && { carrier: carrier.name }),
    ...(endpoint && { endpointId: endpoint.id }),
  }
}

/**
 * Whether the caller's asserted identity is believed: carriers, and sources with an allow list or a password.
 */
const isTrusted = ({ carrier, app }: AdmittedCall): boolean =>
  carrier !== undefined || app?.allow !== undefined || app?.challenge !== undefined

const reliabilityOf = (
  request: SipRequest,
  { capabilities }: Pick<AgentLink, 'capabilities'>,
): Reliability => {
  if (!capabilities.hasReliableProvisionals || !hasExtension(request, '100rel')) return 'none'
  return optionTags(request.get('Require')).includes('100rel') ? 'required' : 'supported'
}

const srtpOf = ({ request, admitted: { carrier, app, endpoint } }: InviteContext): SrtpPolicy =>
  narrowed(narrowed(srtpPolicy(carrier, /^(tls|wss)$/i.test(request.protocol)), app), endpoint)

/** Returns the origin of an admitted request. */
export const originOf = (
  { projectId, carrier, endpoint }: AdmittedCall,
  request: SipRequest,
): DialogOrigin => ({
  projectId,
  source: request.source_address,
  ...(carrier && { carrier: carrier.name }),
  ...(endpoint && { endpoint }),
})
