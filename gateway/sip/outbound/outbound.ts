import type { Leg } from '../../calls/leg/leg.ts'
import type { OutboundRequest, OutboundSip } from '../../calls/leg/outbound-request.ts'
import { type Cause, codeOf } from '../../core/errors/catalogue.ts'
import { parseSipUri, shownUri, userOf } from '../../core/sip-uri.ts'
import type { Directory } from '../../directory/directory.ts'
import { RefusalLog } from '../admission/refusal-log.ts'
import type { Connection } from '../agent-link.ts'
import { errorText } from '../dialog/leg-session.ts'
import { supportedTags } from '../dialog/option-tags.ts'
import type { SessionTimerSettings } from '../dialog/session-timer.ts'
import type { Transfers } from '../dialog/transfers.ts'
import { preferring } from '../media/codec-rules.ts'
import { EarlyOffer, type Negotiation } from '../media/early-offer.ts'
import { LateOffer } from '../media/late-offer.ts'
import { LegMedia } from '../media/leg-media.ts'
import type { SipAudio } from '../media/sip-audio.ts'
import type { SipMedia } from '../media/sip-media.ts'
import { isWebRtcTarget } from '../media/webrtc-media.ts'
import { offeredSecurity } from '../sdp/srtp-policy.ts'
import type { SipContext } from '../sip-context.ts'
import type { SipLegs } from '../sip-legs.ts'
import type { Hop } from '../trunks/route.ts'
import type { Routing, TakenRoute } from '../trunks/routing.ts'
import { DialogProposal } from './dialog-proposal.ts'
import { OutboundCall, type SipTarget } from './outbound-call.ts'
import { OutboundLeg } from './outbound-leg.ts'
import type { TargetFamilies } from './target-families.ts'

/** Collaborators of {@link Outbound}. */
export interface OutboundDeps {
  readonly context: SipContext
  readonly legs: SipLegs
  readonly routing: Pick<Routing, 'find'>
  readonly audio: Pick<SipAudio, 'openRtp' | 'openWebRtc'>
  /** SIP endpoints by their id; default: none is known. */
  readonly directory: Partial<Pick<Directory, 'endpoint'>>
  /** Transfers that peers may request; default none. */
  readonly transfers?: Transfers
  /** IP families of targets with host names; default: the first family with a bound socket. */
  readonly families?: Pick<TargetFamilies, 'complete'> | undefined
}

/** Reserve for the request line, the frame's first line and digest headers, in bytes. */
const frameReserve = 900

/** Makes legs to carriers, SIP endpoints, and other permitted SIP URIs. */
export class Outbound implements OutboundSip {
  readonly #deps: OutboundDeps
  readonly #timers: SessionTimerSettings | undefined
  /** Limits the log lines about missing ports: otherwise each call would log one while no port is free. */
  readonly #portFailures: RefusalLog

