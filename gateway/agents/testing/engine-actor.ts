import type { EngineCall } from '../engine.ts'
import type { FakeLink } from './fake-engine.ts'

/** Usual duration of a character, as the estimate of heard text has it, in ms. */
export const characterMs = 65

/** Answer of an {@link EngineActor}, as it was given so far. */
export interface ActedAnswer {
  readonly id: string
  readonly isText: boolean
  item: number
  /** Text of the item in progress. */
  text: string
  /** Words that are still to come. */
  words: string[]
  isOver: boolean
}

/** Events of an actor that a test watches. */
export interface ActorWatch {
  /** A command arrived. */
  onCommand(actor: EngineActor, command: readonly unknown[]): void
  /** The actor gives audio of an answer: `give` hands it to the conversation. */
  onAudio(answer: ActedAnswer, ms: number, give: () => void): void
  /** The actor calls a function. */
  onCall(answer: ActedAnswer, call: EngineCall, give: () => void): void
}

/** Engine that answers as it is asked, step by step. */
export class EngineActor {
  readonly link: FakeLink
  /** Answers that it was asked for and has not begun: the text to speak, or undefined for the model. */
  asked: (string | undefined)[] = []
  answer: ActedAnswer | undefined
  /** Answers that an interruption has ended. */
  readonly cancelled: ActedAnswer[] = []
  /** Whether the session is ready. */
  isReady = false
  readonly #watch: ActorWatch
  readonly #knowsTexts: boolean
  readonly #word: () => string
  #read = 0
  #count = 0

  /** `knowsTexts`: whether it reports which answer speaks a text. `word`: returns a new word. */
  constructor(link: FakeLink, watch: ActorWatch, knowsTexts: boolean, word: () => string) {
    this.link = link
    this.#watch = watch
    this.#knowsTexts = knowsTexts
    this.#word = word
  }

  /** Whether it has nothing to do. */
  get isIdle(): boolean {
    return !this.answer && this.asked.length === 0
  }

  /** Reads the commands since the last time. */
  read(): void {
    for (const command of this.link.commands.slice(this.#read)) {
      this.#read++
      this.#watch.onCommand(this, command)
      const [name, , , respond] = command
      if (name === 'commit' || name === 'answer') this.#ask()
      else if ((name === 'message' || name === 'result') && respond) this.#ask()
      else if (name === 'say') this.asked.push(String(command[1]))
      else if (name === 'interrupt') this.#interrupt()
    }
  }

  /** The session is ready: answers begin only then. */
  ready(): void {
    this.isReady = true
    this.link.listener.onReady()
  }

  /** The caller says something; an engine that decides about turns answers by itself. */
  hear(text: string): void {
    if (!this.isReady) return
    const { listener, abilities } = this.link
    listener.onHeard({ text, isFinal: true })
    if (abilities.turns !== 'its') return
    listener.onTurn('ended')
    this.#ask()
  }

  /** Texts that it has not begun to speak for so long are forgotten. */
  forgetTexts(): void {
    this.asked = this.asked.filter((text) => text === undefined)
  }

  /** Goes on with the answer in progress, or begins the next one. */
  step(n: number): void {
    const { answer } = this
    const { listener } = this.link
    if (!this.isReady) return
    if (!answer) this.#begin(n)
    else if (answer.words.length === 0) this.#end(answer)
    else if (n === 0 && answer.text !== '') this.#endItem(answer)
    else if (n === 1 && !answer.isText) {
      const call = { id: `c${++this.#count}`, name: 'look_up', args: this.#word() }
      this.#watch.onCall(answer, call, () => listener.onCall(answer.id, call))
    } else this.#speak(answer, n)
  }

  /** Something of an answer that counts no more comes late. */
  late(n: number): void {
    const answer = this.cancelled.at(-1)
    if (!answer) return
    const { listener } = this.link
    const item = `${answer.id}.${answer.item}`
    if (n === 0) listener.onAnswerEnd(answer.id, 'cancelled')
    else if (n === 1) {
      const call = { id: `c${++this.#count}`, name: 'look_up', args: this.#word() }
      this.#watch.onCall(answer, call, () => listener.onCall(answer.id, call))
    } else if (n === 2) listener.onText(answer.id, item, 'late')
    else this.#watch.onAudio(answer, 100, () => listener.onAudio(answer.id, item, new Int16Array(800)))
  }

  /** An engine merges what it is asked for before it begins. */
  #ask(): void {
    if (!this.asked.includes(undefined)) this.asked.push(undefined)
  }

  #interrupt(): void {
    this.asked = []
    if (!this.answer) return
    this.cancelled.push(this.answer)
    this.answer = undefined
  }

  #begin(n: number): void {
    if (this.asked.length === 0) return
    const text = this.asked.shift()
    const words = text?.split(' ') ?? Array.from({ length: 1 + n }, () => this.#word())
    this.answer = {
      id: `a-${this.#word()}`,
      isText: text !== undefined,
      item: 1,
      text: '',
      words,
      isOver: false,
    }
    this.link.listener.onAnswer(this.answer.id, this.#knowsTexts ? text !== undefined : undefined)
  }

  #speak(answer: ActedAnswer, n: number): void {
    const { listener } = this.link
    const text = answer.words
      .splice(0, n)
      .map((word) => `${word} `)
      .join('')
    const item = `${answer.id}.${answer.item}`
    const ms = text.length * characterMs
    answer.text += text
    listener.onText(answer.id, item, text)
    this.#watch.onAudio(answer, ms, () => listener.onAudio(answer.id, item, new Int16Array(ms * 8)))
  }

  #endItem(answer: ActedAnswer): void {
    this.link.listener.onItemEnd(answer.id, `${answer.id}.${answer.item}`)
    answer.item++
    answer.text = ''
  }

  #end(answer: ActedAnswer): void {
    if (answer.text !== '') this.#endItem(answer)
    answer.isOver = true
    this.answer = undefined
    this.link.listener.onAnswerEnd(answer.id, 'completed')
  }
}
