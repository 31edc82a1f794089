/** Fake listeners of a media port: recordings, taps and detections that the test controls. */
import type { StreamEnd, StreamOptions } from '../../../handlers/verbs.ts'
import type {
  BackgroundSound,
  DetectFinding,
  Detection,
  DetectRequest,
  ItemPosition,
  MediaPort,
  Recording,
  RecordingResult,
  RecordRequest,
  ReflexRequest,
  Tap,
  TapEvent,
  TapFrame,
  TapRequest,
} from '../../../media/types.ts'
import type { AudioStream, StreamSource, StreamStarter } from '../verbs/call-streams.ts'

/** A recording that records nothing; the test ends it, or {@link stop} does. */
export class FakeRecording implements Recording {
  readonly request: RecordRequest
  readonly done: Promise<RecordingResult>
  /** Pauses and resumes, in order. */
  readonly requests: string[] = []
  /** Port that it records. */
  port: MediaPort | undefined
  readonly finish: (result: RecordingResult) => void

  constructor(request: RecordRequest, port?: MediaPort) {
    this.request = request
    this.port = port
    const { promise, resolve } = Promise.withResolvers<RecordingResult>()
    this.done = promise
    this.finish = resolve
  }

  pause(how: 'skip' | 'silence'): void {
    this.requests.push(`pause ${how}`)
  }

  resume(): void {
    this.requests.push('resume')
  }

  stop(): void {
    this.finish({ end: { kind: 'stopped' }, durationMs: 0, bytes: 0, hasFile: false })
  }

  moveTo(port: MediaPort): void {
    this.port = port
  }
}

/**
 * Tap that receives frames and events from the test, and records the audio that is spoken to it. Nothing of
 * it is heard until the test says so in {@link heard}.
 */
export class FakeTap implements Tap {
  readonly request: TapRequest
  readonly output: Int16Array[] = []
  /** Items with audio that have not ended, and the heard part of each in ms. */
  readonly heard = new Map<number, number>()
  /** Finishes, pauses, resumes and cuts, in order. */
  readonly acts: string[] = []
  isPaused = false
  reflex: ReflexRequest | undefined
  mayFade = true
  closed = false
  /** Port that it listens to. */
  port: MediaPort
  #onFrame: (frame: TapFrame) => void = () => {}
  #onEvent: (event: TapEvent) => void = () => {}
  #onClosed: () => void = () => {}
  #marks: (() => void)[] = []

  constructor(request: TapRequest, port: MediaPort) {
    this.request = request
    this.port = port
  }

  onFrame(listener: (frame: TapFrame) => void): void {
    this.#onFrame = listener
  }

  /** Lets it hear something. */
  hear(frame: TapFrame): void {
    if (!this.closed) this.#onFrame(frame)
  }

  onEvent(listener: (event: TapEvent) => void): void {
    this.#onEvent = listener
  }

  /** Reports an event; a reflex that has faded also pauses, and an ended item is forgotten. */
  tell(event: TapEvent): void {
    if (this.closed) return
    if (event.kind === 'voice-began' && event.isFaded) this.isPaused = true
    if (event.kind === 'item-ended') this.heard.delete(event.item)
    this.#onEvent(event)
  }

  speak(samples: Int16Array, item?: number): void {
    this.output.push(samples)
    if (item !== undefined && !this.heard.has(item)) this.heard.set(item, 0)
  }

  finish(item: number): void {
    this.acts.push(`finish ${item}`)
  }

  pause(fadeMs = 30): void {
    this.acts.push(`pause ${fadeMs}`)
    this.isPaused = true
  }

  resume(fadeMs = 20): void {
    this.acts.push(`resume ${fadeMs}`)
    this.isPaused = false
  }

  cut(): Promise<readonly ItemPosition[]> {
    if (this.closed) return Promise.resolve([])
    this.acts.push('cut')
    const positions = Array.from(this.heard, ([item, heardMs]) => ({ item, heardMs }))
    this.heard.clear()
    this.isPaused = false
    this.clear()
    return Promise.resolve(positions)
  }

  setReflex(reflex: ReflexRequest | undefined): void {
    this.reflex = reflex
  }

  background(sound: BackgroundSound | undefined): void {
    this.acts.push(sound ? 'background' : 'no background')
  }

  allowFade(isAllowed: boolean): void {
    this.mayFade = isAllowed
  }

  clear(): void {
    this.output.length = 0
    this.flush()
  }

  spoken(): Promise<void> {
    if (this.closed || this.output.length === 0) return Promise.resolve()
    return new Promise((resolve) => this.#marks.push(resolve))
  }

  /** Everything that was spoken so far has been sent. */
  flush(): void {
    const marks = this.#marks
    this.#marks = []
    for (const mark of marks) mark()
  }

  onClosed(listener: () => void): void {
    this.#onClosed = listener
  }

  moveTo(port: MediaPort): void {
    this.port = port
  }

  /** The port is closed. */
  end(): void {
    if (this.closed) return
    this.close()
    this.#onClosed()
  }

  close(): void {
    this.closed = true
    this.flush()
  }
}

/** A detection that finds what the test lets it. */
export class FakeDetection implements Detection {
  readonly request: DetectRequest
  closed = false
  #onFinding: (finding: DetectFinding) => void = () => {}
  #onOver: () => void = () => {}

  constructor(request: DetectRequest) {
    this.request = request
  }

  onFinding(listener: (finding: DetectFinding) => void): void {
    this.#onFinding = listener
  }

  onEnd(listener: () => void): void {
    this.#onOver = listener
  }

  /** Lets it find something. */
  find(finding: DetectFinding): void {
    if (!this.closed) this.#onFinding(finding)
  }

  /** Nothing more will be found, or the port is closed. */
  end(): void {
    if (this.closed) return
    this.closed = true
    this.#onOver()
  }

  close(): void {
    this.closed = true
  }
}

/** Begins streams that the test ends. */
export class FakeStreams implements StreamStarter {
  readonly started: {
    readonly source: StreamSource
    readonly options: StreamOptions
    readonly digits: string[]
    /** Ports that it was moved to, in order. */
    readonly ports: MediaPort[]
    readonly end: (end: StreamEnd) => void
  }[] = []
  /** Thrown by the next {@link start}. */
  refusal: Error | undefined

  start(source: StreamSource, options: StreamOptions): AudioStream {
    if (this.refusal) throw this.refusal
    const { promise, resolve } = Promise.withResolvers<StreamEnd>()
    const digits: string[] = []
    const ports: MediaPort[] = []
    this.started.push({ source, options, digits, ports, end: resolve })
    return {
      id: `s-${this.started.length}`,
      ended: promise,
      stop: () => resolve({ kind: 'stopped' }),
      digit: (digit) => digits.push(digit),
      moveTo: (port) => ports.push(port),
    }
  }
}
