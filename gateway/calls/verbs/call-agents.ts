import type { AgentCommands, AgentOptions, CallAgent } from '../../../handlers/verbs.ts'
import { CallEnded } from '../../../handlers/verbs.ts'
import type { MediaPort } from '../../../media/types.ts'
import type { Call } from '../call/call.ts'
import { verbFailed } from '../leg/failures.ts'

/** Leg that an agent talks to. */
export interface AgentSource {
  readonly callId: string
  readonly projectId: string
  /** Port of the leg; absent before the answer: {@link VoiceAgent.moveTo} follows. */
  readonly port?: MediaPort
  /** Ends when the call ends. */
  readonly signal: AbortSignal
}

/** Voice agent of a call. */
export interface VoiceAgent extends CallAgent {
  /**
   * Resolves when the first words are prepared, or there is no use in waiting for them, after 1.5 s at most.
   * Never rejects.
   */
  readonly prepared: Promise<void>
  /** Handles a key of the leg. */
  digit(digit: string): void
  /** Moves the agent to its first port, or to another one; see `Tap.moveTo`. */
  moveTo(port: MediaPort): void
  /** Ends the agent at once, without last words: the call has ended or is not answered. */
  hangUp(): void
}

/** Starter of agents; implemented by gateway/agents. */
export interface AgentStarter {
  /** Rejects with an Error whose `code` is `agents_unavailable` or `agent_busy`. */
  start(source: AgentSource, options: AgentOptions): Promise<VoiceAgent>
}

/** Agent of one call: at most one at a time. It follows the caller's port, and ends with the call. */
export class CallAgents {
  readonly #starter: AgentStarter
  readonly #call: Call
  #running: VoiceAgent | undefined
  #commands: AgentCommands | undefined
  #isStarting = false

  constructor(starter: AgentStarter, call: Call) {
    this.#starter = starter
    this.#call = call
    call.onPartiesChanged(() => this.#followCaller())
  }

  /** Commands of the agent in progress; undefined without one. */
  get commands(): AgentCommands | undefined {
    return this.#commands
  }

  /**
   * Starts an agent. A call that is not answered yet is answered when the agent's first words are prepared.
   * Throws a `VerbFailed` with `agents_unavailable` or `agent_busy`, and as {@link Call.openAudio}.
   */
  async start(options: AgentOptions): Promise<CallAgent> {
    if (this.#running || this.#isStarting) throw verbFailed('agent_busy', 'The call has an agent already.')
    this.#isStarting = true
    try {
      const { isAnswered } = this.#call.caller
      const port = isAnswered ? await this.#call.openAudio(true, options.signal) : undefined
      const agent = await this.#begin(port, options)
      if (!port) await this.#answer(agent, options.signal)
      this.#follow(agent, options)
      // The caller may have moved while the engine was chosen.
      if (this.#call.caller.port !== port) this.#followCaller()
      return agent
    } finally {
      this.#isStarting = false
    }
  }

  async #begin(port: MediaPort | undefined, options: AgentOptions): Promise<VoiceAgent> {
    const { signal, info } = this.#call
    const { callId, projectId } = info
    const agent = await this.#starter.start({ callId, projectId, signal, ...(port && { port }) }, options)
    if (!signal.aborted) return agent
    agent.hangUp()
    throw new CallEnded()
  }

  /** Answers the call when the agent can speak at once. */
  async #answer(agent: VoiceAgent, signal: AbortSignal | undefined): Promise<void> {
    try {
      await this.#call.whileUp(agent.prepared, signal)
      agent.moveTo(await this.#call.openAudio(true, signal))
    } catch (error) {
      agent.hangUp()
      throw error
    }
  }

  #follow(agent: VoiceAgent, { signal, commands }: AgentOptions): void {
    this.#running = agent
    this.#commands = commands
    const stop = () => agent.stop()
    const unsubscribe = this.#call.onDigit((digit) => agent.digit(digit))
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop, { once: true })
    void agent.ended.then(() => {
      unsubscribe()
      signal?.removeEventListener('abort', stop)
      this.#running = undefined
      this.#commands = undefined
    })
  }

  #followCaller(): void {
    const { port } = this.#call.caller
    if (port) this.#running?.moveTo(port)
  }
}
