import type { AgentSpeech } from './agent-speech.ts'
import type { ConversationRecord } from './conversation-record.ts'
import type { SoundVerdict, VoiceCheckListener } from './detector/voice-check.ts'
import type { Turns } from './turns/turns.ts'

/** Effects of the caller's voice on everything but the turns and the agent's speech. */
export interface CallerVoiceHost {
  /** Voice began. */
  onVoice(): void
  /** A sound of the caller is over. Only called if there is a detector. */
  onVerdict(verdict: SoundVerdict): void
}

/** Voice of the caller, on its way to the turns, the record and the agent's speech. */
export class CallerVoice implements VoiceCheckListener {
  readonly #turns: Turns
  readonly #record: ConversationRecord
  readonly #speech: AgentSpeech
  readonly #host: CallerVoiceHost

  constructor(turns: Turns, record: ConversationRecord, speech: AgentSpeech, host: CallerVoiceHost) {
    this.#turns = turns
    this.#record = record
    this.#speech = speech
    this.#host = host
  }

  get canWait(): boolean {
    // In any other state, voice keeps a turn open, or holds an answer back.
    return this.#turns.state === 'listening'
  }

  onVoice(atMs: number, isFaded: boolean): void {
    const agoMs = this.#record.stamps.voice(true, atMs)
    this.#record.emit({ kind: 'speech', state: 'began' })
    this.#host.onVoice()
    this.#turns.voice(true, agoMs)
    if (isFaded) this.#undoFade()
  }

  onVoiceEnd(atMs: number): void {
    const agoMs = this.#record.stamps.voice(false, atMs)
    this.#record.emit({ kind: 'speech', state: 'ended' })
    this.#turns.voice(false, agoMs)
  }

  onNoise(isFaded: boolean): void {
    if (isFaded) {
      this.#undoFade()
      return
    }
    this.#record.stamps.noVoice()
    this.#record.emit({ kind: 'speech', state: 'ended' })
    this.#turns.noVoice()
  }

  onVerdict(verdict: SoundVerdict): void {
    this.#host.onVerdict(verdict)
  }

  /** The media thread has lowered the speech: it goes on, unless the turns have a doubt. */
  #undoFade(): void {
    const { state } = this.#turns
    if (state !== 'doubting' && state !== 'held') this.#speech.undoFade()
  }
}
