import type { Edge } from '../../../media/types.ts'
import type { Clock } from '../../core/clock.ts'
import { catalogue, codeOf } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Party, Target } from '../../model.ts'
import type { Arrivals } from '../call/arrival.ts'
import { newCallId, newLegId } from '../call/ids.ts'
import { Leg } from '../leg/leg.ts'
import {
  type AddressLimits,
  type AddressRefusal,
  enterAddress,
  type Lineage,
  leaveAddress,
} from '../leg/lineage.ts'
import type { OutboundLocal, OutboundRequest } from '../leg/outbound-request.ts'
import { LocalPair } from './local-pair.ts'

/** Collaborators of {@link LocalLegs}. */
export interface LocalLegsDeps {
  readonly edge: Pick<Edge, 'open'>
  readonly arrivals: Arrivals
  readonly limits: AddressLimits
  readonly metrics: Pick<Metrics, 'rejections'>
  readonly clock: Clock
  readonly log: Log
}

type HandlerTarget = Extract<Target, { kind: 'handler' }>

/** Max-Forwards of a call whose first leg named none (RFC 3261 section 8.1.1.6). */
const defaultMaxForwards = 70

/**
 * Makes legs to addresses that run a handler. The far side of such a leg is a separate call, which runs the
 * handler as a call from outside would.
 */
export class LocalLegs implements OutboundLocal {
  #deps: LocalLegsDeps

  constructor(deps: LocalLegsDeps) {
    this.#deps = deps
  }

  /** Changes the limits of later calls. */
  change(limits: AddressLimits): void {
    this.#deps = { ...this.#deps, limits }
  }

  dial(target: HandlerTarget, request: OutboundRequest): Leg {
    const near = this.#newLeg('outbound', request, target.address)
    // The leg needs an owner before anything happens to it.
    queueMicrotask(() => this.#tryPlace(near, target, request))
    return near
  }

  /**
   * Makes the call to the address. A fault of the gateway ends the leg, so that its caller does not wait and
   * the process goes on.
   */
  #tryPlace(near: Leg, target: HandlerTarget, request: OutboundRequest): void {
    try {
      this.#place(near, target, request)
    } catch (error) {
      const code = codeOf(error)
      const facts = { call: request.callId, leg: near.id, code, err: error }
      this.#deps.log.error({ event: 'address.call-failed', ...facts }, 'call to an address failed')
      near.end({ code })
    }
  }

  #place(near: Leg, target: HandlerTarget, request: OutboundRequest): void {
    if (near.isEnded) return
    const { limits } = this.#deps
    const { maxForwards = defaultMaxForwards } = request
    const lineage = enterAddress(request, target.address, limits)
    if ('code' in lineage) {
      this.#refuse(near, request, lineage)
      return
    }
    near.note({ lineage })
    near.whenGone(() => leaveAddress(lineage))
    if (maxForwards < 1) {
      const facts = { chain: lineage.chain, maxForwards }
      this.#refuse(near, request, { code: 'too_many_hops', facts, isFirst: true })
      return
    }
    this.#arrive(near, target, { request, lineage, maxForwards })
  }

  #arrive(
    near: Leg,
    target: HandlerTarget,
    {
      request,
      lineage,
      maxForwards,
    }: { readonly request: OutboundRequest; readonly lineage: Lineage; readonly maxForwards: number },
  ): void {
    const { edge, arrivals, clock, log } = this.#deps
    const far = this.#newLeg('inbound', request, target.address)
    far.note({ lineage })
    const callId = newCallId()
    const { projectId, callId: group, codec, destination, forwarded = [] } = request
    const { caller } = request
    const { onTranscript, confirm, sendDigits } = destination
    new LocalPair({
      near,
      far,
      caller,
      groups: [group, callId],
      codec,
      ...(onTranscript && { onTranscript }),
      isAnsweredForOthers: confirm !== undefined || sendDigits !== undefined,
      edge,
      clock,
      log,
    })
    log.info(
      { event: 'address.called', call: callId, leg: far.id, caller: group, chain: lineage.chain },
      'address called',
    )
    const xHeaders = (destination.headers ?? []).filter(({ name }) => /^x-/i.test(name))
    arrivals.arrive({
      leg: far,
      callId,
      parentId: request.calleeId ?? group,
      projectId,
      plan: { kind: 'handler', handler: target.handler },
      headers: [...xHeaders, ...forwarded],
      ...(destination.userVariables && { userVariables: destination.userVariables }),
      maxForwards,
    })
  }

  #newLeg(direction: 'inbound' | 'outbound', { from, caller }: OutboundRequest, address: string): Leg {
    const to: Party = { uri: address, user: address.split('/').at(-1) ?? address, name: '' }
    const now = () => this.#deps.clock.now()
    return new Leg({ id: newLegId(), kind: 'local', type: caller?.type ?? 'sip', direction, from, to, now })
  }

  #refuse(near: Leg, { callId: call }: OutboundRequest, { code, facts, isFirst }: AddressRefusal): void {
    const { metrics, log } = this.#deps
    metrics.rejections.inc({ code })
    log[isFirst ? 'warn' : 'debug'](
      { event: 'address.call-rejected', call, leg: near.id, code, ...facts },
      catalogue[code].text,
    )
    near.ended({ code })
  }
}
