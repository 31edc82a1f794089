import type { AgentLanguage } from '../../../handlers/verbs.ts'
import type { PcmRate } from '../../../media/types.ts'
import { EngineError } from '../streaming/engine-error.ts'
import type { AgentVoice, SpeechListener, Utterance } from './voice.ts'

/** Voice by its configuration, with the names by which documents mean it. */
export interface VoiceChoice {
  readonly voice: AgentVoice
  /** Names in documents, in any case; `elevenlabs.*` stands for all that begin with `elevenlabs.`. */
  readonly names: readonly string[]
  /** Languages (BCP 47) that it speaks; `en` stands for `en-GB` too. Absent: all. */
  readonly languages?: readonly string[]
  /** Voice by the server's own name; default the rest of a name that ends with `*`, else the voice's own. */
  readonly id?: string
}

/** Options of a {@link VoiceLine}. */
export interface VoiceLineOptions {
  /** Voices in order of preference; at least one. */
  readonly choices: readonly VoiceChoice[]
  readonly rate: PcmRate
  readonly projectId: string
  /** Called when a voice failed and the next one speaks in its place. */
  readonly onFallBack: (name: string, error: EngineError) => void
}

/** Voice to try, with its id, and whether the document names it. */
interface Candidate {
  readonly choice: VoiceChoice
  readonly id: string | undefined
  readonly isNamed: boolean
}

/**
 * Voices of a conversation: the one that the document names, then the others as its replacement. A voice that
 * failed is not used again. A text whose voice fails is spoken from its beginning by the next voice.
 */
export class VoiceLine {
  readonly #options: VoiceLineOptions
  readonly #failed = new Set<VoiceChoice>()
  #language: AgentLanguage | undefined

  constructor(options: VoiceLineOptions) {
    this.#options = options
  }

  /** Language to speak from now on. */
  set language(language: AgentLanguage | undefined) {
    this.#language = language
  }

  /** Whether a voice has the name of the current language's document; a language without a voice has. */
  get isKnown(): boolean {
    const name = this.#language?.voice
    return !name || this.#options.choices.some((choice) => matchOf(choice, name) !== undefined)
  }

  /**
   * Begins to speak a text; `present`: its language, default that of the conversation. The listener is not
   * called before the return.
   */
  speak(text: string, listener: SpeechListener, present = this.#language): Utterance {
    const order = this.#order(present)
    let utterance: Utterance | undefined
    const begin = (at: number): void => {
      const candidate = order[at]
      if (!candidate) {
        queueMicrotask(() => listener.onFailure(new EngineError('server', 'no voice is left')))
        return
      }
      const { choice, id, isNamed } = candidate
      const { rate, projectId } = this.#options
      const { code, voiceSettings } = present ?? {}
      const language = code === 'multi' ? undefined : code
      const options = {
        rate,
        projectId,
        ...(id && { voice: id }),
        ...(language && { language }),
        // Settings belong to the voice that the document names.
        ...(voiceSettings && isNamed && { settings: voiceSettings }),
      }
      utterance = choice.voice.speak(text, options, {
        onAudio: (samples) => listener.onAudio(samples),
        onEnd: () => listener.onEnd(),
        onFailure: (error) => {
          this.#failed.add(choice)
          if (at + 1 >= order.length) return listener.onFailure(error)
          this.#options.onFallBack(choice.voice.name, error)
          begin(at + 1)
        },
      })
    }
    begin(0)
    return { cancel: () => utterance?.cancel() }
  }

  /** Returns the voices to try, in order. */
  #order({ voice: name, code }: Partial<AgentLanguage> = {}): readonly Candidate[] {
    const all = this.#options.choices
      .filter((choice) => !this.#failed.has(choice))
      .map((choice) => {
        const rest = name ? matchOf(choice, name) : undefined
        return { choice, isNamed: rest !== undefined, id: choice.id ?? (rest || undefined) }
      })
    return [
      ...all.filter(({ isNamed }) => isNamed),
      ...all.filter(({ isNamed, choice }) => !isNamed && speaks(choice, code)),
      ...all.filter(({ isNamed, choice }) => !isNamed && !speaks(choice, code)),
    ]
  }
}

/** Returns the part of the name that `*` stands for, possibly empty; undefined if no name matches. */
const matchOf = ({ names }: VoiceChoice, name: string): string | undefined => {
  for (const pattern of names) {
    const start = pattern.endsWith('*') ? pattern.slice(0, -1) : undefined
    if (start === undefined ? pattern.toLowerCase() === name.toLowerCase() : begins(name, start))
      return start === undefined ? '' : name.slice(start.length)
  }
  return undefined
}

const begins = (name: string, start: string): boolean =>
  name.slice(0, start.length).toLowerCase() === start.toLowerCase()

const speaks = ({ languages }: VoiceChoice, code: string | undefined): boolean => {
  if (!languages || !code || code === 'multi') return true
  const wanted = code.toLowerCase()
  return languages.some((each) => {
    const tag = each.toLowerCase()
    return wanted === tag || wanted.startsWith(`${tag}-`) || tag.startsWith(`${wanted}-`)
  })
}
