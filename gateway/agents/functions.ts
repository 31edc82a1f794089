import type {
  AgentEvent,
  AgentFunctionCall,
  AgentFunctionResult,
  AgentOptions,
} from '../../handlers/verbs.ts'
import type { SteadyClock, Timer } from '../core/clock.ts'
import type { EngineCall } from './engine.ts'

/** Event of a function call, without its time. */
export type FunctionEvent = Omit<Extract<AgentEvent, { kind: 'function' }>, 'at'>

/** Answer to a call: its text, what the history keeps of it, and whether the model goes on now. */
export interface FunctionAnswer {
  readonly text: string
  readonly kept?: string
  readonly respond: boolean
}

/** Effects of a {@link FunctionRunner}; implemented by the conversation. No method throws. */
export interface FunctionHost {
  /** Answers a call in the engine that is in use now, by {@link EngineLink.result}. Once per wanted call. */
  answer(call: EngineCall, answer: FunctionAnswer): void
  report(event: FunctionEvent): void
  /** A function starts; `id` is unique in the conversation. */
  began(id: string, call: EngineCall): void
  /** A function has ended. `isAnswered`: whether the model goes on now. */
  ended(id: string, isAnswered: boolean): void
  /**
   * Resolves when the filler of a function was heard that starts only afterwards; undefined if it starts at
   * once. Waits for 10 s at most. Never rejects.
   */
  beforeStart?(call: EngineCall, id: string): Promise<void> | undefined
}

/** Rules of a {@link FunctionRunner}. */
export interface FunctionRules {
  readonly run: AgentOptions['runFunction']
  /** Whether the model may call a function of this name now. */
  isKnown(name: string): boolean
  /** Longest duration of a function, in ms. */
  readonly timeoutMs: number
  /** Whether an interruption by the caller cancels running functions. */
  canInterrupt(): boolean
}

/** Most calls without a turn of the caller; later ones are not run. */
const maxCallsPerTurn = 20
/** Most refused calls that the model may answer, so that it does not call for ever. */
const maxRefusals = 3
const maxFillerMs = 10_000
/** Wait for an answer of the model after which `after` runs without it, in ms. */
const maxAfterMs = 15_000

const texts = {
  unknown: (name: string) => `There is no function named ${name.slice(0, 64)}.`,
  timeout: 'The function did not answer in time.',
  canceled: 'Canceled: the caller interrupted.',
  closed: 'Canceled: the conversation ended.',
  failed: 'The function failed.',
  loop: 'Too many function calls without the caller. Speak to the caller now.',
}

/** Calls of one answer: the model goes on when the last of them is answered. */
interface Group {
  open: number
  wantsAnswer: boolean
}

/** Call that has no answer yet. */
interface OpenCall {
  readonly id: string
  readonly call: EngineCall
  readonly group: Group
  readonly startedAt: number
  readonly abort: AbortController
  readonly timers: Timer[]
}

/** Callback of a result that waits for the model's next answer. */
interface Afterwards {
  readonly run: () => Promise<void>
  readonly group: Group
  /** Limit of the wait for the begin of an answer. */
  timer?: Timer
  answer?: string
}

/** End of a call. */
interface Outcome extends AgentFunctionResult {
  readonly outcome: FunctionEvent['outcome']
}

/**
 * Runs the functions that the model of one conversation calls. Each call runs at most once. Each call that
 * the engine wants is answered exactly once: with its result, or a text about the failure. A result that
 * comes later is dropped, with its `after`.
 */
export class FunctionRunner {
  readonly #rules: FunctionRules
  readonly #host: FunctionHost
  readonly #clock: SteadyClock
  readonly #open = new Map<string, OpenCall>()
  readonly #ids = new Set<string>()
  /** Keys of the calls of the engine's session: answer and id. */
  #seen = new Set<string>()
  #groups = new Map<string, Group>()
  #afterwards: Afterwards[] = []
  #callsOfTurn = 0
  #isClosed = false

  constructor(rules: FunctionRules, host: FunctionHost, clock: SteadyClock) {
    this.#rules = rules
    this.#host = host
    this.#clock = clock
  }

  /** Number of calls without an answer. */
  get running(): number {
    return this.#open.size
  }

