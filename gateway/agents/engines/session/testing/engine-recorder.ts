/** Listener of an engine that records its events, and a request to open it with. */
import { vi } from 'vitest'
import type { EngineCall, EngineFailure, EngineListener, EngineRequest } from '../../../engine.ts'

/** Event with its values. */
export type EngineEvent = readonly [name: string, ...values: unknown[]]

/** Listener that records its events. */
export class EngineRecorder implements EngineListener {
  /** Events in order; audio is recorded as its number of samples. */
  readonly events: EngineEvent[] = []
  readonly audio: Int16Array[] = []
  #taken = 0

  onReady = () => this.#add('ready')
  onHeard = (heard: { text: string; isFinal: boolean }) => this.#add('heard', heard)
  onTurn = (state: string) => this.#add('turn', state)
  onAnswer = (answer: string, isText?: boolean) => this.#add('answer', answer, ...(isText ? ['given'] : []))
  onAudio = (answer: string, item: string, samples: Int16Array) => {
    this.audio.push(samples)
    this.#add('audio', answer, item, samples.length)
  }
  onText = (answer: string, item: string, text: string) => this.#add('text', answer, item, text)
  onItemEnd = (answer: string, item: string) => this.#add('item-end', answer, item)
  onCall = (answer: string, call: EngineCall) => this.#add('call', answer, call)
  onCallsCancelled = (ids: readonly string[]) => this.#add('calls-cancelled', ids)
  onAnswerEnd = (answer: string, how: string) => this.#add('answer-end', answer, how)
  onInterrupted = () => this.#add('interrupted')
  onUsage = (usage: object) => this.#add('usage', usage)
  onFirstToken = (answer: string) => this.#add('first-token', answer)
  onWarning = (code: string, message: string) => this.#add('warning', code, message)
  onClosing = (inMs: number) => this.#add('closing', inMs)
  onFailure = (failure: EngineFailure) => this.#add('failure', failure)

  /** Events of some names. */
  of(...names: readonly string[]): readonly EngineEvent[] {
    return this.events.filter(([name]) => names.includes(name))
  }

  /** Waits for a further event, and returns the events since the last wait up to it. */
  async until(name: string, ...values: readonly unknown[]): Promise<readonly EngineEvent[]> {
    let at = -1
    await vi.waitFor(
      () => {
        at = this.events.findIndex((each, index) => index >= this.#taken && starts(each, [name, ...values]))
        if (at < 0) throw new Error(`no ${name} among ${JSON.stringify(this.events.slice(this.#taken))}`)
      },
      { timeout: 5000, interval: 5 },
    )
    const events = this.events.slice(this.#taken, at + 1)
    this.#taken = at + 1
    return events
  }

  async failure(): Promise<EngineFailure> {
    await this.until('failure')
    return this.of('failure')[0]![1] as EngineFailure
  }

  #add(...event: EngineEvent): void {
    this.events.push(event)
  }
}

const starts = (event: EngineEvent, values: readonly unknown[]): boolean =>
  values.every((value, at) => JSON.stringify(event[at]) === JSON.stringify(value))

/** Request with usual values. */
export const engineRequest = (members: Partial<EngineRequest> = {}): EngineRequest => ({
  projectId: 'p1',
  prompt: 'You sell tea.',
  functions: [],
  history: [],
  languages: [{ name: 'English', code: 'en-US' }],
  hints: [],
  pronounce: [],
  settings: {},
  isSemantic: true,
  endOfSpeechMs: 500,
  ...members,
})

/** 20 ms of a rising line, different for each `seed`. */
export const frameOf = (rate: number, seed = 0): Int16Array =>
  Int16Array.from({ length: rate / 50 }, (_, i) => ((i * 37 + seed * 101) % 2000) - 1000)
