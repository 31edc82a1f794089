/** Parts of a pipeline for tests: the test says what they deliver, and when. */
import type { EngineListener } from '../../../engine.ts'
import type { Model, ModelAnswer, ModelListener, ModelRequest } from '../../../models/model.ts'
import type {
  AgentRecogniser,
  AgentRecognition,
  AgentRecognitionListener,
  AgentRecognitionRequest,
} from '../../../recognisers/recogniser.ts'
import { EngineError } from '../../../streaming/engine-error.ts'
import type { AgentVoice, SpeakOptions, SpeechListener, Utterance } from '../../../voices/voice.ts'

/** One request to a {@link FakeModel}. */
export class FakeAnswer implements ModelAnswer {
  readonly request: ModelRequest
  readonly listener: ModelListener
  isCancelled = false

  constructor(request: ModelRequest, listener: ModelListener) {
    this.request = request
    this.listener = listener
  }

  /** Text of each message, after its role. */
  get messages(): readonly string[] {
    return this.request.messages.map(({ role, content }) => `${role}: ${content}`)
  }

  write(text: string): void {
    if (!this.isCancelled) this.listener.onText(text)
  }

  end(...names: readonly string[]): void {
    const calls = names.map((name) => ({ id: `id-${name}`, name, args: '{}' }))
    if (!this.isCancelled) this.listener.onEnd('completed', calls)
  }

  fail(kind: ConstructorParameters<typeof EngineError>[0] = 'server', retryAfterMs?: number): void {
    if (!this.isCancelled) this.listener.onFailure(new EngineError(kind, 'failed', retryAfterMs))
  }

  cancel(): void {
    this.isCancelled = true
  }
}

/** Model whose answers the test writes. */
export class FakeModel implements Model {
  readonly name: string
  readonly answers: FakeAnswer[] = []

  constructor(name = 'model') {
    this.name = name
  }

  get last(): FakeAnswer {
    return this.answers.at(-1)!
  }

  answer(request: ModelRequest, listener: ModelListener): FakeAnswer {
    const answer = new FakeAnswer(request, listener)
    this.answers.push(answer)
    return answer
  }

  async close(): Promise<void> {}
}

/** One text that a {@link FakeVoice} was given. */
export class FakeUtterance implements Utterance {
  readonly text: string
  readonly options: SpeakOptions
  readonly listener: SpeechListener
  isCancelled = false

  constructor(text: string, options: SpeakOptions, listener: SpeechListener) {
    this.text = text
    this.options = options
    this.listener = listener
  }

  /** Delivers `ms` of audio. */
  audio(ms: number): void {
    if (!this.isCancelled) this.listener.onAudio(new Int16Array((this.options.rate * ms) / 1000))
  }

  end(): void {
    if (!this.isCancelled) this.listener.onEnd()
  }

  fail(): void {
    if (!this.isCancelled) this.listener.onFailure(new EngineError('server', 'failed'))
  }

  cancel(): void {
    this.isCancelled = true
  }
}

/** Voice that speaks at once, 100 ms for each text, if `isEager`; else when the test says so. */
export class FakeVoice implements AgentVoice {
  readonly name: string
  readonly spoken: FakeUtterance[] = []
  readonly #isEager: boolean

  constructor(name = 'voice', isEager = true) {
    this.name = name
    this.#isEager = isEager
  }

  get texts(): readonly string[] {
    return this.spoken.map(({ text }) => text)
  }

  speak(text: string, options: SpeakOptions, listener: SpeechListener): FakeUtterance {
    const utterance = new FakeUtterance(text, options, listener)
    this.spoken.push(utterance)
    if (this.#isEager)
      queueMicrotask(() => {
        utterance.audio(100)
        utterance.end()
      })
    return utterance
  }

  async close(): Promise<void> {}
}

/** One recognition of a {@link FakeHearing}. */
export class FakeRecognition implements AgentRecognition {
  readonly request: AgentRecognitionRequest
  readonly listener: AgentRecognitionListener
  readonly voices: boolean[] = []
  written = 0
  isClosed = false

