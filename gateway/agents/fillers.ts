import type { PcmRate } from '../../media/types.ts'
import type { AgentSettings } from './agent-settings.ts'
import type { AgentSpeech } from './agent-speech.ts'
import type { ConversationRecord } from './conversation-record.ts'

/** Apology before the end, if no engine is left. */
const apology = 'I am sorry, there is a technical problem.'

const oneOf = (phrases: readonly string[] = []): string | undefined =>
  phrases[Math.floor(Math.random() * phrases.length)]

/** Phrases of the gateway's own voice: fillers, and the apology if no engine is left. */
export class Fillers {
  readonly #settings: AgentSettings
  readonly #speech: AgentSpeech
  readonly #record: ConversationRecord
  readonly #render: (text: string, rate: PcmRate) => Promise<Int16Array | undefined>
  /** Number of the moment: what is rendered for an earlier one comes too late. */
  #moment = 0

  /** `render`: returns a phrase as samples; undefined if it cannot be spoken. Never rejects. */
  constructor(
    settings: AgentSettings,
    speech: AgentSpeech,
    record: ConversationRecord,
    render: (text: string, rate: PcmRate) => Promise<Int16Array | undefined>,
  ) {
    this.#settings = settings
    this.#speech = speech
    this.#record = record
    this.#render = render
  }

  /** Says a filler of the language, if there is one. Those of functions are said before they start. */
  say(when: 'thinking' | 'dictation'): void {
    const { speechFillers, turnFillers } = this.#settings.language ?? {}
    const text = oneOf({ thinking: speechFillers, dictation: turnFillers }[when])
    if (text !== undefined) void this.speak(text)
  }

  /** Says the filler of a function. Returns its end, also if it is dropped; undefined without one. */
  ofFunction(name: string): Promise<void> | undefined {
    const { fillers } = this.#settings.functionNamed(name) ?? {}
    const { language } = this.#settings
    const phrases = fillers?.[language?.code ?? ''] ?? fillers?.default
    const text = oneOf(phrases ?? language?.functionFillers)
    return text === undefined ? undefined : this.speak(text).then(() => this.#speech.spoken())
  }

  /** The moment for a filler is over: one that is not heard yet is dropped. */
  expire(): void {
    this.#moment++
  }

  /** Says that there is a fault. Resolves when that was heard, or cannot be said. */
  async apologize(): Promise<void> {
    this.expire()
    await this.speak(apology)
    await this.#speech.spoken()
  }

  /** Queues a phrase as soon as it is rendered. */
  async speak(text: string): Promise<void> {
    const moment = this.#moment
    const samples = await this.#render(text, this.#speech.rate)
    if (!samples || moment !== this.#moment) return
    this.#record.emit({ kind: 'filler', text })
    this.#speech.sound(samples)
  }
}
