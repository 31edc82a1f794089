import type { AgentLanguage, AgentSound, AgentTurnSettings, CallAgent } from '../verbs.ts'
import type { RelayMessage } from './relay-messages.ts'
import { type InputKinds, includesKind, type RelayOptions } from './relay-types.ts'
import { WrittenText } from './written-text.ts'

/** Settings of a {@link RelayVoice}, and its collaborators. */
export interface RelayVoiceDeps {
  readonly agent: Pick<CallAgent, 'say' | 'change' | 'cut'>
  readonly options: Pick<RelayOptions, 'interruptible' | 'isPreemptible' | 'greeting'>
  /** Returns the language of a tag. */
  readonly languageOf: (code: string) => AgentLanguage
  /** Returns the time in milliseconds since the epoch. */
  readonly now: () => number
}

/** Text or sound that the server sent. */
interface Utterance {
  readonly what: WrittenText | AgentSound
  readonly interruptible: InputKinds
  readonly isPreemptible: boolean
  readonly language?: AgentLanguage
  /** Tag that its messages named. */
  readonly code?: string | undefined
  /** Called when it was heard, interrupted or dropped. */
  readonly done?: () => void
}

/** Maximum number of utterances that wait. */
const maxWaiting = 1000
/** Maximum length of the texts that were not heard to their end, in characters. */
const maxLength = 100_000
/** Time after an interruption in which the rest of the interrupted text is still arriving, in ms. */
const restMs = 1000
/** The same after a key that the server has received, in ms: its answer to the key follows soon. */
const restAfterKeyMs = 300

/** Returns the rules by which input of the caller interrupts the speech. */
export const interruptionRules = (
  kinds: InputKinds,
  sensitivity: RelayOptions['sensitivity'],
): Pick<AgentTurnSettings, 'barge' | 'bargeMinWords' | 'keys'> => {
  const barge = sensitivity === 'low' ? 'complete' : 'any'
  return {
    barge: includesKind(kinds, 'speech') ? barge : 'none',
    bargeMinWords: sensitivity === 'high' ? 1 : 2,
    keys: includesKind(kinds, 'dtmf') ? 'interrupt' : 'ignored',
  }
}

/** Speech of a server: its texts and sounds, spoken one after the other. */
export class RelayVoice {
  readonly #deps: RelayVoiceDeps
  readonly #sensitivity: RelayOptions['sensitivity']
  /** Text of the server that is not complete. */
  #open: Utterance | undefined
  /** Whether the latest text of the server was dropped before it was complete. */
  #isTorn = false
  #current: Utterance | undefined
  /** Whether the current speech was cut, and is about to end. */
  #isCut = false
  #waiting: Utterance[] = []
  #kinds: InputKinds
  /** Time until which text is the rest of one that was interrupted. */
  #restUntil = 0
  #isClosed = false
  #idle: (() => void)[] = []

  constructor(deps: RelayVoiceDeps, sensitivity: RelayOptions['sensitivity']) {
    this.#deps = deps
    this.#sensitivity = sensitivity
    this.#kinds = deps.options.greeting?.interruptible ?? deps.options.interruptible
  }

  /** Input that interrupts the speech in progress, or the next one. */
  get interruptible(): InputKinds {
    return this.#kinds
  }

  /** Whether something is spoken now, or waits for its text. */
  get isSpeaking(): boolean {
    return this.#current !== undefined
  }

  /** Text that is spoken now; undefined for a sound, or if nothing is spoken. */
  get written(): WrittenText | undefined {
    return this.#current?.what instanceof WrittenText ? this.#current.what : undefined
  }

  /** Speaks the greeting. */
  greet(): void {
    const { greeting } = this.#deps.options
    if (!greeting) return
    const { text, interruptible } = greeting
    this.#add({ what: wholeText(text), interruptible, isPreemptible: false })
  }

