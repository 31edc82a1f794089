import { randomUUID } from 'node:crypto'
import type { PcmRate } from '../../../../media/types.ts'
import type { SteadyClock } from '../../../core/clock.ts'
import type { EngineCall, EngineListener } from '../../engine.ts'
import type { ModelListener } from '../../models/model.ts'
import { EngineError } from '../../streaming/engine-error.ts'
import type { SpeechListener, Utterance } from '../../voices/voice.ts'
import { Answer } from '../pipeline/answer.ts'
import type { ResponseListener } from './realtime-responses.ts'

/** Collaborators of {@link SpokenAnswers}. */
export interface SpokenAnswersDeps {
  readonly listener: EngineListener
  readonly clock: SteadyClock
  /** Sample rate in Hz of the speech. */
  readonly rate: PcmRate
  readonly speak: (text: string, listener: SpeechListener) => Utterance
  /** No voice is left. */
  readonly onFailure: (error: EngineError) => void
  /** An answer failed with nothing to speak. */
  readonly onMissing: (error: EngineError) => void
}

/** Answer that is not delivered. */
interface OpenAnswer {
  readonly answer: Answer
  /** Receives the text of the server; absent for a given text. */
  writer?: ModelListener
  readonly calls: EngineCall[]
}

/**
 * Answers of a server that writes them: a voice speaks each, piece by piece and one after the other. Stands
 * between the events of the server and the listener of the session.
 */
export class SpokenAnswers implements ResponseListener {
  readonly #deps: SpokenAnswersDeps
  /** The one that is delivered first. */
  #line: OpenAnswer[] = []

  constructor(deps: SpokenAnswersDeps) {
    this.#deps = deps
  }

  /** Speaks a text word for word, as an answer. Returns the id of the answer. */
  say(text: string): string {
    const open = this.#make(`say-${randomUUID()}`)
    this.#add(open)
    open.answer.say(text)
    return open.answer.id
  }

  /**
   * Ends all answers, because the caller interrupted. Returns their ids in order, and the calls that were not
   * reported: they do not run.
   */
  interrupt(): { readonly ids: readonly string[]; readonly calls: readonly EngineCall[] } {
    const line = [...this.#line]
    this.close()
    queueMicrotask(() => {
      for (const { answer } of line)
        if (answer.isAnnounced) this.#deps.listener.onAnswerEnd(answer.id, 'cancelled')
    })
    return {
      ids: line.map(({ answer }) => answer.id),
      calls: line.flatMap(({ answer }) => (answer.hasSecretCalls ? answer.calls : [])),
    }
  }

  /** Ends all answers without events. */
  close(): void {
    for (const { answer } of this.#line.splice(0)) answer.cancel()
  }

  onAnswer(id: string): void {
    const open = this.#make(id)
    open.writer = open.answer.written()
    this.#add(open)
  }

  onText(id: string, _item: string, text: string): void {
    this.#of(id)?.writer?.onText(text)
  }

  /** The server sends no audio. */
  onAudio(): void {}

  /** Pieces of the text are the items. */
  onItemEnd(): void {}

  /** The answer reports its first token, as soon as it is its turn. */
  onFirstToken(): void {}

  onCall(id: string, call: EngineCall): void {
    this.#of(id)?.calls.push(call)
  }

  onAnswerEnd(id: string, how: Parameters<EngineListener['onAnswerEnd']>[1]): void {
    const open = this.#of(id)
    if (!open) return
    if (how === 'cancelled') this.#over(open.answer, how)
    else if (how === 'failed') open.writer?.onFailure(new EngineError('server', 'the answer failed'))
    else open.writer?.onEnd(how, open.calls)
  }

  onInterrupted(): void {
    this.#deps.listener.onInterrupted()
  }

  onUsage(usage: Parameters<EngineListener['onUsage']>[0]): void {
    this.#deps.listener.onUsage(usage)
  }

  onWarning(code: string, message: string): void {
    this.#deps.listener.onWarning(code, message)
  }

  #of(id: string): OpenAnswer | undefined {
    return this.#line.find(({ answer }) => answer.id === id)
  }

  #make(id: string): OpenAnswer {
    const { listener, clock, rate, speak, onFailure, onMissing } = this.#deps
    const answer = new Answer(
      { id, rate, clock, speak },
      {
        listener,
        onWritten: () => {},
        onOver: (over, how) => this.#over(over, how),
        onFailure: (_, part, error) => (part === 'voice' ? onFailure(error) : onMissing(error)),
      },
    )
    return { answer, calls: [] }
  }

  #add(open: OpenAnswer): void {
    this.#line.push(open)
    this.#openFirst()
  }

  #over(answer: Answer, how: Parameters<EngineListener['onAnswerEnd']>[1]): void {
    answer.cancel()
    this.#line = this.#line.filter((each) => each.answer !== answer)
    if (answer.isAnnounced) this.#deps.listener.onAnswerEnd(answer.id, how)
    this.#openFirst()
  }

  /** Delivers the first answer; not at once, so that no method calls the listener before it returns. */
  #openFirst(): void {
    queueMicrotask(() => this.#line[0]?.answer.open())
  }
}
