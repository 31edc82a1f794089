import type { Leg } from '../../calls/leg/leg.ts'
import type { OutboundRequest } from '../../calls/leg/outbound-request.ts'
import type { Log } from '../../core/log.ts'
import { isSecure, parseSipUri } from '../../core/sip-uri.ts'
import type { SipEndpoint } from '../../directory/model/callers.ts'
import type { Target } from '../../model.ts'
import { type AudioRules, audioRules } from '../media/audio-far-end.ts'
import { narrowed, type SrtpPolicy, srtpPolicy } from '../sdp/srtp-policy.ts'
import type { TakenRoute } from '../trunks/routing.ts'

/** SIP target of an outbound call. */
export type SipTarget = Extract<Target, { kind: 'sip' }>

/** An outbound call: its leg, target and request, and the rules that follow from them. */
export class OutboundCall {
  readonly leg: Leg
  readonly log: Log
  readonly target: SipTarget
  readonly request: OutboundRequest
  /** The called SIP endpoint, if the directory knows it. */
  readonly endpoint: SipEndpoint | undefined

  constructor(
    leg: Leg,
    log: Log,
    target: SipTarget,
    request: OutboundRequest,
    endpoint: SipEndpoint | undefined,
  ) {
    this.leg = leg
    this.log = log
    this.target = target
    this.request = request
    this.endpoint = endpoint
  }

  /** Returns the audio rules of the callee. A document may restrict or reorder the codecs. */
  audioRules({ carrier }: TakenRoute): AudioRules {
    const rules = audioRules({ carrier, endpoint: this.#isToEndpoint ? (this.endpoint ?? {}) : undefined })
    const codecs = this.target.codecs ?? rules.codecs
    const wanted = this.request.destination.codecs?.filter((codec) => codecs.includes(codec)) ?? []
    return { ...rules, codecs: wanted.length > 0 ? wanted : codecs }
  }

  /**
   * Returns the SRTP policy: the demands of the endpoint or the gateway, then the demands of the carrier.
   * Without demands, encryption is optional. Keys are sent only if every hop of the route uses TLS, or if the
   * carrier's configuration permits keys without TLS. A document may demand encryption. It may forbid
   * encryption unless another party demands it.
   */
  srtpPolicy({ carrier, hops }: TakenRoute): SrtpPolicy {
    const { encryption } = this.request.destination
    const isRouteSecure = hops
      .map(({ uri, nextHop }) => parseSipUri(nextHop ?? uri))
      .every((uri) => uri && isSecure(uri))
    const demands = this.#isToEndpoint ? this.endpoint : this.target
    const policy = narrowed(srtpPolicy(carrier, isRouteSecure), demands)
    if (encryption === 'mandatory') return { ...policy, mode: 'required' }
    if (encryption === 'forbidden' && policy.mode === 'optional') return { ...policy, mode: 'off' }
    return policy
  }

  get #isToEndpoint(): boolean {
    return this.target.endpointId !== undefined
  }
}