  constructor(request: AgentRecognitionRequest, listener: AgentRecognitionListener) {
    this.request = request
    this.listener = listener
  }

  write(samples: Int16Array): void {
    this.written += samples.length
  }

  voice(isVoiced: boolean): void {
    this.voices.push(isVoiced)
  }

  fail(kind: ConstructorParameters<typeof EngineError>[0] = 'connection'): void {
    this.listener.onFailure(new EngineError(kind, 'failed'))
  }

  close(): void {
    this.isClosed = true
  }
}

/** Recogniser whose transcripts the test gives. */
export class FakeHearing implements AgentRecogniser {
  readonly name: string
  readonly isStreaming = true
  hasOwnLanguage = false
  readonly opened: FakeRecognition[] = []

  constructor(name = 'recogniser') {
    this.name = name
  }

  get last(): FakeRecognition {
    return this.opened.at(-1)!
  }

  open(request: AgentRecognitionRequest, listener: AgentRecognitionListener): FakeRecognition {
    const recognition = new FakeRecognition(request, listener)
    this.opened.push(recognition)
    return recognition
  }

  async close(): Promise<void> {}
}

/** Listener that writes down the events as lines; answers have the names A, B and so on. */
export class EventLog implements EngineListener {
  lines: string[] = []
  readonly #names = new Map<string, string>()

  /** Returns the lines since the last call. */
  take(): readonly string[] {
    return this.lines.splice(0)
  }

  /** Returns the id of an answer by its name. */
  idOf(name: string): string {
    return [...this.#names].find(([, each]) => each === name)![0]
  }

  #name(id: string): string {
    const [answer = '', item] = id.split('.')
    if (!this.#names.has(answer)) this.#names.set(answer, String.fromCharCode(65 + this.#names.size))
    return `${this.#names.get(answer)}${item ?? ''}`
  }

  onReady = () => this.lines.push('ready')
  onHeard: EngineListener['onHeard'] = ({ text, isFinal }) =>
    this.lines.push(`heard ${isFinal ? 'final' : 'partial'} ${text}`)
  onTurn: EngineListener['onTurn'] = (state) => this.lines.push(`turn ${state}`)
  onAnswer: EngineListener['onAnswer'] = (answer) => this.lines.push(`${this.#name(answer)} begins`)
  onAudio: EngineListener['onAudio'] = (_answer, item, samples) =>
    this.lines.push(`${this.#name(item)} audio ${samples.length}`)
  onText: EngineListener['onText'] = (_answer, item, text) =>
    this.lines.push(`${this.#name(item)} text ${text}`)
  onItemEnd: EngineListener['onItemEnd'] = (_answer, item) => this.lines.push(`${this.#name(item)} ends`)
  onCall: EngineListener['onCall'] = (answer, { name }) =>
    this.lines.push(`${this.#name(answer)} calls ${name}`)
  onCallsCancelled: EngineListener['onCallsCancelled'] = (ids) => this.lines.push(`calls cancelled ${ids}`)
  onAnswerEnd: EngineListener['onAnswerEnd'] = (answer, how) =>
    this.lines.push(`${this.#name(answer)} ${how}`)
  onInterrupted = () => this.lines.push('interrupted')
  onUsage: EngineListener['onUsage'] = () => {}
  onFirstToken: EngineListener['onFirstToken'] = (answer) =>
    this.lines.push(`${this.#name(answer)} first token`)
  onWarning: EngineListener['onWarning'] = (code) => this.lines.push(`warning ${code}`)
  onClosing: EngineListener['onClosing'] = () => this.lines.push('closing')
  onFailure: EngineListener['onFailure'] = ({ part, kind }) => this.lines.push(`failure ${part} ${kind}`)
}
