import { ConversationHold, type HeldConversation } from '../common/conversation-hold.ts'
import { type Timers, within } from '../common/timers.ts'
import type { AgentCommands, AgentMessage, CallAgent } from '../verbs.ts'

/** Effects of commands on a session. */
export interface RelayCommandHost {
  readonly call: HeldConversation['call']
  readonly timers: Timers
  /** Agent of the session; undefined before its start. */
  readonly agent: () => CallAgent | undefined
  /** Speaks a text of the agent; `signal` drops it. Resolves when it was heard, interrupted or dropped. */
  say(text: string, signal?: AbortSignal): Promise<void>
  /** Hands a text over as a turn of the caller. */
  prompt(text: string): void
  end(): void
  onError(error: unknown): void
}

/** Maximum time for the words before a hold, in ms. */
const maxPromptMs = 10_000

/** Commands to a session from outside its document, for instance by REST. */
export class RelayCommands implements AgentCommands {
  readonly #host: RelayCommandHost
  readonly #hold: ConversationHold
  #isOver = false

  constructor(host: RelayCommandHost) {
    this.#host = host
    this.#hold = new ConversationHold({
      call: host.call,
      timers: host.timers,
      isPaused: false,
      music: {},
      canHold: () => !this.#isOver,
      lastWords: (prompt) => (prompt.trim() === '' ? undefined : this.#speak(prompt)),
      pause: () => host.agent()?.hold(),
      resume: () => host.agent()?.unhold(),
      onError: (error) => host.onError(error),
    })
  }

  /** Speaks a text of the assistant; one of the user is a turn. Others have no meaning for a server. */
  message({ role, content }: AgentMessage): void {
    if (content.trim() === '') return
    if (role === 'assistant') void this.#host.say(content)
    if (role === 'user') this.#host.prompt(content)
  }

  hold(seconds: number, prompt?: string): void {
    this.#hold.begin(seconds, { prompt })
  }

  /** Ends a hold, and speaks the prompt. */
  unhold(prompt = ''): void {
    this.#hold.end()
    if (prompt.trim() !== '') void this.#host.say(prompt)
  }

  stop(): void {
    this.#host.end()
  }

  /** Ends a hold; none begins any more. Idempotent. */
  close(): void {
    this.#isOver = true
    this.#hold.end()
  }

  /** Speaks the words before a hold. The rest of what takes longer is dropped: it would follow the hold. */
  async #speak(prompt: string): Promise<void> {
    const late = new AbortController()
    await within(this.#host.timers, maxPromptMs, this.#host.say(prompt, late.signal))
    late.abort()
  }
}
