import type { CallRecording, RecordOptions, RecordResult } from '../../../handlers/verbs.ts'
import { encodedRate } from '../../../media/rtp/encoding.ts'
import type { MediaPort, RecordingResult } from '../../../media/types.ts'
import type { RecordingStore, StoredRecording } from '../audio/recording-store.ts'
import type { Call } from '../call/call.ts'
import { failureOf, verbFailed } from '../leg/failures.ts'

/** Maximum number of recordings of a call at once: each costs CPU and disk space. */
const maxConcurrentRecordings = 4

/** Recordings of one call. They follow the caller's port, and end with the call. */
export class CallRecordings {
  #store: RecordingStore
  #call: Call
  #running = new Set<StoredRecording>()

  constructor(store: RecordingStore, call: Call) {
    this.#store = store
    this.#call = call
    call.onPartiesChanged(() => this.#followCaller())
  }

  /** Starts a recording. Throws a `VerbFailed`. */
  start(port: MediaPort, options: RecordOptions): CallRecording {
    if (this.#running.size >= maxConcurrentRecordings)
      throw verbFailed(
        'too_many_recordings',
        `the call has ${maxConcurrentRecordings} recordings in progress`,
      )
    const recording = this.#begin(port, options)
    this.#running.add(recording)
    const ended = this.#follow(recording, options.terminators ?? '')
    this.#call.addRecording({ id: recording.id, ended })
    return {
      id: recording.id,
      url: recording.url,
      ended,
      ...(recording.stored && { stored: recording.stored }),
      pause: (how) => recording.pause(how),
      resume: () => recording.resume(),
      stop: () => recording.stop(),
    }
  }

  #begin(port: MediaPort, options: RecordOptions): StoredRecording {
    const { format = 'wav', tracks = 'in', storage, source, statusTarget, ...rest } = options
    const { id: callId, info, caller } = this.#call
    // A narrow-band codec is not worth twice the disk space.
    const sampleRate = port.codec && encodedRate(port.codec) > 8000 ? 16_000 : 8000
    try {
      return this.#store.start(port, {
        projectId: info.projectId,
        callId,
        legId: caller.id,
        request: { ...rest, format, tracks, sampleRate },
        ...(storage && { storage }),
        ...(source && { source }),
        ...(statusTarget && { status: statusTarget }),
      })
    } catch (error) {
      throw failureOf(error, 'recording_failed')
    }
  }

  #followCaller(): void {
    const { port } = this.#call.caller
    if (port) for (const recording of this.#running) recording.moveTo(port)
  }

  async #follow(recording: StoredRecording, terminators: string): Promise<RecordResult> {
    let pressed: string | undefined
    // The port detects digits in the audio; digits of messages arrive here only.
    const unsubscribe = this.#call.onDigit((digit) => {
      if (pressed !== undefined || !terminators.includes(digit)) return
      pressed = digit
      recording.stop()
    })
    const { signal } = this.#call
    // A callee's leg goes on after its confirmation, without the recording.
    const stop = () => recording.stop()
    signal.addEventListener('abort', stop, { once: true })
    const result = await recording.done
    signal.removeEventListener('abort', stop)
    unsubscribe()
    this.#running.delete(recording)
    return this.#resultOf(recording, result, pressed)
  }

  #resultOf(
    { id, url }: StoredRecording,
    result: RecordingResult,
    pressed: string | undefined,
  ): RecordResult {
    const { end, durationMs, hasFile, bytes } = result
    const common = { id, url, durationMs, bytes: hasFile ? bytes : 0 }
    if (end.kind === 'terminator') return { ...common, reason: 'terminator', terminator: end.digit }
    if (end.kind !== 'stopped') return { ...common, reason: end.kind }
    if (pressed !== undefined) return { ...common, reason: 'terminator', terminator: pressed }
    return { ...common, reason: this.#call.signal.aborted ? 'hangup' : 'stopped' }
  }
}