  /**
   * Speaks a text that is not of the server; `signal` drops it. Resolves when it was heard, interrupted or
   * dropped.
   */
  say(text: string, signal?: AbortSignal): Promise<void> {
    if (this.#isClosed || this.#waiting.length >= maxWaiting) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    const utterance = { what: wholeText(text), ...this.#mannerOf({}), done: resolve }
    this.#add(utterance)
    signal?.addEventListener('abort', () => this.#drop(utterance), { once: true })
    return promise
  }

  /** Speaks a piece of text. Throws an Error if too much text waits. */
  write(message: Extract<RelayMessage, { type: 'text' }>): void {
    if (this.#isClosed || this.#isRest(message.isLast)) return
    const { token, isLast, language } = message
    if (this.#open && language !== undefined && language !== this.#open.code) this.#endText()
    if (!this.#open && token.trim() !== '') this.#begin(message)
    const text = this.#text
    if (text && this.#pendingLength + token.length > maxLength) throw new Error('too much text waits')
    text?.write(token)
    if (isLast) this.#endText()
  }

  /** Plays a sound. Throws an Error if too much waits. */
  play({ source, loops, ...manner }: Extract<RelayMessage, { type: 'play' }>): void {
    if (this.#isClosed) return
    this.#endText()
    this.#add({ what: { url: source, loops }, ...this.#mannerOf(manner) })
  }

  /**
   * The caller interrupted: what was not heard is dropped, unless it is protected. `byKey`: by a key that the
   * server has received; default false.
   */
  interrupted(byKey = false): void {
    const longest = byKey ? restAfterKeyMs : restMs
    // The agent may drop a text before it reports the interruption.
    if (this.#open || this.#isTorn) this.#restUntil = this.#deps.now() + longest
    this.#endText()
    this.#dropWaiting(({ interruptible }) => interruptible !== 'none')
  }

  /** The server learns of a turn of the caller: later texts are answers to it. */
  prompted(): void {
    this.#restUntil = 0
  }

  /** No message follows. Resolves when everything was heard or interrupted. */
  finish(): Promise<void> {
    this.#endText()
    this.#isClosed = true
    return this.#current || this.#waiting.length > 0
      ? new Promise((resolve) => this.#idle.push(resolve))
      : Promise.resolve()
  }

  /** Drops everything. */
  stop(): void {
    this.#isClosed = true
    this.#endText()
    this.#dropWaiting(() => true)
    this.#cut()
  }

  get #text(): WrittenText | undefined {
    return this.#open?.what instanceof WrittenText ? this.#open.what : undefined
  }

  get #pendingLength(): number {
    const all = [...(this.#current ? [this.#current] : []), ...this.#waiting]
    return all.reduce((sum, { what }) => sum + (what instanceof WrittenText ? what.text.length : 0), 0)
  }

  /** Whether text belongs to one that was interrupted. */
  #isRest(isLast: boolean): boolean {
    if (this.#deps.now() >= this.#restUntil) return false
    if (isLast) this.#restUntil = 0
    return true
  }

  #begin(message: Extract<RelayMessage, { type: 'text' }>): void {
    const { language: code } = message
    const language = code === undefined ? undefined : this.#deps.languageOf(code)
    const open = {
      what: new WrittenText(),
      ...this.#mannerOf(message),
      ...(language && { language }),
      code,
    }
    this.#open = open
    this.#add(open)
  }

  #mannerOf({
    interruptible,
    isPreemptible,
  }: {
    readonly interruptible?: InputKinds
    readonly isPreemptible?: boolean
  }): Pick<Utterance, 'interruptible' | 'isPreemptible'> {
    const { options } = this.#deps
    return {
      interruptible: interruptible ?? options.interruptible,
      isPreemptible: isPreemptible ?? options.isPreemptible,
    }
  }

  #endText(): void {
    this.#text?.end()
    this.#open = undefined
    this.#isTorn = false
  }

  #dropWaiting(isDropped: (utterance: Utterance) => boolean): void {
    const dropped = this.#waiting.filter(isDropped)
    this.#waiting = this.#waiting.filter((each) => !dropped.includes(each))
    for (const each of dropped) this.#over(each)
  }

  /** Speech was heard, interrupted or dropped. What still comes of its text is a text of its own. */
  #over(utterance: Utterance): void {
    if (this.#open === utterance) {
      this.#endText()
      this.#isTorn = true
    }
    utterance.done?.()
  }

  /** Adds speech, in place of what may be replaced. */
  #add(utterance: Utterance): void {
    this.#dropWaiting(({ isPreemptible }) => isPreemptible)
    if (this.#waiting.length >= maxWaiting) throw new Error('too many texts wait')
    this.#waiting.push(utterance)
    if (this.#current?.isPreemptible) this.#cut()
    this.#next()
  }

  #drop(utterance: Utterance): void {
    if (this.#current === utterance) this.#cut()
    else this.#dropWaiting((each) => each === utterance)
  }

  #cut(): void {
    if (!this.#current || this.#isCut) return
    this.#isCut = true
    this.#deps.agent.cut()
  }

  #next(): void {
    if (this.#current) return
    const next = this.#waiting.shift()
    if (!next) {
      for (const resolve of this.#idle.splice(0)) resolve()
      return
    }
    this.#current = next
    this.#isCut = false
    const { what, interruptible, language } = next
    this.#protect(interruptible)
    const said = this.#deps.agent.say(what, {
      isInterruptible: interruptible !== 'none',
      ...(language && { language }),
    })
    void said.then(() => {
      this.#current = undefined
      this.#over(next)
      this.#next()
    })
  }

  #protect(kinds: InputKinds): void {
    if (kinds === this.#kinds) return
    this.#kinds = kinds
    this.#deps.agent.change({ turns: interruptionRules(kinds, this.#sensitivity) })
  }
}

const wholeText = (text: string): WrittenText => {
  const what = new WrittenText()
  what.write(text)
  what.end()
  return what
}
