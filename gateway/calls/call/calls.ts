import type { CallControl } from '../../../handlers/verbs.ts'
import type { Timer } from '../../core/clock.ts'
import { type Cause, type Code, catalogue, TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { CallId, HandlerSpec } from '../../model.ts'
import type { Arrival, Arrivals, LiveCall, LiveCalls, Origination, Originator } from '../call-ports.ts'
import { CalledLeg } from '../connect/called-leg.ts'
import type { Winner } from '../connect/fork-types.ts'
import { OriginationSession } from '../connect/origination-session.ts'
import type { CdrSource } from '../log/call-cdr.ts'
import { type CallBook, Journal } from '../log/call-log.ts'
import { CdrWriter, type CdrWriterDeps } from '../log/cdr-writer.ts'
import { CallController } from '../verbs/call-controller.ts'
import type { CallControllerDeps } from '../verbs/call-controller-deps.ts'
import { VerbMeter } from '../verbs/verb-meter.ts'
import { Call, type CallObserver } from './call.ts'
import { infoOf } from './call-info.ts'
import { CallSession, type CallTask } from './call-session.ts'
import { HandlerRunner, type HandlerRunnerDeps } from './handler-runner.ts'

/** What the calls work with, besides what the verbs need. */
export interface CallsDeps extends Omit<CallControllerDeps, 'verbs' | 'journal'>, HandlerRunnerDeps {
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
  /** Keeps the record of each call; default nobody. */
  readonly cdrs?: CdrWriterDeps['cdrs']
  /** URL that is told the record of each call; default none. */
  readonly cdrUrl?: string
  /** Where every call and every called leg is written down while it goes on; default nowhere. See {@link Journal}. */
  readonly book?: CallBook
}

/** Settings of calls that can change while calls go on. */
export type CallsSettings = Pick<
  CallsDeps,
  'maxCalls' | 'callDurationMs' | 'ringMs' | 'envs' | 'recogniser' | 'recogniserRate'
> & { readonly recordsTo: string | undefined }

/** Time for handlers after the last call, in ms: what was recorded is told when its file is complete. */
const maxHandlerExitMs = 5_000

/**
 * Every call in progress. It takes inbound legs, runs what they are to be handled with, makes calls by itself, and has it written down how
 * they ended.
 */
export class Calls implements Arrivals, Originator, LiveCalls, CallObserver {
  #parts: CallsDeps
  #handling: HandlerRunner
  #meter: VerbMeter
  #records: CdrWriter
  #journal: Journal
  #calls = new Map<CallId, CallSession>()
  /** What handles calls, also for a while after their end. */
  #driven = new Set<Promise<void>>()
  /** Calls of our own that nobody has answered yet. */
  #originating = new Set<OriginationSession>()
  #draining = false
  #empty: (() => void)[] = []

  constructor(parts: CallsDeps) {
    this.#parts = parts
    this.#handling = new HandlerRunner(parts)
    this.#meter = new VerbMeter(parts.metrics)
    this.#records = new CdrWriter(parts)
    this.#journal = new Journal(parts.book, () => parts.clock.now())
  }

  /** Works by these settings from now on; calls in progress keep theirs. */
  change({ recordsTo, ...settings }: CallsSettings): void {
    this.#parts = { ...this.#parts, ...settings }
    this.#handling.change(settings.envs)
    this.#records.change(recordsTo)
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
    for (const call of this.#all) legs += call.legs.size
    return legs
  }

  /** Those that have a caller, and those that nobody has answered yet. */
  get #all(): readonly (Call | OriginationSession)[] {
    return [...[...this.#calls.values()].map(({ call }) => call), ...this.#originating]
  }

  live(projectId: string, callId: string): LiveCall | undefined {
    const driver = this.#calls.get(callId as CallId)
    if (driver) return driver.call.info.projectId === projectId ? driver : undefined
    const called = this.#journal.find(callId)
    return called?.projectId === projectId ? new CalledLeg(called) : undefined
  }

  /** Runs a handler on a call beside what it does: on somebody who is held, or told something. Rejects as handlers do. */
  runAside(control: CallControl, handler: HandlerSpec): Promise<void> {
    return this.#handling.run(control, handler, this.#parts.log.child({ call: control.info.callId }))
  }

  arrive(arrival: Arrival): void {
    const { leg } = arrival
    const { maxCalls } = this.#parts
    const calls = this.count
    const { carrier, maxForwards, sip } = arrival
    leg.note({ carrier, maxForwards, sipCallId: sip?.callId })
    this.#journal.arrived(arrival)
    if (leg.isEnded) {
      this.#records.ended(refused(arrival))
      this.#journal.ended(refused(arrival))
      arrival.onOver?.()
    } else if (this.#draining && leg.kind !== 'local') this.#refuse(arrival, 'draining', { calls })
    else if (calls >= maxCalls) this.#refuse(arrival, 'over_call_limit', { calls, limit: maxCalls })
    else this.#start(arrival)
  }

  async originate(origination: Origination): Promise<string> {
    this.#admit(origination)
    const { log } = this.#parts
    const controlOf = (call: Call) => this.#controlOf(call, log.child({ call: call.id }))
    const parts = { ...this.#parts, journal: this.#journal, controlOf }
    const originating = new OriginationSession(parts, origination, (record) => this.#records.ended(record))
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
    for (const call of this.#all) call.end(cause)
  }

  /** Ends the legs whose media ports are gone. */
  portsLost(ports: readonly string[]): void {
    for (const call of this.#all) {
      for (const leg of [...call.legs]) {
        if (leg.port && ports.includes(leg.port.id))
          leg.end({ code: 'internal', detail: 'the media thread died' })
      }
    }
  }

  callAnswered(call: Call): void {
    this.#journal.answered(call)
    this.#parts.metrics.answerSeconds.observe((this.#parts.clock.now() - call.startedAt) / 1000)
  }

  callEnded(call: Call): void {
    this.#calls.delete(call.id)
    this.#records.ended(call)
    this.#journal.ended(call)
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
    const log = this.#parts.log.child({ call: call.id })
    log.info({ leg: leg.id, kind: leg.kind, from: leg.from.uri, to: leg.to.uri }, 'call arrived')
    const { plan } = arrival
    this.#drive(
      call,
      log,
      (driver) => (control) =>
        plan.kind === 'handler' ? driver.handle(control, plan.handler) : driver.dial(control, plan.to),
    )
  }

  /** Whoever answered is the caller of a call from now on. Gives its id. */
  #begin({ leg, branch: candidate }: Winner, origination: Origination): string {
    const { projectId, maxDurationMs, variables, run } = origination
    const { clock, callDurationMs } = this.#parts
    const { callId, legs, destination } = candidate
    const info = infoOf({ leg, callId, projectId, headers: [], called: destination.to })
    const others = legs.filter((other) => other !== leg)
    if (leg.state.kind === 'ended') {
      const records = [leg, ...others].map((each) => ({ leg: each, role: 'caller' as const }))
      const recorded = { id: callId, info, caller: leg, cdrLegs: records, omittedLegs: 0 }
      this.#records.ended(recorded)
      this.#journal.ended(recorded)
      throw new TrunklineError(leg.state.cause.code, 'The call was over as soon as it was answered.')
    }
    const call = new Call(info, leg, clock, this, callDurationMs)
    for (const other of others) call.adopt(other, call)
    if (maxDurationMs !== undefined) call.limitDuration(maxDurationMs)
    const log = this.#parts.log.child({ call: call.id })
    log.info({ leg: leg.id, kind: leg.kind, from: leg.from.uri, to: leg.to.uri }, 'call made')
    this.#parts.metrics.answerSeconds.observe((clock.now() - call.startedAt) / 1000)
    const work = (driver: CallSession) => (control: CallControl) =>
      run(control, (handler, known) => driver.handle(control, handler, known))
    this.#drive(call, log, work, variables)
    return call.id
  }

  #controlOf(call: Call, log: Log): CallController {
    return new CallController({ ...this.#parts, journal: this.#journal, log, verbs: this.#meter }, call)
  }

  /** The call is in progress from now on, and does what it is for. */
  #drive(
    call: Call,
    log: Log,
    work: (driver: CallSession) => CallTask,
    variables?: Origination['variables'],
  ): void {
    const { addresses, metrics } = this.#parts
    const parts = { runner: this.#handling, journal: this.#journal, addresses, metrics, log }
    const driver = new CallSession(
      { ...parts, ...(variables && { variables }) },
      call,
      this.#controlOf(call, log),
    )
    this.#calls.set(call.id, driver)
    const driven = driver.run(work(driver))
    this.#driven.add(driven)
    void driven.then(() => this.#driven.delete(driven))
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
    this.#journal.ended(refused(arrival))
    arrival.onOver?.()
  }

  async #farewell(): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer: Timer = this.#parts.clock.after(maxHandlerExitMs, resolve)
    await Promise.race([late, Promise.allSettled([...this.#driven, this.#records.idle()])])
    timer.cancel()
  }
}

/** An arrival that never became a call, as it is written down. */
const refused = (arrival: Arrival): CdrSource => ({
  id: arrival.callId,
  info: infoOf(arrival),
  caller: arrival.leg,
  cdrLegs: [{ leg: arrival.leg, role: 'caller' }],
  omittedLegs: 0,
})