  /**
   * Runs a call of an engine's answer. A call that was delivered twice is ignored. It has the id of another
   * one in the same answer, or id and arguments of one that still runs.
   */
  call(answer: string, call: EngineCall): void {
    const key = `${answer}\n${call.id}`
    if (this.#isClosed || this.#seen.has(key) || this.#isRunning(call)) return
    this.#seen.add(key)
    this.#callsOfTurn++
    const group = this.#groupOf(answer)
    group.open++
    const open: OpenCall = {
      id: this.#newId(call.id),
      call,
      group,
      startedAt: this.#clock.uptime(),
      abort: new AbortController(),
      timers: [],
    }
    this.#open.set(open.id, open)
    this.#host.began(open.id, call)
    if (this.#callsOfTurn > maxCallsPerTurn) this.#refuse(open)
    else if (!this.#rules.isKnown(call.name))
      this.#finish(open, { text: texts.unknown(call.name), outcome: 'unknown' })
    else this.#prepare(open)
  }

  /** Ends calls that the engine no longer wants an answer to. They get none. */
  cancelled(ids: readonly string[]): void {
    for (const open of [...this.#open.values()])
      if (ids.includes(open.call.id)) this.#end(open, { text: texts.canceled, outcome: 'canceled' })
  }

  /** The caller interrupted: cancels functions if the rules allow it, and runs what waited for an answer. */
  interrupted(): void {
    if (this.#rules.canInterrupt()) this.#cancelAll(texts.canceled)
    this.#runAfterwards(() => true)
  }

  /** A turn of the caller is complete: the count of calls begins again. */
  turn(): void {
    this.#callsOfTurn = 0
  }

  /** Another session continues the conversation: its ids and answers have nothing to do with earlier ones. */
  engineChanged(): void {
    this.#seen = new Set()
    this.#groups = new Map()
  }

  /** The model begins an answer; results given before wait for its end. */
  answerBegan(answer: string): void {
    for (const waiting of this.#afterwards) waiting.answer ??= answer
  }

  /** An answer was heard, or interrupted. */
  answerEnded(answer: string): void {
    this.#groups.delete(answer)
    this.#runAfterwards((waiting) => waiting.answer === answer)
  }

  /** Ends all calls, each with an answer, and runs what waited. Idempotent. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cancelAll(texts.closed)
    this.#runAfterwards(() => true)
  }

  #isRunning({ id, name, args }: EngineCall): boolean {
    return [...this.#open.values()].some(
      ({ call }) => call.id === id && call.name === name && call.args === args,
    )
  }

  #groupOf(answer: string): Group {
    const group = this.#groups.get(answer) ?? { open: 0, wantsAnswer: false }
    this.#groups.set(answer, group)
    return group
  }

  /** Id that is unique in the conversation: some engines count their calls anew in each answer. */
  #newId(id: string): string {
    let unique = id
    for (let n = 2; this.#ids.has(unique); n++) unique = `${id}-${n}`
    this.#ids.add(unique)
    return unique
  }

  #refuse(open: OpenCall): void {
    const respond = this.#callsOfTurn <= maxCallsPerTurn + maxRefusals
    this.#finish(open, { text: texts.loop, outcome: 'failed', respond })
  }

  #prepare(open: OpenCall): void {
    const wait = this.#host.beforeStart?.(open.call, open.id)
    if (!wait) {
      this.#start(open)
      return
    }
    let hasStarted = false
    const start = () => {
      if (hasStarted || !this.#open.has(open.id)) return
      hasStarted = true
      this.#start(open)
    }
    open.timers.push(this.#clock.after(maxFillerMs, start))
    wait.then(start, start)
  }

  #start(open: OpenCall): void {
    const expire = () => this.#finish(open, { text: texts.timeout, outcome: 'timeout' })
    open.timers.push(this.#clock.after(this.#rules.timeoutMs, expire))
    const failed = { text: texts.failed, outcome: 'failed' } as const
    const { name, args } = open.call
    const call: AgentFunctionCall = { id: open.id, name, args }
    // A function that throws before it returns a promise is a failure, too.
    new Promise<AgentFunctionResult>((resolve) => resolve(this.#rules.run(call, open.abort.signal))).then(
      (result) => this.#finish(open, { ...result, outcome: 'finished' }),
      () => this.#finish(open, failed),
    )
  }

  #cancelAll(text: string): void {
    for (const open of [...this.#open.values()]) this.#finish(open, { text, outcome: 'canceled' })
  }

  /** Answers a call that has no answer yet. */
  #finish(open: OpenCall, outcome: Outcome): void {
    if (!this.#open.has(open.id)) return
    const { group } = open
    if (outcome.outcome !== 'canceled') group.wantsAnswer ||= outcome.respond ?? true
    const respond = outcome.outcome !== 'canceled' && group.open === 1 && group.wantsAnswer
    const { text, kept } = outcome
    if (outcome.after) this.#wait({ run: outcome.after, group })
    this.#host.answer(open.call, { text, kept, respond })
    this.#end(open, { ...outcome, respond })
  }

  #end(open: OpenCall, { text, outcome, respond = false }: Outcome): void {
    this.#open.delete(open.id)
    for (const timer of open.timers) timer.cancel()
    if (outcome !== 'finished') open.abort.abort()
    open.group.open--
    const { name, args } = open.call
    const durationMs = Math.round(this.#clock.uptime() - open.startedAt)
    const call = { id: open.id, name, args }
    this.#host.report({ kind: 'function', call, result: text, durationMs, outcome })
    this.#host.ended(open.id, respond)
    if (open.group.open > 0) return
    open.group.wantsAnswer = false
    if (!respond)
      this.#runAfterwards((waiting) => waiting.group === open.group && waiting.answer === undefined)
  }

  #wait(waiting: Afterwards): void {
    this.#afterwards.push(waiting)
    waiting.timer = this.#clock.after(maxAfterMs, () =>
      this.#runAfterwards((other) => other === waiting && waiting.answer === undefined),
    )
  }

  #runAfterwards(isDue: (waiting: Afterwards) => boolean): void {
    const due = this.#afterwards.filter(isDue)
    this.#afterwards = this.#afterwards.filter((waiting) => !due.includes(waiting))
    for (const { run, timer } of due) {
      timer?.cancel()
      new Promise((resolve) => resolve(run())).catch(() => undefined)
    }
  }
}
