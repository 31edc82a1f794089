import type { AudioFormat } from '../audio-format.ts'
import type { OfferedFunction } from '../dialogue.ts'

/** Call of Ultravox that was created, and not joined yet. */
export interface UltravoxCall {
  readonly input: AudioFormat
  readonly output: AudioFormat
  readonly silenceMs: number
  readonly functions: readonly OfferedFunction[]
  /** Text that the agent speaks first; default the script's. */
  readonly greeting?: string
  readonly userSpeaksFirst: boolean
}
