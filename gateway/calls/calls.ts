import { CallEnded } from '../../handlers/verbs.ts'
import type { Timer } from '../clock.ts'
import { type Cause, type Code, catalogue, TrunklineError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { Call, type CallObserver } from './call.ts'
import { infoOf } from './call-info.ts'
import { Control } from './control.ts'
import type { ControlParts } from './control-parts.ts'
import { withoutHeaders } from './destinations.ts'
import { diagnosis, Handling, type HandlingParts } from './handling.ts'
import type { CallId } from './leg.ts'
import { Originating } from './originating.ts'
import type { Arrival, Arrivals, Origination, Originator } from './ports.ts'
import { RecordWriter } from './record-writer.ts'
import type { Taken } from './ringing.ts'
import type { Recorded } from './summary.ts'
import { VerbMeter } from './verb-meter.ts'

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
  /** URL that is told the record of each call; default none. */
  readonly recordsTo?: string
}

/** Time for handlers after the last call, in ms: what was recorded is told when its file is complete. */
const longestFarewellMs = 5_000

/**
 * Every call in progress. It takes inbound legs, runs what they are to be handled with, makes calls by itself, and has it written down how
 * they ended.
 */
export class Calls implements Arrivals, Originator, CallObserver {
  #parts: CallsParts
  #handling: Handling
  #meter: VerbMeter
  #records: RecordWriter
  #calls = new Map<CallId, Call>()
  /** What handles calls, also for a while after their end. */
  #driven = new Set<Promise<void>>()
  /** Calls of our own that nobody has answered yet. */
  #originating = new Set<Originating>()
  #draining = false
  #empty: (() => void)[] = []

  constructor(parts: CallsParts) {
    this.#parts = parts
    this.#handling = new Handling(parts)
    this.#meter = new VerbMeter(parts.metrics)
    this.#records = new RecordWriter(parts)
  }

  /** Verbs that are not over. */
  get verbs(): number {
    return this.#meter.pending
  }

  /** Calls in progress. */
  get count(): number {
    return this.#calls.size + this.#originating.size
  }

