import type { AgentChange, AgentEnd, AgentMessage, CallAgent } from '../../handlers/verbs.ts'
import type { MediaPort } from '../../media/types.ts'
import type { VoiceAgent } from '../calls/verbs/call-agents.ts'
import type { Conversation } from './conversation.ts'

/** Agent of a call, as its verbs see it. */
export class RunningAgent implements VoiceAgent {
  readonly id: string
  readonly ended: Promise<AgentEnd>
  readonly #conversation: Conversation

  constructor(id: string, conversation: Conversation) {
    this.id = id
    this.ended = conversation.ended
    this.#conversation = conversation
  }

  change(change: AgentChange): void {
    this.#conversation.change(change)
  }

  message(message: AgentMessage, respond: boolean): void {
    this.#conversation.message(message, respond)
  }

  say(text: string, { isInterruptible = true }: { readonly isInterruptible?: boolean } = {}): Promise<void> {
    return this.#conversation.say(text, isInterruptible)
  }

  quiet(): Promise<void> {
    return this.#conversation.quiet()
  }

  hold(): void {
    this.#conversation.hold()
  }

  unhold(): void {
    this.#conversation.unhold()
  }

  waitForUser(ms?: number): void {
    this.#conversation.waitForUser(ms)
  }

  background(sound: Parameters<CallAgent['background']>[0]): void {
    this.#conversation.background.play(sound)
  }

  summarize(instruction: string): Promise<string> {
    return this.#conversation.summarize(instruction)
  }

  stop(): void {
    this.#conversation.leave()
  }

  digit(digit: string): void {
    this.#conversation.digit(digit)
  }

  moveTo(port: MediaPort): void {
    this.#conversation.moveTo(port)
  }
}
