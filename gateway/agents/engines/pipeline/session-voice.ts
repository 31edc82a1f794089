import type { AgentLanguage, AgentRewrite } from '../../../../handlers/verbs.ts'
import type { PcmRate } from '../../../../media/types.ts'
import type { Log } from '../../../core/log.ts'
import type { EngineListener, EngineRequest } from '../../engine.ts'
import { primaryLanguage } from '../../text/words.ts'
import { writtenLanguage } from '../../text/written-language.ts'
import type { SpeechListener, Utterance } from '../../voices/voice.ts'
import { type VoiceChoice, VoiceLine } from '../../voices/voice-line.ts'

/** Voices of an engine that writes its answers. */
export interface VoiceChoices {
  /** At least one, in order of preference. */
  readonly voices: readonly VoiceChoice[]
  readonly log: Pick<Log, 'warn'>
  /** Rewrites text for the voice by the rules of the document; default no rewriting. */
  readonly pronounce?: (text: string, rules: readonly AgentRewrite[]) => string
}

/** Session that a {@link SessionVoice} speaks in. */
export interface SpeechSession {
  /** Name of the engine, for the log. */
  readonly engine: string
  /** Sample rate in Hz of the speech. */
  readonly rate: PcmRate
  readonly request: Pick<EngineRequest, 'projectId' | 'languages' | 'pronounce'>
  readonly listener: Pick<EngineListener, 'onUsage' | 'onWarning'>
}

/**
 * Voice of one session: speaks in the language of the moment, by the voice of that language. If the document
 * has several, a text that is clearly written in another one of them switches to it.
 */
export class SessionVoice {
  readonly #parts: VoiceChoices
  readonly #session: SpeechSession
  readonly #line: VoiceLine
  /** Languages of the document, one for each primary subtag. */
  readonly #tags: readonly string[]
  #language: AgentLanguage | undefined
  #isOver = false

  constructor(parts: VoiceChoices, session: SpeechSession) {
    this.#parts = parts
    this.#session = session
    const { engine, rate, request, listener } = session
    this.#tags = spokenTags(request.languages)
    this.#line = new VoiceLine({
      choices: parts.voices,
      rate,
      projectId: request.projectId,
      onFallBack: (voice, error) => {
        parts.log.warn({ event: 'agent.voice-failed', engine, voice, reason: error.message }, 'voice failed')
        listener.onWarning('voice_failed', `The voice ${voice} failed: ${error.message}`)
      },
    })
  }

  /**
   * Speaks in a language from now on. Warns if no voice has the name that the document gives, but not before
   * the return.
   */
  speakIn(language: AgentLanguage | undefined): void {
    this.#use(language)
    if (!language || this.#line.isKnown) return
    queueMicrotask(() => {
      if (!this.#isOver)
        this.#session.listener.onWarning(
          'voice_unknown',
          `No voice is configured by the name ${language.voice}`,
        )
    })
  }

  /** Speaks in the language of the document that the caller speaks, by its tag, if the document has it. */
  follow(tag: string): void {
    const found = languageOf(this.#session.request.languages, tag)
    if (found && primaryLanguage(found.code) !== primaryLanguage(this.#language?.code)) this.#use(found)
  }

  /**
   * Begins to speak a text, in the language of the moment or in `own`. The listener is not called before the
   * return.
   */
  speak(text: string, listener: SpeechListener, own?: AgentLanguage): Utterance {
    const { request, listener: session } = this.#session
    const written = !own && this.#tags.length > 1 ? writtenLanguage(text, this.#tags) : undefined
    if (written !== undefined) this.follow(written)
    session.onUsage({ voiceCharacters: text.length })
    return this.#line.speak(this.#parts.pronounce?.(text, request.pronounce) ?? text, listener, own)
  }

  #use(language: AgentLanguage | undefined): void {
    this.#language = language
    this.#line.language = language
  }

  /** Reports nothing any more. */
  close(): void {
    this.#isOver = true
  }
}

/** Returns the tags of the languages that a caller may speak: the first one of each language. */
export const spokenTags = (languages: readonly AgentLanguage[]): readonly string[] => {
  const tags = new Map<string, string>()
  for (const { code } of languages) {
    const primary = primaryLanguage(code)
    if (primary !== '' && !tags.has(primary)) tags.set(primary, code)
  }
  return [...tags.values()]
}

/** Returns the language of a tag: the same one, else another one of the same primary subtag. */
const languageOf = (languages: readonly AgentLanguage[], tag: string): AgentLanguage | undefined => {
  const primary = canonicalPrimary(tag)
  const suitable = languages.filter(({ code }) => primary !== '' && primaryLanguage(code) === primary)
  return suitable.find(({ code }) => code.toLowerCase() === tag.toLowerCase()) ?? suitable[0]
}

/** Returns the primary subtag of a tag, also of one with three letters, such as `spa`. */
const canonicalPrimary = (tag: string): string => {
  try {
    return new Intl.Locale(tag).language
  } catch {
    return primaryLanguage(tag)
  }
}