  /** `timers`: session timers on the gateway's clock; default: the agent runs its own. */
  constructor(deps: OutboundDeps, timers?: SessionTimerSettings) {
    this.#deps = deps
    this.#timers = timers
    const { clock, log } = deps.context
    this.#portFailures = new RefusalLog(
      () => clock.now(),
      ({ source: code, count }) =>
        log.error(
          { event: 'media.port-failures-suppressed', code, count },
          'log lines of missing media ports suppressed',
        ),
    )
  }

  /** Logs the number of failures that had no separate log line. Legs are not affected. */
  close(): void {
    this.#portFailures.close()
  }

  dial(target: SipTarget, request: OutboundRequest): Leg {
    const { context, legs, directory, transfers } = this.#deps
    const { link, clock, headers } = context
    const uri = parseSipUri(target.uri)
    const to = { uri: shownUri(uri?.bare ?? target.uri), user: uri ? userOf(uri) : '', name: '' }
    const leg = legs.create('outbound', request.from, to)
    const log = context.log.child({ call: request.callId, leg: leg.id })
    const { endpointId } = target
    const endpoint = endpointId === undefined ? undefined : directory.endpoint?.(endpointId)
    const { sessionTimerSeconds: seconds } = request.destination
    const proposal = new DialogProposal({
      projectId: request.projectId,
      timers: this.#timers,
      intervalMs: seconds === undefined ? undefined : seconds * 1_000,
      supported: supportedTags(link.capabilities),
      transfers,
      endpoint,
    })
    const connection: Connection = link.connection ?? { isAlive: false }
    const signalling = { connection, clock, log, headers }
    const side = new OutboundLeg(leg, signalling, link.srf, proposal, () => legs.delete(side))
    leg.attach(side)
    legs.add(side)
    this.#place(new OutboundCall(leg, log, target, request, endpoint), side).catch((error: unknown) => {
      log.error({ event: 'invite.setup-failed', err: error }, 'INVITE not made')
      leg.ended({ code: 'internal' })
    })
    return leg
  }

  /** Finds the route, opens the audio, and sends the INVITE. A failure ends the leg. */
  async #place(call: OutboundCall, side: OutboundLeg): Promise<void> {
    const { leg, log, target, request } = call
    // Continues in a later turn: the leg must be returned in the state `new`, even if it fails at once.
    await Promise.resolve()
    if (!side.connection.isAlive) {
      leg.ended({ code: 'control_lost' })
      return
    }
    const route = await this.#deps.routing.find(target, request, log)
    if ('code' in route) {
      leg.ended(route)
      return
    }
    leg.whenGone(route.release)
    if (route.carrier) leg.note({ carrier: route.carrier.name })
    const media = await this.#openMedia(call, route)
    // A leg that has ended meanwhile has closed its media already.
    if (!media || leg.isEnded) return
    const hops = await this.#hopsOf(route, media)
    if (!leg.isEnded) this.#invite(call, side, { ...route, hops }, media)
  }

  /** Returns the hops of the route with the IP families of their audio, if there is a choice. */
  async #hopsOf({ hops, carrier }: TakenRoute, { port }: SipMedia): Promise<TakenRoute['hops']> {
    const { families } = this.#deps
    if (!families || port.addressFor(4) === undefined || port.addressFor(6) === undefined) return hops
    const given = carrier?.audioFamily
    return families.complete(hops, given && (given === 'ipv6' ? 6 : 4))
  }

  /** Opens the leg's audio; returns undefined, with the leg ended, if it fails. */
  async #openMedia(call: OutboundCall, route: TakenRoute): Promise<SipMedia | undefined> {
    const { leg, log, target } = call
    const { callId, codec } = call.request
    const rules = call.audioRules(route)
    try {
      const media = isWebRtcTarget(target)
        ? await this.#deps.audio.openWebRtc(callId, preferring(rules.codecs, [codec])[0] ?? codec)
        : await this.#deps.audio.openRtp(callId, { srtp: call.srtpPolicy(route), rules })
      media.onFault((error) => leg.end({ code: codeOf(error), detail: error.message }))
      leg.whenGone(() => media.close())
      leg.setPort(media.port)
      return media
    } catch (error) {
      const code = codeOf(error)
      // The cause of an error of the catalogue says which ports are used up.
      const reason = String(error instanceof Error ? (error.cause ?? error) : error)
      if (this.#portFailures.shouldLog(code))
        log.error({ event: 'media.open-failed', code, reason }, 'no media port for the leg')
      leg.ended({ code })
      return undefined
    }
  }

  #invite(call: OutboundCall, side: OutboundLeg, route: TakenRoute, media: SipMedia): void {
    const negotiation = this.#negotiation(call, route, media)
    if (!negotiation) return
    const { localSdp = '' } = negotiation
    const fault = route.hops.map((hop) => this.#tooLong(hop, localSdp)).find((each) => each !== undefined)
    if (fault) {
      call.leg.ended(fault)
      return
    }
    side.invite(route, media, negotiation)
  }

  /**
   * Makes the offer, or leaves it to the peer. Returns undefined, with the leg ended, if the carrier's rules
   * forbid every offer.
   */
  #negotiation(call: OutboundCall, route: TakenRoute, media: SipMedia): Negotiation | undefined {
    const { leg, log, request } = call
    try {
      if (route.carrier?.lateOffer && media instanceof LegMedia) {
        // Throws if the policy permits no offer, as it permits no answer then, either.
        offeredSecurity(call.srtpPolicy(route))
        return new LateOffer(media, log)
      }
      media.offer(request.codec, 'invite')
      return new EarlyOffer(media, log)
    } catch (error) {
      leg.ended({ code: codeOf(error), detail: errorText(error) })
      return undefined
    }
  }

  /**
   * Returns the cause of failure if the message is too long for the agent. A drachtio-server would drop its
   * connection.
   */
  #tooLong({ uri, headers }: Hop, sdp: string): Cause | undefined {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const bytes = Buffer.byteLength([uri, ...lines, sdp].join(''), 'utf8') + frameReserve
    const longest = this.#deps.context.link.capabilities.maxFrameBytes
    return bytes > longest
      ? { code: 'bad_request', detail: `The INVITE has ${bytes} bytes; the SIP agent takes ${longest}.` }
      : undefined
  }
}
