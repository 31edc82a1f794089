import { type Meaning, meaningOf } from './meaning.ts'
import type { CallerTurn, TurnRules } from './turn-types.ts'

/** Pause in a dictation of digits or letters that does not end the turn, in ms. */
const dictationMs = 2300
/** Further silence after words that ask for more, in ms. */
const unfinishedMs = 800
/** Least silence that ends a turn that the recogniser's own model should end. */
const engineSilenceMs = 3000
/** Voice without new words that ends a turn with words: noise. */
const noiseMs = 4000

/** Turn in progress, as far as its end depends on it. Times are uptimes in ms. */
export interface SpeechSoFar {
  readonly text: string
  readonly isFinal: boolean
  readonly confidence: number | undefined
  readonly language: string | undefined
  readonly startedAt: number
  /** End of the voice; undefined while it goes on. */
  readonly silentAt: number | undefined
  readonly recognisedAt: number
  /** Turn by the engine's own model. */
  readonly engine: 'none' | 'began' | 'ended'
}

/** End of a turn: its time, its cause, and the time at which an answer may be prepared. */
export interface EndOfTurn {
  readonly at: number
  readonly by: CallerTurn['endedBy']
  readonly prepareAt?: number
  readonly meaning: Meaning
}

type EndRules = Pick<
  TurnRules,
  'endOfSpeechMs' | 'isSemantic' | 'semanticMs' | 'speechEventMs' | 'maxSpeechMs' | 'confidence'
>

/** Silence that ends the turn, by the meaning of its text. */
const silenceOf = (meaning: Meaning, rules: EndRules): number => {
  const { endOfSpeechMs, semanticMs, isSemantic } = rules
  if (!isSemantic || meaning === 'open') return endOfSpeechMs
  if (meaning === 'complete') return Math.min(semanticMs, endOfSpeechMs)
  return meaning === 'unfinished' ? endOfSpeechMs + unfinishedMs : Math.max(endOfSpeechMs, dictationMs)
}

const silentEnd = (speech: SpeechSoFar, silentAt: number, rules: EndRules): EndOfTurn => {
  const meaning = meaningOf(speech.text, speech.language)
  const isSure = (speech.confidence ?? 1) >= rules.confidence
  const byMeaning = silenceOf(meaning, rules)
  const silence = Math.max(
    byMeaning,
    isSure ? 0 : rules.speechEventMs,
    speech.engine === 'began' ? engineSilenceMs : 0,
  )
  const at = speech.isFinal ? silentAt + silence : speech.recognisedAt + rules.speechEventMs
  const by = silence < rules.endOfSpeechMs && speech.isFinal ? 'meaning' : 'silence'
  const isLikely = meaning === 'complete' || meaning === 'open'
  const canPrepare = rules.isSemantic && isLikely && speech.isFinal && speech.engine === 'none'
  const prepareMs = meaning === 'complete' ? rules.semanticMs / 2 : rules.semanticMs
  return {
    at: Math.max(at, silentAt + silence),
    by,
    meaning,
    ...(canPrepare && prepareMs < silence ? { prepareAt: silentAt + prepareMs } : {}),
  }
}

/**
 * End of a turn with words, as of now, by the silence after it and the meaning of its text. A turn whose
 * recognition is not final waits for it, until the recogniser was silent for {@link TurnRules.speechEventMs}.
 * Noise does not keep a turn open: voice without new words ends it, too.
 */
export const endOfTurn = (speech: SpeechSoFar, rules: EndRules): EndOfTurn => {
  const { silentAt, recognisedAt, startedAt } = speech
  if (speech.engine === 'ended') return { at: recognisedAt, by: 'engine', meaning: 'complete' }
  const end: EndOfTurn =
    silentAt === undefined
      ? { at: recognisedAt + Math.max(noiseMs, 2 * rules.speechEventMs), by: 'silence', meaning: 'open' }
      : silentEnd(speech, silentAt, rules)
  const limit = rules.maxSpeechMs > 0 ? startedAt + rules.maxSpeechMs : Infinity
  return limit < end.at ? { at: limit, by: 'limit', meaning: end.meaning } : end
}
