/** Fake listeners of a media port: recordings, taps and detections that the test controls. */
import type { StreamEnd, StreamOptions } from '../../../handlers/verbs.ts'
import type {
  DetectFinding,
  Detection,
  DetectRequest,
  MediaPort,
  Recording,
  RecordingResult,
  RecordRequest,
  Tap,
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

/** Tap that receives frames from the test, and records the audio that is spoken to it. */
export class FakeTap implements Tap {
  readonly request: TapRequest
  readonly output: Int16Array[] = []
  closed = false
  /** Port that it listens to. */
  port: MediaPort
  #onFrame: (frame: TapFrame) => void = () => {}
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

  speak(samples: Int16Array): void {
    this.output.push(samples)
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
