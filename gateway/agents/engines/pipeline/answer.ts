import type { AgentText } from '../../../../handlers/verbs.ts'
import type { EngineCall, EngineListener, EngineSound } from '../../engine.ts'
import type { Model, ModelAnswer, ModelListener, ModelRequest } from '../../models/model.ts'
import type { EngineError } from '../../streaming/engine-error.ts'
import { Clauses } from '../../text/clauses.ts'
import { SoundPieces } from './sound-pieces.ts'
import { Speech, type SpeechDeps } from './speech.ts'

/** End of an answer; see `EngineListener.onAnswerEnd`. */
export type AnswerEnd = Parameters<EngineListener['onAnswerEnd']>[1]

/** Events of an answer. */
export type AnswerListener = Pick<
  EngineListener,
  'onAnswer' | 'onAudio' | 'onText' | 'onItemEnd' | 'onCall' | 'onFirstToken' | 'onUsage' | 'onWarning'
>

/** Owner of an answer, which it reports to. */
export interface AnswerOwner {
  readonly listener: AnswerListener
  /** The model has written everything, or the part that there is. Called once, unless cancelled. */
  onWritten(answer: Answer): void
  /** Everything was delivered. Called at most once. */
  onOver(answer: Answer, how: AnswerEnd): void
  /** The model gave no text at all, or no voice is left. Called at most once. */
  onFailure(answer: Answer, part: 'model' | 'voice', error: EngineError): void
}

/**
 * One answer: text of the model, or a given one, divided into pieces that are spoken in order. Its events
 * wait for {@link open}; so an answer can be prepared without effects.
 */
export class Answer {
  readonly id: string
  readonly #deps: SpeechDeps
  readonly #owner: AnswerOwner
  readonly #speech: Speech
  readonly #clauses = new Clauses()
  #model: ModelAnswer | undefined
  /** Whether a given text is spoken, rather than the words of a model. */
  #isText = true
  /** Whether a model writes the text, and has to write some. */
  #isModels = false
  /** Ends the reading of a text. */
  #leave: (() => void) | undefined
  /** End of the model's text; undefined while it writes. */
  #end: Exclude<AnswerEnd, 'cancelled'> | undefined
  #calls: readonly EngineCall[] = []
  #text = ''
  #isOpen = false
  #isAnnounced = false
  #areCallsReported = false
  #isOver = false
  /** Whether a piece of text was delivered. */
  hasSpoken = false

  constructor(deps: SpeechDeps, owner: AnswerOwner) {
    this.id = deps.id
    this.#deps = deps
    this.#owner = owner
    const { listener } = owner
    this.#speech = new Speech(deps, {
      onText: (item, text) => {
        this.hasSpoken = true
        listener.onText(this.id, item, text)
      },
      onAudio: (item, samples) => listener.onAudio(this.id, item, samples),
      onItemEnd: (item) => listener.onItemEnd(this.id, item),
      onDone: () => this.#over(),
      onFailure: (error) => {
        this.cancel()
        owner.onFailure(this, 'voice', error)
      },
    })
  }

  /** Text so far, as the model wrote it. */
  get text(): string {
    return this.#text.trim()
  }

  /** Calls of functions, once the answer {@link isWritten}. */
  get calls(): readonly EngineCall[] {
    return this.#calls
  }

  /** Whether the model has ended. */
  get isWritten(): boolean {
    return this.#end !== undefined
  }

  /** Whether the listener knows of the answer. */
  get isAnnounced(): boolean {
    return this.#isAnnounced
  }

  /** Whether the answer has calls that the listener does not know of. */
  get hasSecretCalls(): boolean {
    return this.#calls.length > 0 && !this.#areCallsReported
  }

  /** Requests the text from a model. */
  ask(model: Model, request: ModelRequest): void {
    this.#model = model.answer(request, this.written(model.maySayNothing))
  }

  /** Returns the receiver of a text that is being written; `mayBeEmpty`: default false. */
  written(mayBeEmpty = false): ModelListener {
    this.#isText = false
    this.#isModels = !mayBeEmpty
    return {
      onText: (piece) => this.#read(piece),
      onUsage: (usage) => this.#owner.listener.onUsage(usage),
      onEnd: (how, calls) => this.#written(how, calls),
      onFailure: (error) => this.#modelFailed(error),
    }
  }

  /** Speaks a given text. */
  say(text: string): void {
    this.#text = text
    for (const piece of this.#clauses.push(text)) this.#speech.say(piece)
    this.#written('completed', [])
  }

  /** Speaks a text while it is being written. */
  follow(text: AgentText): void {
    this.#leave = text.read((piece) => {
      if (piece === undefined) this.#written('completed', [])
      else this.#read(piece)
    })
  }

  /** Plays a sound. One that cannot be loaded is a warning. */
  play(sound: EngineSound): void {
    const play = (pieces: SoundPieces | undefined): void => {
      if (this.#isOver) return
      if (pieces) this.#speech.play(pieces)
      this.#written('completed', [])
    }
    void SoundPieces.load(sound, this.#deps.rate).then(play, (error: unknown) => {
      if (!this.#isOver) this.#owner.listener.onWarning('sound_failed', `A sound failed: ${messageOf(error)}`)
      play(undefined)
    })
  }

  /** Lets the events flow, those that waited first. */
  open(): void {
    if (this.#isOpen || this.#isOver) return
    this.#isOpen = true
    const { listener } = this.#owner
    if (!this.#isAnnounced) listener.onAnswer(this.id, this.#isText)
    this.#isAnnounced = true
    if (this.#text !== '' && this.#isModels) listener.onFirstToken(this.id)
    this.#speech.open()
    this.#reportCalls()
  }

  /** Lets the events wait again; only before the first piece of text. */
  hold(): void {
    if (this.hasSpoken) return
    this.#isOpen = false
    this.#speech.hold()
  }

  /** Ends the answer without further events. Idempotent. */
  cancel(): void {
    this.#isOver = true
    this.#leave?.()
    this.#model?.cancel()
    this.#speech.cancel()
  }

  #read(piece: string): void {
    if (this.#isOver) return
    const isFirst = this.#text === ''
    this.#text += piece
    if (isFirst && this.#isOpen) this.#owner.listener.onFirstToken(this.id)
    for (const clause of this.#clauses.push(piece)) this.#speech.say(clause)
    for (const clause of this.#clauses.early()) this.#speech.say(clause)
  }

  #written(how: Exclude<AnswerEnd, 'cancelled'>, calls: readonly EngineCall[]): void {
    if (this.#isOver) return
    for (const clause of this.#clauses.end()) this.#speech.say(clause)
    const isEmpty = this.#isModels && this.text === '' && calls.length === 0
    this.#end = isEmpty ? 'failed' : how
    this.#calls = calls
    this.#owner.onWritten(this)
    if (this.#isOpen) this.#reportCalls()
    this.#speech.finish()
  }

  #modelFailed(error: EngineError): void {
    if (this.#isOver) return
    if (this.#text === '') {
      this.cancel()
      this.#owner.onFailure(this, 'model', error)
      return
    }
    this.#owner.listener.onWarning(`model_${error.kind}`, `The answer ended early: ${error.message}`)
    this.#written('failed', [])
  }

  #reportCalls(): void {
    if (!this.#end || this.#areCallsReported) return
    this.#areCallsReported = true
    for (const call of this.#calls) if (!this.#isOver) this.#owner.listener.onCall(this.id, call)
  }

  #over(): void {
    if (this.#isOver || !this.#end) return
    this.#reportCalls()
    if (this.#isOver) return
    this.#isOver = true
    this.#owner.onOver(this, this.#end)
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown')
