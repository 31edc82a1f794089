import { randomUUID } from 'node:crypto'
import type { AgentLanguage, AgentMessage, AgentText } from '../../../../handlers/verbs.ts'
import type { PcmRate } from '../../../../media/types.ts'
import type {
  EngineAbilities,
  EngineCall,
  EngineChange,
  EngineHeard,
  EngineLink,
  EngineListener,
  EngineRequest,
  EngineSound,
} from '../../engine.ts'
import type { Model, ModelRequest } from '../../models/model.ts'
import type { AgentRecognitionRequest } from '../../recognisers/recogniser.ts'
import type { EngineError } from '../../streaming/engine-error.ts'
import { primaryLanguage } from '../../text/words.ts'
import { Answer, type AnswerEnd } from './answer.ts'
import { Hearing } from './hearing.ts'
import { History } from './history.ts'
import type { PipelineOptions } from './pipeline.ts'
import { SessionVoice, spokenTags } from './session-voice.ts'

/** Parts of a pipeline, with its models behind one. */
export type PipelineLinkOptions = PipelineOptions & { readonly model: Model }

/** Usual sample rate in Hz. */
const usualRate = 16_000
/** Recognised audio after which its duration is reported, in ms. */
const usageStepMs = 10_000

const abilities: EngineAbilities = {
  turns: 'ours',
  cut: 'note',
  pace: 'burst',
  isExact: true,
  changes: true,
  changesHistory: true,
}

/** Session of a pipeline. */
export class PipelineLink implements EngineLink {
  readonly abilities = abilities
  readonly inputRate: PcmRate
  readonly outputRate: PcmRate
  readonly #parts: PipelineLinkOptions
  readonly #listener: EngineListener
  readonly #onOver: () => void
  readonly #history: History
  readonly #voice: SessionVoice
  readonly #hearing: Hearing
  #request: EngineRequest
  /** Answers that are not delivered, the one that is delivered first. */
  #line: Answer[] = []
  #prepared: { readonly text: string; readonly answer: Answer } | undefined
  /** Answer that waits for the model to end another one. */
  #owed: { readonly instruction: string | undefined } | undefined
  /** Calls that were reported and have no result. */
  readonly #calls = new Set<string>()
  #isResultWaited = false
  #heardMs = 0
  #isOver = false

  constructor(
    parts: PipelineLinkOptions,
    request: EngineRequest,
    listener: EngineListener,
    onOver: () => void,
  ) {
    this.#parts = parts
    this.#request = request
    this.#listener = listener
    this.#onOver = onOver
    this.#history = new History(request.history)
    this.inputRate = parts.rate ?? usualRate
    this.outputRate = this.inputRate
    this.#voice = new SessionVoice(parts, { engine: parts.name, rate: this.outputRate, request, listener })
    this.#hearing = this.#makeHearing()
  }

