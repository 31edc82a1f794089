import { VoiceReflex } from '../detect/voice-reflex.ts'
import type { AudioSink } from '../rtp/audio-sinks.ts'
import { Background } from '../rtp/background.ts'
import { framesPerSecond } from '../rtp/rate-adapter.ts'
import { SpeechQueue } from '../rtp/speech-queue.ts'
import type { PcmRate, ReflexRequest, TapEvent, TapFrame, TapRequest } from '../types.ts'

/** Length of a frame, in ms. */
const frameMs = 1000 / framesPerSecond

/** Listeners of a {@link TapSink}. */
export interface TapSinkListener {
  onFrame(frame: TapFrame): void
  onEvent(event: TapEvent): void
  /** Called when the port is closed, or {@link TapSink.close} is called. */
  onClosed(): void
}

/** Tap inside a media thread: reports frames and events, and accepts speech through {@link queue}. */
export class TapSink implements AudioSink {
  readonly rate: PcmRate
  readonly tracks: TapRequest['tracks']
  readonly isContinuous: boolean
  readonly isPrompt: boolean
  readonly queue: SpeechQueue
  readonly background = new Background()
  #listener: TapSinkListener
  #reflex: VoiceReflex | undefined
  #mayFade = true
  #atMs = 0

  constructor(request: TapRequest, listener: TapSinkListener) {
    this.rate = request.sampleRate
    this.tracks = request.tracks
    this.isContinuous = request.isContinuous === true
    this.isPrompt = request.isPrompt === true
    this.#listener = listener
    this.queue = new SpeechQueue(
      request.sampleRate,
      (kind, item) =>
        listener.onEvent(
          kind === 'began' ? { kind: 'item-began', item, atMs: this.#atMs } : { kind: 'item-ended', item },
        ),
      request.speechDb,
    )
  }

  /** Sets or removes the detection of voice and its reflex. */
  setReflex(request: ReflexRequest | undefined): void {
    const { rate, queue } = this
    this.#reflex =
      request &&
      new VoiceReflex(request, { rate, speech: queue, onEvent: (event) => this.#listener.onEvent(event) })
    this.allowFade(this.#mayFade)
  }

  /** Sets whether the reflex may lower the speech. */
  allowFade(isAllowed: boolean): void {
    this.#mayFade = isAllowed
    if (this.#reflex) this.#reflex.mayFade = isAllowed
  }

  hear(input: Int16Array | undefined): void {
    this.#reflex?.hear(input, this.#atMs)
  }

  sent(output: Int16Array | undefined): void {
    this.#reflex?.sent(output, !this.background.isAlone)
  }

  write(input: Int16Array | undefined, output: Int16Array | undefined): void {
    if (this.tracks !== 'out') this.#tell('in', input)
    if (this.tracks !== 'in') this.#tell('out', output)
    this.#atMs += frameMs
  }

  close(): void {
    this.queue.clear()
    this.#listener.onClosed()
  }

  #tell(track: TapFrame['track'], frame: Int16Array | undefined): void {
    // A new array each time, because it is transferred to another thread.
    const samples = frame ? frame.slice() : new Int16Array(this.rate / framesPerSecond)
    this.#listener.onFrame({ track, atMs: this.#atMs, samples })
  }
}
