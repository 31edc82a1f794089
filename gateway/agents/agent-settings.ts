import type {
  AgentChange,
  AgentFunction,
  AgentLanguage,
  AgentModelSettings,
  AgentOptions,
  AgentTurnSettings,
} from '../../handlers/verbs.ts'
import type { EngineChange, EngineMessage, EngineRequest } from './engine.ts'
import { compilePattern } from './text/pattern.ts'
import { compileRewrites, type Rewriter } from './text/pronounce.ts'
import { primaryLanguage, wordsOf } from './text/words.ts'
import type { CallerTurn } from './turns/turn-types.ts'

/** Fewest words of a turn whose language the agent follows: that of one word is often wrong. */
const minWords = 2

/** Settings of a conversation: those of its document with the changes so far. */
export class AgentSettings {
  readonly #options: AgentOptions
  readonly #faults: readonly string[]
  #correct: Rewriter
  #changes: AgentChange = {}

  constructor(options: AgentOptions) {
    this.#options = options
    const { rewrite, ignored } = compileRewrites(options.corrections)
    this.#correct = rewrite
    this.#faults = [...ignored, ...compileRewrites(options.pronounce).ignored]
  }

  /** Rewrites recognised text by the document's present rules. */
  readonly correct: Rewriter = (text, onLimit) => this.#correct(text, onLimit)

  /** Changes settings. Returns the change for an engine; undefined if it concerns the turns only. */
  change(change: AgentChange): EngineChange | undefined {
    const turns = { ...this.#changes.turns, ...defined(change.turns ?? {}) }
    const modelSettings = { ...this.#changes.modelSettings, ...defined(change.modelSettings ?? {}) }
    this.#changes = { ...this.#changes, ...defined(change), turns, modelSettings }
    if (change.corrections) this.#correct = compileRewrites(change.corrections).rewrite
    const { prompt, functions, hints, history } = change
    // Engines replace their settings: they get those that stay, too.
    const settings = change.modelSettings && this.#modelSettings
    const language = this.languageOf(change.language)
    const endOfSpeechMs = change.turns?.endOfSpeechMs
    const changed = defined({ prompt, functions, hints, settings, history, language, endOfSpeechMs })
    return Object.keys(changed).length > 0 ? changed : undefined
  }

  get turns(): AgentTurnSettings {
    return { ...this.#options.turns, ...this.#changes.turns }
  }

  /** Language that the agent speaks now. */
  get language(): AgentLanguage | undefined {
    return this.languageOf(this.#changes.language) ?? this.#options.languages[0]
  }

  /**
   * Returns the language of a code, or the language itself; undefined if the document does not have it.
   */
  languageOf(wanted: string | AgentLanguage | undefined): AgentLanguage | undefined {
    if (typeof wanted === 'object') return wanted
    return this.#options.languages.find((each) => each.code === wanted)
  }

  /**
   * Returns the code of the language to answer a turn in, if it is not the present one. Undefined if the
   * document has one language only, or not that of the turn, or if the turn is a single word.
   */
  followed({ text, language: tag = '' }: Pick<CallerTurn, 'text' | 'language'>): string | undefined {
    const { languages } = this.#options
    const primary = primaryLanguage(tag)
    if (languages.length < 2 || primary === '' || wordsOf(text).length < minWords) return undefined
    const isSame = ({ code }: AgentLanguage) => code.toLowerCase() === tag.toLowerCase()
    const isNear = ({ code }: AgentLanguage) => primaryLanguage(code) === primary
    const { language } = this
    if (language && isNear(language)) return undefined
    return (languages.find(isSame) ?? languages.find(isNear))?.code
  }

  /** Whether the recogniser follows the caller: the first language of the document is `multi`. */
  get isMultilingual(): boolean {
    return this.#options.languages[0]?.code === 'multi'
  }

  /** Notes the language that the agent speaks now, by its code, which is returned. */
  speakIn(code: string): string {
    this.#changes = { ...this.#changes, language: code }
    return code
  }

  /** Returns a function that the model may call now. */
  functionNamed(name: string): AgentFunction | undefined {
    return this.#functions.find((each) => each.name === name)
  }

  /** Patterns of the document that are not supported, and have no effect. */
  get ignoredPatterns(): readonly string[] {
    const { bargePattern } = this.turns
    const isIgnored = bargePattern !== undefined && !compilePattern(bargePattern, true)
    return isIgnored ? [bargePattern, ...this.#faults] : this.#faults
  }

  /** Returns the state of the conversation for a new session of an engine. */
  request(projectId: string, history: readonly EngineMessage[]): EngineRequest {
    const { prompt, languages, hints, pronounce } = this.#options
    const { isSemantic, endOfSpeechMs, barge } = this.turns
    const { language } = this
    // A language that the document does not list replaces all.
    const listed = language && !languages.includes(language) ? [] : languages
    const others = listed.filter((each) => each !== language)
    // A recogniser that follows the caller stays the first one.
    const multi = others.filter(({ code }) => code === 'multi')
    const rest = others.filter(({ code }) => code !== 'multi')
    return {
      projectId,
      prompt: this.#changes.prompt ?? prompt,
      functions: this.#functions,
      history,
      languages: [...multi, ...(language ? [language] : []), ...rest],
      hints: this.#changes.hints ?? hints,
      pronounce,
      settings: this.#modelSettings,
      isSemantic,
      endOfSpeechMs,
      isInterruptible: barge !== 'none',
    }
  }

  get #modelSettings(): AgentModelSettings {
    return { ...this.#options.modelSettings, ...this.#changes.modelSettings }
  }

  get #functions(): readonly AgentFunction[] {
    return this.#changes.functions ?? this.#options.functions
  }
}

/** Members of an object that are present: an undefined one changes nothing. */
type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

const defined = <T extends object>(value: T): Present<T> =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Present<T>
