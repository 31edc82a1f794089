import type { AgentCommands, AgentOptions, CallAgent } from '../../../handlers/verbs.ts'
import { CallEnded } from '../../../handlers/verbs.ts'
import type { MediaPort } from '../../../media/types.ts'
import type { Call } from '../call/call.ts'
import { verbFailed } from '../leg/failures.ts'

/** Leg that an agent talks to. */
export interface AgentSource {
  readonly callId: string
  readonly projectId: string
  /** Port of the leg until {@link VoiceAgent.moveTo}. */
  readonly port: MediaPort
  /** Ends when the call ends. */
  readonly signal: AbortSignal
}

/** Voice agent of a call. */
export interface VoiceAgent extends CallAgent {
  /** Handles a key of the leg. */
  digit(digit: string): void
  /** Moves the agent to another port; see `Tap.moveTo`. */
  moveTo(port: MediaPort): void
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

  /** Throws a `VerbFailed` with `agents_unavailable` or `agent_busy`. */
  async start(port: MediaPort, options: AgentOptions): Promise<CallAgent> {
    const { signal, info } = this.#call
    const { port: present } = this.#call.caller
    if (this.#running || this.#isStarting) throw verbFailed('agent_busy', 'The call has an agent already.')
    this.#isStarting = true
    try {
      const { callId, projectId } = info
      const agent = await this.#starter.start({ callId, projectId, port, signal }, options)
      if (signal.aborted) {
        agent.stop()
        throw new CallEnded()
      }
      this.#follow(agent, options)
      // The caller may have moved while the engine was chosen.
      if (this.#call.caller.port !== present) this.#followCaller()
      return agent
    } finally {
      this.#isStarting = false
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
