import type { CallControl, CallInfo } from '../../../handlers/verbs.ts'
import type { Clock } from '../../core/clock.ts'
import { type Cause, type Code, catalogue, TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { AddressBook, CallId, HandlerSpec } from '../../model.ts'
import type { Arrival, Arrivals } from '../call/arrival.ts'
import { Call, type CallObserver } from '../call/call.ts'
import { infoOf } from '../call/call-info.ts'
import type { CallInProgress, LiveCall, LiveCalls } from '../call/live-call.ts'
import type { Winner } from '../connect/fork-types.ts'
import type { Origination, Originator } from '../connect/origination.ts'
import { OriginationSession } from '../connect/origination-session.ts'
import type { Leg } from '../leg/leg.ts'
import type { CdrSource } from '../log/call-cdr.ts'
import type { CallLog } from '../log/call-log.ts'
import type { CdrWriter } from '../log/cdr-writer.ts'
import type { CallControllers } from '../verbs/call-controllers.ts'
import { CallSession, type CallTask } from './call-session.ts'
import type { HandlerRunner } from './handler-runner.ts'

/** Collaborators of {@link Calls}. */
export interface CallsDeps {
  readonly runner: HandlerRunner
  readonly controllers: CallControllers
  readonly addresses: AddressBook
  readonly callLog: CallLog
  readonly cdrs: CdrWriter
  readonly metrics: Pick<Metrics, 'rejections' | 'answerSeconds'>
  readonly clock: Clock
  readonly log: Log
}

/** Settings of calls. A reload changes the settings of later calls. */
export interface CallsSettings {
  /** Maximum duration of a call in ms from its answer. A document can only shorten it. */
  readonly maxDurationMs: number
  /** Maximum number of calls at once. */
  readonly maxCalls: number
}

/**
 * Maximum time for handlers after the last call, in ms. They report recordings when the files are complete.
 */
const maxHandlerExitMs = 5_000

/** Every call in progress. Accepts inbound legs, makes calls, runs their handlers, and logs their ends. */
export class Calls implements Arrivals, Originator, LiveCalls {
  readonly #deps: CallsDeps
  #settings: CallsSettings
  readonly #sessions = new Map<CallId, CallSession>()
  /** Handlers that run, also for a while after the end of their calls. */
  readonly #running = new Set<Promise<void>>()
  /** Calls of the gateway without an answer. */
  readonly #originations = new Set<OriginationSession>()
  readonly #emptyListeners: (() => void)[] = []
  #isDraining = false

  constructor(deps: CallsDeps, settings: CallsSettings) {
    this.#deps = deps
    this.#settings = settings
  }

  /** Changes the settings of later calls. */
  change(settings: CallsSettings): void {
    this.#settings = settings
  }

  /** Number of calls in progress. */
  get count(): number {
    return this.#sessions.size + this.#originations.size
  }

  /** Number of legs in progress. */
  get legs(): number {
    let legs = 0
    for (const call of this.#all) legs += call.legs.size
    return legs
  }

  /** Calls with a caller, and calls without an answer. */
  get #all(): readonly (Call | OriginationSession)[] {
    return [...[...this.#sessions.values()].map(({ call }) => call), ...this.#originations]
  }

  live(projectId: string, callId: string): LiveCall | undefined {
    const session = this.#sessions.get(callId as CallId)
    if (session) return session.call.info.projectId === projectId ? session : undefined
    const entry = this.#deps.callLog.findBranch(callId)
    if (entry?.projectId !== projectId) return undefined
    // Such a branch has no handler: it rings for another call, or another call is connected to it.
    return {
      state: entry.isAnswered ? 'answered' : 'ringing',
      redirect: () => {
        throw new TrunklineError('call_not_in_progress')
      },
      end: (code) => entry.branch.end({ code }),
    }
  }

  /** Returns a call or branch in progress of any project, for the operator. */
  inProgress(callId: string): CallInProgress | undefined {
    const session = this.#sessions.get(callId as CallId)
    if (session)
      return {
        legs: session.call.cdrLegs.map(({ leg }) => leg),
        end: (code) => session.end(code),
      }
    const branch = this.#deps.callLog.findBranch(callId)?.branch
    return branch && { legs: branch.legs, end: (code) => branch.end({ code }) }
  }

  /**
   * Runs a handler on a call beside the one that controls it, such as for a held caller. Rejects as handlers
   * do.
   */
  runAside(control: CallControl, handler: HandlerSpec): Promise<void> {
    const { runner, log } = this.#deps
    return runner.run(control, handler, log.child({ call: control.info.callId }))
  }

  arrive(arrival: Arrival): void {
    const { leg, carrier, maxForwards, sip } = arrival
    const { maxCalls } = this.#settings
    const calls = this.count
    leg.note({ carrier, maxForwards, sipCallId: sip?.callId })
    this.#deps.callLog.arrived(arrival)
    if (leg.isEnded) {
      this.#logEnd(rejectedCall(arrival))
      arrival.onOver?.()
    } else if (this.#isDraining && leg.kind !== 'local') this.#reject(arrival, 'draining', { calls })
    else if (calls >= maxCalls) this.#reject(arrival, 'over_call_limit', { calls, limit: maxCalls })
    else this.#start(arrival)
  }

  async originate(origination: Origination): Promise<string> {
    this.#admit(origination)
    const { log, cdrs, controllers } = this.#deps
    const { fork } = controllers
    const onBranchLost = (call: CdrSource) => cdrs.ended(call)
    const session = new OriginationSession({ fork, log, onBranchLost }, origination)
    this.#originations.add(session)
    try {
      return this.#begin(await session.run(), origination)
    } finally {
      this.#originations.delete(session)
      this.#checkEmpty()
    }
  }

  /** Throws if no further call may be made. */
  #admit({ projectId }: Origination): void {
    const { metrics, log } = this.#deps
    const { maxCalls: limit } = this.#settings
    const calls = this.count
    if (!this.#isDraining && calls < limit) return
    const code = this.#isDraining ? 'draining' : 'over_call_limit'
    metrics.rejections.inc({ code })
    log.warn({ event: 'call.origination-rejected', code, projectId, calls, limit }, catalogue[code].text)
    throw new TrunklineError(code, undefined, { calls, limit })
  }

  /**
   * Rejects new calls from now on, and hangs up the remaining ones after `graceMs`. Resolves when no call is
   * left, the CDRs are written, and the handlers have ended or 5 s have passed.
   */
  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true
    if (this.count > 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#emptyListeners.push(resolve)
      const grace = this.#deps.clock.after(graceMs, () => this.endAll({ code: 'draining' }))
      await promise
      grace.cancel()
    }
    await this.#handlersEnded()
  }

  /** Ends every call now. */
  endAll(cause: Cause): void {
    for (const call of this.#all) call.end(cause)
  }

  /** Ends the legs whose media ports are lost. */
  portsLost(ports: readonly string[]): void {
    for (const call of this.#all) {
      for (const leg of [...call.legs]) {
        if (leg.port && ports.includes(leg.port.id))
          leg.end({ code: 'internal', detail: 'the media thread died' })
      }
    }
  }

  #logEnd(call: CdrSource): void {
    this.#deps.cdrs.ended(call)
    this.#deps.callLog.ended(call)
  }

  #observeAnswer(call: Call): void {
    this.#deps.metrics.answerSeconds.observe((this.#deps.clock.now() - call.startedAt) / 1000)
  }

  #checkEmpty(): void {
    if (this.count === 0) for (const resolve of this.#emptyListeners.splice(0)) resolve()
  }

  #start(arrival: Arrival): void {
    const { leg, plan } = arrival
    const call = this.#callOf(infoOf(arrival), leg, arrival.onOver)
    const { from, to } = leg
    const facts = { leg: leg.id, kind: leg.kind, from: from.uri, to: to.uri }
    call.log.info({ event: 'call.arrived', ...facts }, 'call arrived')
    const session = this.#sessionOf(call)
    this.#run(session, (control) => {
      if (plan.kind === 'handler') return session.handle(control, plan.handler)
      return plan.kind === 'room' ? session.joinRoom(control, plan.name) : session.dial(control, plan.to)
    })
  }

  /** Starts the call of an answered outbound leg. Returns its id. */
  #begin({ leg, branch }: Winner, origination: Origination): string {
    const { projectId, maxDurationMs, variables, run } = origination
    const { callId, legs, destination } = branch
    const info = infoOf({ leg, callId, projectId, headers: [], called: destination.to })
    const others = legs.filter((other) => other !== leg)
    if (leg.state.kind === 'ended') {
      const cdrLegs = [leg, ...others].map((each) => ({ leg: each, role: 'caller' as const }))
      const ended: CdrSource = { id: callId, info, caller: leg, cdrLegs, omittedLegs: 0 }
      this.#logEnd(ended)
      throw new TrunklineError(leg.state.cause.code, 'The call was over as soon as it was answered.')
    }
    const call = this.#callOf(info, leg)
    for (const other of others) call.adopt(other, call)
    if (maxDurationMs !== undefined) call.limitDuration(maxDurationMs)
    const facts = { leg: leg.id, kind: leg.kind, from: leg.from.uri, to: leg.to.uri }
    call.log.info({ event: 'call.originated', ...facts }, 'call made')
    this.#observeAnswer(call)
    const session = this.#sessionOf(call, variables)
    this.#run(session, (control) => run(control, (handler, known) => session.handle(control, handler, known)))
    return call.id
  }

  #callOf(info: CallInfo, caller: Leg, onOver?: () => void): Call {
    const observer: CallObserver = {
      callAnswered: (call) => {
        this.#deps.callLog.answered(call)
        this.#observeAnswer(call)
      },
      callEnded: (call) => {
        onOver?.()
        this.#sessions.delete(call.id)
        this.#logEnd(call)
        this.#checkEmpty()
      },
    }
    const { clock, log } = this.#deps
    const { maxDurationMs } = this.#settings
    return new Call({ info, caller, clock, log: log.child({ call: info.callId }), observer, maxDurationMs })
  }

  #sessionOf(call: Call, variables?: Origination['variables']): CallSession {
    const { controllers, runner, callLog, addresses, metrics } = this.#deps
    const control = controllers.of(call)
    return new CallSession({ runner, callLog, addresses, metrics }, { call, control, variables })
  }

  /** Adds the call, and runs its first task. */
  #run(session: CallSession, task: CallTask): void {
    this.#sessions.set(session.call.id, session)
    const running = session.run(task)
    this.#running.add(running)
    void running.then(() => this.#running.delete(running))
  }

  #reject(arrival: Arrival, code: Code, facts: Record<string, unknown>): void {
    const { metrics, log, cdrs, callLog } = this.#deps
    const { leg, callId } = arrival
    const { from, to } = leg
    metrics.rejections.inc({ code })
    log.warn(
      { event: 'call.rejected', call: callId, leg: leg.id, code, from: from.uri, to: to.uri, ...facts },
      catalogue[code].text,
    )
    leg.end({ code })
    cdrs.write(rejectedCall(arrival))
    callLog.ended(rejectedCall(arrival))
    arrival.onOver?.()
  }

  async #handlersEnded(): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = this.#deps.clock.after(maxHandlerExitMs, resolve)
    await Promise.race([late, Promise.allSettled([...this.#running, this.#deps.cdrs.idle()])])
    timer.cancel()
  }
}

/** Returns the CDR source of an arrival that never became a call. */
const rejectedCall = (arrival: Arrival): CdrSource => ({
  id: arrival.callId,
  info: infoOf(arrival),
  caller: arrival.leg,
  cdrLegs: [{ leg: arrival.leg, role: 'caller' }],
  omittedLegs: 0,
})
