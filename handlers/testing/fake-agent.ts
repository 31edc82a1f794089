import type {
  AgentChange,
  AgentEnd,
  AgentEvent,
  AgentFunctionResult,
  AgentMessage,
  AgentOptions,
  CallAgent,
} from '../verbs.ts'
import { VerbFailed } from '../verbs.ts'

/** Agent's event without its time. */
type Untimed<E> = E extends AgentEvent ? Omit<E, 'at'> : never

/** Voice agent of tests: records its methods, and does what the test says. */
export class FakeAgent implements CallAgent {
  readonly id: string
  readonly options: AgentOptions
  readonly functionTimeoutMs = 20_000
  readonly ended: Promise<AgentEnd>
  /** Methods that were called, with their arguments. */
  readonly did: (readonly [method: string, ...args: unknown[]])[] = []
  /** Summary that the model gives; undefined: none. */
  summary: string | undefined = 'They talked.'
  /** Resolves when what is said was heard; replaced by tests in which that takes time. */
  heard: Promise<void> = Promise.resolve()
  /** Resolves when the agent is silent; replaced by tests in which it speaks. */
  silence: Promise<void> = Promise.resolve()
  /** Whether {@link stop} ends the conversation at once; default true. */
  stops = true
  /** Time of events, in milliseconds since the epoch. */
  time = Date.UTC(2026, 0, 5, 12)
  readonly #end: (end: AgentEnd) => void
  #isOver = false
  #calls = 0

  constructor(id: string, options: AgentOptions) {
    this.id = id
    this.options = options
    const { promise, resolve } = Promise.withResolvers<AgentEnd>()
    this.ended = promise
    this.#end = resolve
  }

  /** Names of the methods that were called, in order. */
  get names(): readonly string[] {
    return this.did.map(([name]) => name)
  }

  /** Arguments of the calls of a method. */
  of(method: string): readonly (readonly unknown[])[] {
    return this.did.flatMap(([name, ...args]) => (name === method ? [args] : []))
  }

  /** Names of the functions that the model sees now. */
  get functions(): readonly string[] {
    const changes = this.of('change').map(([change]) => (change as AgentChange).functions)
    return (changes.findLast((of) => of !== undefined) ?? this.options.functions).map(({ name }) => name)
  }

  /** Prompt that the model sees now. */
  get prompt(): string {
    const changes = this.of('change').map(([change]) => (change as AgentChange).prompt)
    return changes.findLast((of) => of !== undefined) ?? this.options.prompt
  }

  /** Reports an event of the conversation. */
  emit(event: Untimed<AgentEvent>): void {
    this.options.onEvent({ ...event, at: this.time } as AgentEvent)
  }

  /** Calls a function as the model would, and reports it. */
  async call(
    name: string,
    args: unknown = {},
    signal: AbortSignal = new AbortController().signal,
  ): Promise<AgentFunctionResult> {
    this.#calls++
    const call = {
      id: `call-${this.#calls}`,
      name,
      args: typeof args === 'string' ? args : JSON.stringify(args),
    }
    const result = await this.options.runFunction(call, signal)
    this.emit({ kind: 'function', call, result: result.text, durationMs: 5, outcome: 'finished' })
    return result
  }

  /** Turn of the caller. */
  hear(text: string): void {
    this.emit({ kind: 'user', text, by: 'speech', merged: 0 })
  }

  /** Answer of the agent. */
  speak(text: string): void {
    const answer = { answer: `a-${this.did.length}`, spoken: text, heard: text, heardMs: 900 }
    this.emit({ kind: 'answer', ...answer, isBarged: false, isExact: false, calls: [], stamps: {} })
  }

  /** Ends the conversation. */
  end(end: AgentEnd): void {
    if (this.#isOver) return
    this.#isOver = true
    this.emit({ kind: 'ended', end })
    this.#end(end)
  }

  change(change: AgentChange): void {
    this.did.push(['change', change])
  }

  message(message: AgentMessage, respond: boolean): void {
    this.did.push(['message', message, respond])
  }

  async say(...args: Parameters<CallAgent['say']>): Promise<void> {
    this.did.push(['say', ...args])
    await this.heard
  }

  cut(): void {
    this.did.push(['cut'])
  }

  async quiet(): Promise<boolean> {
    this.did.push(['quiet'])
    await this.silence
    return true
  }

  hold(): void {
    this.did.push(['hold'])
  }

  unhold(): void {
    this.did.push(['unhold'])
  }

  waitForUser(ms?: number): void {
    this.did.push(['waitForUser', ...(ms === undefined ? [] : [ms])])
  }

  background(sound: { readonly url: string; readonly volumeDb: number } | undefined): void {
    this.did.push(['background', sound])
  }

  async summarize(instruction: string): Promise<string> {
    this.did.push(['summarize', instruction])
    if (this.summary === undefined) throw new VerbFailed('agents_unavailable', 'No model can answer.')
    return this.summary
  }

  stop(): void {
    this.did.push(['stop'])
    if (this.stops) this.end({ kind: 'stopped' })
  }
}
