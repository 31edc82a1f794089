import { isAcknowledgement } from '../text/acknowledgements.ts'
import { CallerSpeech, type Heard } from './caller-speech.ts'
import { type EndOfTurn, endOfTurn } from './end-of-turn.ts'
import { KeyInput } from './key-input.ts'
import type { CallerTurn, TurnRules } from './turn-types.ts'
import { VoiceTrack } from './voice-track.ts'

/** Longest time between the end of voice and its words, in ms: later words are of voice not detected. */
const recognitionMs = 1000
const finalOnlyRecognitionMs = 5000
/** Time before the end of the agent's speech in which an acknowledgement is an answer to it, in ms. */
const answerMs = 1500

/** Voice, words, keys and texts of the caller that are no complete turn yet. Times are uptimes in ms. */
export class CallerSide {
  readonly voice = new VoiceTrack()
  readonly speech = new CallerSpeech()
  readonly keys = new KeyInput()
  /** Texts from elsewhere, each a turn. */
  readonly texts: string[] = []
  /** Last turn that was spoken, for a transparent interruption. */
  last: CallerTurn | undefined
  /** Last acknowledgement over the agent's speech. */
  #acknowledgement: { readonly heard: Heard; readonly at: number } | undefined

  /** Whether the caller speaks, or has begun a turn. */
  get isActive(): boolean {
    return this.speech.text !== '' || this.keys.isPending || (this.voice.isVoiced && !this.voice.isNoise)
  }

  /** Whether the caller said more than an acknowledgement, or anything, if acknowledgements interrupt. */
  hasWords({ bargeAcknowledgements }: TurnRules): boolean {
    const { text, language } = this.speech
    return text !== '' && (bargeAcknowledgements || !isAcknowledgement(text, language))
  }

  /** Adds a recognition; returns false if it is nothing new, or an echo that was no detected voice. */
  hear(heard: Heard, now: number): boolean {
    // Words of the latest voice that are complete do not make later ones its own.
    if (heard.isEcho && !this.#isOfVoice(now, this.voice.hasFinal)) return false
    this.voice.recognised(heard.isFinal, now)
    if (heard.text.trim() !== '' && this.#isOfVoice(now)) this.speech.begin(this.voice.beganAt ?? now)
    return this.speech.add(heard, now)
  }

  /** Whether words that are recognised now belong to the last detected voice. `isSoon`: it just ended. */
  #isOfVoice(at: number, isSoon = false): boolean {
    const { isVoiced, endedAt, isFinalOnly } = this.voice
    const longest = isFinalOnly && !isSoon ? finalOnlyRecognitionMs : recognitionMs
    return isVoiced || (endedAt !== undefined && at - endedAt <= longest)
  }

  /** End of the voice of this turn; undefined while it goes on. */
  get #silentAt(): number | undefined {
    const { voice, speech } = this
    if (voice.isVoiced) return undefined
    const recognisedAt = speech.recognisedAt ?? 0
    return this.#isOfVoice(recognisedAt) ? voice.endedAt : Math.max(recognisedAt, voice.endedAt ?? 0)
  }

  /** End of the turn in progress as of now; undefined without words. */
  end(rules: TurnRules): EndOfTurn | undefined {
    const { speech } = this
    const { text, recognisedAt, startedAt } = speech
    if (text === '') return undefined
    return endOfTurn(
      {
        text,
        isFinal: speech.isFinal,
        confidence: speech.confidence,
        language: speech.language,
        startedAt: startedAt ?? recognisedAt ?? 0,
        silentAt: this.#silentAt,
        recognisedAt: recognisedAt ?? startedAt ?? 0,
        engine: speech.engine,
      },
      rules,
    )
  }

  /** Time at which voice or a turn of the engine that brought no words is over. */
  wordlessEnd(rules: TurnRules, engineMs: number): number | undefined {
    const { voice, speech } = this
    if (voice.isVoiced && !voice.isNoise) return undefined
    const began = speech.startedAt ?? voice.beganAt ?? 0
    const end = Math.max(
      voice.endedAt ?? 0,
      began + (speech.engine === 'began' ? engineMs : rules.firstWordMs),
    )
    return end
  }

  /** Takes the words so far as a complete turn. `prompt`: instruction after an interruption. */
  take(by: 'speech' | 'keys', endedBy: CallerTurn['endedBy'], prompt: string | undefined): CallerTurn {
    const { speech, voice } = this
    const turn: CallerTurn = {
      text: [speech.text, by === 'keys' ? this.keys.take() : ''].filter((part) => part !== '').join(' '),
      by,
      merged: speech.merged,
      endedBy,
      confidence: speech.confidence,
      language: speech.language,
      startedAt: speech.startedAt,
      endedAt: by === 'speech' ? (this.#silentAt ?? speech.recognisedAt) : undefined,
      ...(speech.isInterruption && prompt ? { instruction: prompt } : {}),
    }
    voice.isNoise = voice.isVoiced
    speech.clear()
    return turn
  }

  /** Takes a final acknowledgement out of the turn: it was said to the agent's speech. */
  takeAcknowledgement(now: number): void {
    const { speech, voice } = this
    const { text, confidence, language } = speech
    const at = voice.isVoiced || this.#isOfVoice(now) ? (voice.beganAt ?? now) : now
    this.#acknowledgement = { heard: { text, isFinal: true, confidence, language }, at }
    speech.clear()
  }

  /** The agent's speech has ended: an acknowledgement shortly before was an answer to it. */
  agentEnded(now: number): void {
    const given = this.#acknowledgement
    this.#acknowledgement = undefined
    if (!given || now - given.at > answerMs) return
    this.speech.begin(given.at)
    this.speech.add(given.heard, now)
  }
}