  /** Opens the recognition. */
  begin(): void {
    this.#hearing.open()
    queueMicrotask(() => {
      if (!this.#isOver) this.#listener.onReady()
    })
    this.#voice.speakIn(this.#request.languages[0])
  }

  hear(samples: Int16Array): void {
    if (this.#isOver) return
    this.#hearing.write(samples)
    this.#heardMs += (samples.length * 1000) / this.inputRate
    if (this.#heardMs < usageStepMs) return
    this.#listener.onUsage({ recognisedMs: this.#heardMs })
    this.#heardMs = 0
  }

  commit(text: string): void {
    if (this.#isOver) return
    const prepared = this.#prepared?.text === text ? this.#prepared.answer : undefined
    if (!prepared) this.#discard()
    this.#prepared = undefined
    this.#history.add({ role: 'user', content: text })
    if (prepared) this.#release(prepared)
    else this.#respond(undefined)
  }

  prepare(text: string): void {
    if (this.#isOver || this.#prepared?.text === text || this.#writing) return
    this.#discard()
    const answer = this.#newAnswer()
    this.#prepared = { text, answer }
    answer.ask(this.#parts.model, this.#modelRequest(undefined, text))
  }

  discard(): void {
    this.#discard()
  }

  revive(): void {
    this.#hearing.revive()
  }

  message(message: AgentMessage, respond: boolean): void {
    if (this.#isOver) return
    this.#discard()
    this.#history.add(message)
    if (respond) this.#respond(undefined)
  }

  answer(instruction: string | undefined): void {
    if (this.#isOver) return
    this.#discard()
    this.#respond(instruction)
  }

  say(text: string): void {
    if (this.#isOver || text.trim() === '') return
    const answer = this.#newAnswer()
    // The text fills the time until the model has something to say.
    const silent = this.#line.findIndex(({ hasSpoken }) => !hasSpoken)
    if (silent === 0) this.#line[0]?.hold()
    this.#line.splice(silent < 0 ? this.#line.length : silent, 0, answer)
    answer.say(text)
    this.#openFirst()
  }

  speak(what: string | AgentText | EngineSound, language: AgentLanguage | undefined): void {
    if (this.#isOver) return
    const answer = this.#newAnswer(language)
    this.#line.push(answer)
    if (typeof what === 'string') answer.say(what)
    else if ('read' in what) answer.follow(what)
    else answer.play(what)
    this.#openFirst()
  }

  interrupt(heard: EngineHeard | undefined, isForgotten: boolean): void {
    if (this.#isOver) return
    const isPreparedOnly = this.#prepared !== undefined && !heard && !isForgotten
    this.#discard()
    if (isPreparedOnly) return
    this.#owed = undefined
    this.#isResultWaited = false
    const cancelled = this.#cancelLine()
    if (isForgotten) this.#history.removeTurn()
    else if (heard) {
      this.#history.correct(heard.answer, heard.text.trim())
      this.#history.removeAfter(heard.answer)
    } else if (cancelled.length > 0) for (const { id } of cancelled) this.#history.correct(id, '')
    else this.#history.removeLastAnswer()
  }

  result(call: EngineCall, text: string, respond: boolean): void {
    if (this.#isOver) return
    this.#discard()
    this.#history.addResult(call, text)
    this.#calls.delete(call.id)
    this.#isResultWaited ||= respond
    if (this.#calls.size === 0 && this.#isResultWaited) this.#respond(undefined)
  }

  change(change: EngineChange): void {
    if (this.#isOver) return
    const { history, language, ...others } = change
    this.#discard()
    this.#request = { ...this.#request, ...others }
    if (history) this.#history.replace(history)
    if (language) this.#voice.speakIn(language)
    const { hints, endOfSpeechMs } = this.#request
    this.#hearing.change({ hints, endOfSpeechMs, ...(language && this.#spoken(language)) })
  }

  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#prepared?.answer.cancel()
    for (const answer of this.#line) answer.cancel()
    this.#voice.close()
    this.#hearing.close()
    if (this.#heardMs > 0) this.#listener.onUsage({ recognisedMs: this.#heardMs })
    this.#onOver()
  }

  #makeHearing(): Hearing {
    const { recognisers, log, name } = this.#parts
    const { languages, hints, isSemantic, endOfSpeechMs } = this.#request
    const [first] = languages
    const spoken = first && this.#spoken(first)
    const request = { rate: this.inputRate, hints, isSemantic, endOfSpeechMs, ...spoken }
    return new Hearing(recognisers, request, {
      onTranscript: (transcript) => {
        if (transcript.isFinal && transcript.language !== undefined) this.#follow(transcript.language)
        this.#listener.onHeard(transcript)
      },
      onLanguage: (language) => this.#follow(language),
      onTurn: (state) => this.#listener.onTurn(state),
      onReplaced: (recogniser, { message }) => {
        log.warn({ event: 'agent.recogniser-failed', engine: name, reason: message }, 'recogniser failed')
        this.#listener.onWarning('recogniser_failed', `Recognition failed: ${message}; now ${recogniser}`)
      },
      onLanguageKept: (recogniser, language) => {
        const message = `The recogniser ${recogniser} has its own language, and cannot change to ${language}.`
        queueMicrotask(() => {
          if (!this.#isOver) this.#listener.onWarning('language_kept', message)
        })
      },
      onFailure: (error) => this.#fail('recogniser', error),
    })
  }

  /** The caller speaks a language: so does the model. A handler that answers decides by itself. */
  #follow(language: string): void {
    if (!this.#parts.model.maySayNothing) this.#voice.follow(language)
  }

  /** Languages that the caller may speak, the present one first. A recogniser may follow the others, too. */
  #spoken({ code, heard }: AgentLanguage): Pick<AgentRecognitionRequest, 'language' | 'others'> {
    if (heard !== undefined) return { language: heard }
    const primary = primaryLanguage(code)
    const tags = spokenTags(this.#request.languages)
    const others = primary === '' ? [] : tags.filter((tag) => primaryLanguage(tag) !== primary)
    return { language: code, ...(others.length > 0 && { others }) }
  }

  /** Instruction about the languages, of which the model otherwise knows nothing. */
  get #languagesText(): string {
    const { languages } = this.#request
    if (spokenTags(languages).length < 2) return ''
    const names = new Set(languages.filter(({ code }) => code !== 'multi').map(({ name }) => name))
    return `\n\nYou can speak ${[...names].join(', ')}. Answer in the language that the caller speaks.`
  }

  /** Answer that the model writes. */
  get #writing(): Answer | undefined {
    return this.#line.find((answer) => !answer.isWritten)
  }

  /** Begins an answer of the model, or owes it until the model has ended another one. */
  #respond(instruction: string | undefined): void {
    if (this.#writing) {
      this.#owed = { instruction }
      return
    }
    this.#owed = undefined
    this.#isResultWaited = false
    const answer = this.#newAnswer()
    this.#line.push(answer)
    answer.ask(this.#parts.model, this.#modelRequest(instruction))
    this.#openFirst()
  }

  /** Delivers a prepared answer. */
  #release(answer: Answer): void {
    this.#line.push(answer)
    if (answer.isWritten) this.#record(answer)
    this.#openFirst()
  }

  #modelRequest(instruction: string | undefined, turn?: string): ModelRequest {
    const { prompt, functions, settings } = this.#request
    const system = `${prompt}${this.#languagesText}`.trimStart()
    return {
      functions,
      settings,
      messages: [
        ...(system === '' ? [] : [{ role: 'system', content: system } as const]),
        ...this.#history.messages,
        ...(turn === undefined ? [] : [{ role: 'user', content: turn } as const]),
        ...(instruction ? [{ role: 'system', content: instruction } as const] : []),
      ],
    }
  }

  /** `language`: that of this answer only. */
  #newAnswer(language?: AgentLanguage): Answer {
    const { clock } = this.#parts
    return new Answer(
      {
        id: randomUUID(),
        rate: this.outputRate,
        clock,
        speak: (text, listener) => this.#voice.speak(text, listener, language),
      },
      {
        listener: this.#listener,
        onWritten: (answer) => this.#written(answer),
        onOver: (answer, how) => this.#delivered(answer, how),
        onFailure: (answer, part, error) => this.#answerFailed(answer, part, error),
      },
    )
  }

  #written(answer: Answer): void {
    if (!this.#line.includes(answer)) return
    this.#record(answer)
    const owed = this.#owed
    // Not at once: the events of this answer come first.
    if (owed)
      queueMicrotask(() => {
        if (!this.#isOver && this.#owed === owed) this.#respond(owed.instruction)
      })
  }

  /** Puts an answer into the history. */
  #record({ id, text, calls }: Answer): void {
    this.#history.addAnswer(id, text, calls)
    for (const call of calls) this.#calls.add(call.id)
  }

  #delivered(answer: Answer, how: AnswerEnd): void {
    this.#line = this.#line.filter((each) => each !== answer)
    this.#listener.onAnswerEnd(answer.id, how)
    this.#openFirst()
  }

  #answerFailed(answer: Answer, part: 'model' | 'voice', error: EngineError): void {
    // A prepared answer has no effect: the turn is answered anew when it is complete.
    if (this.#prepared?.answer === answer) this.#prepared = undefined
    else this.#fail(part, error)
  }

  /**
   * Delivers the first answer; not at once, so that no method calls the listener before it returns. An answer
   * that has become the first one since then waits for its own turn: ends of earlier ones come before it.
   */
  #openFirst(): void {
    const [first] = this.#line
    queueMicrotask(() => {
      if (!this.#isOver && first === this.#line[0]) first?.open()
    })
  }

  #discard(): void {
    this.#prepared?.answer.cancel()
    this.#prepared = undefined
  }

  /** Cancels the answers that are not delivered, and keeps in the history what was written of them. */
  #cancelLine(): readonly Answer[] {
    const line = this.#line
    this.#line = []
    for (const answer of line) {
      answer.cancel()
      if (!answer.isWritten) this.#history.addAnswer(answer.id, answer.text, [])
      else if (answer.hasSecretCalls) {
        this.#history.remove(answer.id)
        for (const { id } of answer.calls) this.#calls.delete(id)
      }
    }
    queueMicrotask(() => {
      for (const { id, isAnnounced } of line)
        if (isAnnounced && !this.#isOver) this.#listener.onAnswerEnd(id, 'cancelled')
    })
    return line
  }

  #fail(part: string, error: EngineError): void {
    if (this.#isOver) return
    this.close()
    this.#listener.onFailure(error.toFailure(part))
  }
}
