import { CallEnded, type CallInfo } from '../../handlers/verbs.ts'
import type { Timer } from '../clock.ts'
import { type Cause, type Code, catalogue, TrunklineError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { Call, type CallObserver } from './call.ts'
import { Control } from './control.ts'
import type { ControlParts } from './control-parts.ts'
import { withoutHeaders } from './destinations.ts'
import { diagnosis, Handling, type HandlingParts } from './handling.ts'
import type { CallId } from './leg.ts'
import type { Arrival, Arrivals } from './ports.ts'
import { type CallSummary, qualities, type Recorded, refusedPackets, summary } from './summary.ts'
import { VerbMeter } from './verb-meter.ts'

/** Longest wait for the counters of a media port that was closed. */
const longestStatsMs = 5_000

/** What the calls work with, besides what the verbs need. */
export interface CallsParts extends Omit<ControlParts, 'verbs'>, HandlingParts {
  readonly metrics: Pick<
    Metrics,
    | 'callsEnded'
    | 'rejections'
    | 'answerSeconds'
    | 'documents'
    | 'verbs'
    | 'rtpRefused'
    | 'audioMos'
    | 'audioLoss'
    | 'audioJitter'
  >
  /** Longest call in ms, from its answer; what a document says can only make it shorter. */
  readonly callDurationMs: number
  /** Calls at once, over everything. */
  readonly maxCalls: number
}

/** Every call in progress. It takes inbound legs, runs what they are to be handled with, and writes down how they ended. */
export class Calls implements Arrivals, CallObserver {
  #parts: CallsParts
  #handling: Handling
  #meter: VerbMeter
  #calls = new Map<CallId, Call>()
  #draining = false
  #empty: (() => void)[] = []

  constructor(parts: CallsParts) {
    this.#parts = parts
    this.#handling = new Handling(parts)
    this.#meter = new VerbMeter(parts.metrics)
  }

  /** Verbs that are not over. */
  get verbs(): number {
    return this.#meter.pending
  }

  /** Calls in progress. */
  get count(): number {
    return this.#calls.size
  }

  /** Legs in progress. */
  get legs(): number {
    let legs = 0
    for (const call of this.#calls.values()) legs += call.legs.size
    return legs
  }

  arrive(arrival: Arrival): void {
    const { leg } = arrival
    const { maxCalls } = this.#parts
    const calls = this.#calls.size
    const { carrier, maxForwards, sip } = arrival
    leg.note({ carrier, maxForwards, sipCallId: sip?.callId })
    if (leg.isEnded) {
      this.#ended(refused(arrival))
      arrival.onOver?.()
    } else if (this.#draining) this.#refuse(arrival, 'draining', { calls })
    else if (calls >= maxCalls) this.#refuse(arrival, 'over_call_limit', { calls, limit: maxCalls })
    else this.#start(arrival)
  }

  /** Refuses new calls from now on; what is left after `graceMs` is hung up. Resolves when no call is left. */
  async drain(graceMs: number): Promise<void> {
    this.#draining = true
    if (this.#calls.size === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#empty.push(resolve)
    const grace: Timer = this.#parts.clock.after(graceMs, () => this.endAll({ code: 'draining' }))
    await promise
    grace.cancel()
  }

  /** Ends every call now. */
  endAll(cause: Cause): void {
    for (const call of [...this.#calls.values()]) call.end(cause)
  }

  /** Ends the legs whose media ports are gone. */
  portsLost(ports: readonly string[]): void {
    for (const call of [...this.#calls.values()]) {
      for (const leg of [...call.legs]) {
        if (leg.port && ports.includes(leg.port.id))
          leg.end({ code: 'internal', detail: 'the media thread died' })
      }
    }
  }

  callAnswered(call: Call): void {
    this.#parts.metrics.answerSeconds.observe((this.#parts.clock.now() - call.startedAt) / 1000)
  }

  callEnded(call: Call): void {
    this.#calls.delete(call.id)
    this.#ended(call)
    if (this.#calls.size === 0) for (const resolve of this.#empty.splice(0)) resolve()
  }

  #start(arrival: Arrival): void {
    const { leg } = arrival
    const observer: CallObserver = {
      callAnswered: (call) => this.callAnswered(call),
      callEnded: (call) => {
        arrival.onOver?.()
        this.callEnded(call)
      },
    }
    const call = new Call(infoOf(arrival), leg, this.#parts.clock, observer, this.#parts.callDurationMs)
    this.#calls.set(call.id, call)
    const log = this.#parts.log.child({ call: call.id })
    log.info({ leg: leg.id, kind: leg.kind, from: leg.from.uri, to: leg.to.uri }, 'call arrived')
    const control = new Control({ ...this.#parts, log, verbs: this.#meter }, call)
    void this.#drive(call, control, arrival.plan, log)
  }

  #refuse(arrival: Arrival, code: Code, facts: Record<string, unknown>): void {
    const { leg, callId } = arrival
    this.#parts.metrics.rejections.inc({ code })
    this.#parts.log.warn(
      { call: callId, leg: leg.id, code, from: leg.from.uri, to: leg.to.uri, ...facts },
      catalogue[code].text,
    )
    leg.end({ code })
    this.#write(refused(arrival))
    arrival.onOver?.()
  }

  /** Counts a call that is over, and writes its record. */
  #ended(call: Recorded): void {
    const { state } = call.caller
    const cause = state.kind === 'ended' ? state.cause.code : 'internal'
    this.#parts.metrics.callsEnded.inc({ direction: call.info.direction, cause })
    this.#write(call)
  }

  /** Writes the record of a call, whichever way it ended. */
  #write(call: Recorded): void {
    const { clock, log } = this.#parts
    summary(call, clock.now(), (stats) => this.#within(stats)).then(
      (record) => {
        this.#measure(record)
        log.info(record, 'call ended')
      },
      (error) => log.error({ call: call.id, err: error }, 'the record of a call could not be made'),
    )
  }

  #measure(record: CallSummary): void {
    const { metrics } = this.#parts
    for (const [reason, packets] of refusedPackets(record)) metrics.rtpRefused.inc({ reason }, packets)
    for (const { carrier, codec, mos, loss, jitterSeconds } of qualities(record)) {
      metrics.audioMos.observe({ carrier, codec }, mos)
      metrics.audioLoss.observe({ carrier, codec }, loss)
      metrics.audioJitter.observe({ carrier, codec }, jitterSeconds)
    }
  }

  /** A media thread that hangs must not cost the record of the call. */
  async #within<T>(work: Promise<T>): Promise<T | undefined> {
    const { promise, resolve } = Promise.withResolvers<T | undefined>()
    const timer = this.#parts.clock.after(longestStatsMs, () => resolve(undefined))
    work.then(resolve, () => resolve(undefined))
    try {
      return await promise
    } finally {
      timer.cancel()
    }
  }

  /** Runs the plan to its end, whatever happens on the way, and then ends the call. */
  async #drive(call: Call, control: Control, plan: Arrival['plan'], log: Log): Promise<void> {
    try {
      if (plan.kind === 'handler') await this.#handling.run(control, plan.handler, log)
      else await this.#dial(control, plan.to, log)
      call.end(control.closingCause)
    } catch (error) {
      if (error instanceof CallEnded) return
      this.#failed(call, error, log)
    }
  }

  /** A browser dialled an address: run what it stands for, or ring who it stands for. */
  async #dial(control: Control, to: string, log: Log): Promise<void> {
    const target = this.#parts.addresses.resolve(to)
    if (!target) throw new TrunklineError('unknown_address', undefined, { to })
    if (target.kind === 'handler') await this.#handling.run(control, target.handler, log)
    else await control.connect({ steps: [[{ to: withoutHeaders(to) }]], answerOnBridge: true })
  }

  #failed(call: Call, error: unknown, log: Log): void {
    const { code, facts } = diagnosis(error)
    const reason = error instanceof Error ? error.message : String(error)
    this.#parts.metrics.rejections.inc({ code })
    log[catalogue[code].level](
      { code, reason, ...facts, ...(code === 'handler_failed' && { err: error }) },
      catalogue[code].text,
    )
    call.end({ code, detail: reason })
  }
}

/** An arrival that never became a call, as it is written down. */
const refused = (arrival: Arrival): Recorded => ({
  id: arrival.callId,
  info: infoOf(arrival),
  caller: arrival.leg,
  records: [{ leg: arrival.leg, role: 'caller' }],
  unrecorded: 0,
})

const infoOf = ({ leg, callId, projectId, headers, sip }: Arrival): CallInfo => ({
  callId,
  direction: leg.direction,
  type: leg.kind === 'sip' ? 'sip' : 'webrtc',
  from: leg.from.uri,
  to: leg.to.uri,
  fromUser: leg.from.user,
  toUser: leg.to.user,
  fromName: leg.from.name,
  headers,
  projectId,
  sip,
})
