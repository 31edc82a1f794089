import type {
  AgentChange,
  AgentFunction,
  AgentLanguage,
  AgentOptions,
  AgentTurnSettings,
} from '../../handlers/verbs.ts'
import type { EngineChange, EngineMessage, EngineRequest } from './engine.ts'
import { compilePattern } from './text/pattern.ts'
import { compileRewrites, type Rewriter } from './text/pronounce.ts'

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
  readonly correct: Rewriter = (text) => this.#correct(text)

  /** Changes settings. Returns the change for an engine; undefined if it concerns the turns only. */
  change(change: AgentChange): EngineChange | undefined {
    const turns = { ...this.#changes.turns, ...defined(change.turns ?? {}) }
    this.#changes = { ...this.#changes, ...defined(change), turns }
    if (change.corrections) this.#correct = compileRewrites(change.corrections).rewrite
    const { prompt, functions, hints, modelSettings: settings, history } = change
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

  /** Returns the language of a code; undefined if the document does not have it. */
  languageOf(code: string | undefined): AgentLanguage | undefined {
    return this.#options.languages.find((each) => each.code === code)
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
    const { prompt, languages, hints, pronounce, modelSettings } = this.#options
    const { isSemantic, endOfSpeechMs, barge } = this.turns
    const { language } = this
    return {
      projectId,
      prompt: this.#changes.prompt ?? prompt,
      functions: this.#functions,
      history,
      languages: [...languages].sort((a, b) => Number(b === language) - Number(a === language)),
      hints: this.#changes.hints ?? hints,
      pronounce,
      settings: { ...modelSettings, ...this.#changes.modelSettings },
      isSemantic,
      endOfSpeechMs,
      isInterruptible: barge !== 'none',
    }
  }

  get #functions(): readonly AgentFunction[] {
    return this.#changes.functions ?? this.#options.functions
  }
}

/** Members of an object that are present: an undefined one changes nothing. */
type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

const defined = <T extends object>(value: T): Present<T> =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Present<T>