  /** Legs in progress. */
  get legs(): number {
    let legs = 0
    for (const call of [...this.#calls.values(), ...this.#originating]) legs += call.legs.size
    return legs
  }

  arrive(arrival: Arrival): void {
    const { leg } = arrival
    const { maxCalls } = this.#parts
    const calls = this.count
    const { carrier, maxForwards, sip } = arrival
    leg.note({ carrier, maxForwards, sipCallId: sip?.callId })
    if (leg.isEnded) {
      this.#records.ended(refused(arrival))
      arrival.onOver?.()
    } else if (this.#draining) this.#refuse(arrival, 'draining', { calls })
    else if (calls >= maxCalls) this.#refuse(arrival, 'over_call_limit', { calls, limit: maxCalls })
    else this.#start(arrival)
  }

  async originate(origination: Origination): Promise<string> {
    this.#admit(origination)
    const { log } = this.#parts
    const controlOf = (call: Call) => this.#controlOf(call, log.child({ call: call.id }))
    const parts = { ...this.#parts, controlOf }
    const originating = new Originating(parts, origination, (record) => this.#records.ended(record))
    this.#originating.add(originating)
    try {
      return this.#begin(await originating.run(), origination)
    } finally {
      this.#originating.delete(originating)
      this.#tellEmpty()
    }
  }

  /** Throws where no further call may be made. */
  #admit({ projectId }: Origination): void {
    const { maxCalls: limit, metrics, log } = this.#parts
    const calls = this.count
    if (!this.#draining && calls < limit) return
    const code = this.#draining ? 'draining' : 'over_call_limit'
    metrics.rejections.inc({ code })
    log.warn({ code, projectId, calls, limit }, catalogue[code].text)
    throw new TrunklineError(code, undefined, { calls, limit })
  }

  /**
   * Refuses new calls from now on; what is left after `graceMs` is hung up. Resolves when no call is left, their records are written, and
   * their handlers have said what there is to say, for which they have some seconds.
   */
  async drain(graceMs: number): Promise<void> {
    this.#draining = true
    if (this.count > 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#empty.push(resolve)
      const grace: Timer = this.#parts.clock.after(graceMs, () => this.endAll({ code: 'draining' }))
      await promise
      grace.cancel()
    }
    await this.#farewell()
  }

  /** Ends every call now. */
  endAll(cause: Cause): void {
    for (const call of [...this.#calls.values(), ...this.#originating]) call.end(cause)
  }

  /** Ends the legs whose media ports are gone. */
  portsLost(ports: readonly string[]): void {
    for (const call of [...this.#calls.values(), ...this.#originating]) {
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
    this.#records.ended(call)
    this.#tellEmpty()
  }

  #tellEmpty(): void {
    if (this.count === 0) for (const resolve of this.#empty.splice(0)) resolve()
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
    const control = this.#controlOf(call, log)
    const { plan } = arrival
    const handle = () =>
      plan.kind === 'handler'
        ? this.#handling.run(control, plan.handler, log)
        : this.#dial(control, plan.to, log)
    this.#follow(this.#drive(call, control, log, handle))
  }

  /** Whoever answered is the caller of a call from now on. Gives its id. */
  #begin({ leg, candidate }: Taken, { projectId, maxDurationMs, run }: Origination): string {
    const { clock, callDurationMs } = this.#parts
    const { callId, legs } = candidate
    const info = infoOf({ leg, callId, projectId, headers: [] })
    const others = legs.filter((other) => other !== leg)
    if (leg.state.kind === 'ended') {
      const records = [leg, ...others].map((each) => ({ leg: each, role: 'caller' as const }))
      this.#records.ended({ id: callId, info, caller: leg, records, unrecorded: 0 })
      throw new TrunklineError(leg.state.cause.code, 'The call was over as soon as it was answered.')
    }
    const call = new Call(info, leg, clock, this, callDurationMs)
    for (const other of others) call.adopt(other, call)
    this.#calls.set(call.id, call)
    if (maxDurationMs !== undefined) call.limit(maxDurationMs)
    const log = this.#parts.log.child({ call: call.id })
    log.info({ leg: leg.id, kind: leg.kind, from: leg.from.uri, to: leg.to.uri }, 'call made')
    this.callAnswered(call)
    const control = this.#controlOf(call, log)
    this.#follow(this.#drive(call, control, log, () => run(control)))
    return call.id
  }

  #controlOf(call: Call, log: Log): Control {
    return new Control({ ...this.#parts, log, verbs: this.#meter }, call)
  }

  #refuse(arrival: Arrival, code: Code, facts: Record<string, unknown>): void {
    const { leg, callId } = arrival
    this.#parts.metrics.rejections.inc({ code })
    this.#parts.log.warn(
      { call: callId, leg: leg.id, code, from: leg.from.uri, to: leg.to.uri, ...facts },
      catalogue[code].text,
    )
    leg.end({ code })
    this.#records.write(refused(arrival))
    arrival.onOver?.()
  }

  async #farewell(): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer: Timer = this.#parts.clock.after(longestFarewellMs, resolve)
    await Promise.race([late, Promise.allSettled([...this.#driven, this.#records.idle()])])
    timer.cancel()
  }

  #follow(driven: Promise<void>): void {
    this.#driven.add(driven)
    void driven.then(() => this.#driven.delete(driven))
  }

  /** Runs what the call is for to its end, whatever happens on the way, and then ends the call. */
  async #drive(call: Call, control: Control, log: Log, run: () => Promise<void>): Promise<void> {
    try {
      await run()
    } catch (error) {
      if (!(error instanceof CallEnded)) this.#failed(call, error, log)
    }
    call.end(control.closingCause)
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
