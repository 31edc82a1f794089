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
  #keeper: RecordingStore
  #call: Call
  #running = new Set<StoredRecording>()

  constructor(keeper: RecordingStore, call: Call) {
    this.#keeper = keeper
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
    const kept = this.#begin(port, options)
    this.#running.add(kept)
    const ended = this.#follow(kept, options.terminators ?? '')
    this.#call.addRecording({ id: kept.id, ended })
    return {
      id: kept.id,
      url: kept.url,
      ended,
      ...(kept.stored && { stored: kept.stored }),
      pause: (how) => kept.pause(how),
      resume: () => kept.resume(),
      stop: () => kept.stop(),
    }
  }

  #begin(port: MediaPort, options: RecordOptions): StoredRecording {
    const { format = 'wav', tracks = 'in', storage, source, statusTarget, ...rest } = options
    const { id: callId, info, caller } = this.#call
    // A narrow-band codec is not worth twice the disk space.
    const sampleRate = port.codec && encodedRate(port.codec) > 8000 ? 16_000 : 8000
    try {
      return this.#keeper.start(port, {
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
    if (port) for (const kept of this.#running) kept.moveTo(port)
  }

  async #follow(kept: StoredRecording, terminators: string): Promise<RecordResult> {
    let pressed: string | undefined
    // The port detects digits in the audio; digits of messages arrive here only.
    const unsubscribe = this.#call.onDigit((digit) => {
      if (pressed !== undefined || !terminators.includes(digit)) return
      pressed = digit
      kept.stop()
    })
    const { signal } = this.#call
    // A callee's leg goes on after its confirmation, without the recording.
    const stop = () => kept.stop()
    signal.addEventListener('abort', stop, { once: true })
    const result = await kept.done
    signal.removeEventListener('abort', stop)
    unsubscribe()
    this.#running.delete(kept)
    return this.#resultOf(kept, result, pressed)
  }

  #resultOf(
    { id, url }: StoredRecording,
    result: RecordingResult,
    pressed: string | undefined,
  ): RecordResult {
    const { end, durationMs, hasFile: kept, bytes } = result
    const common = { id, url, durationMs, bytes: kept ? bytes : 0 }
    if (end.kind === 'terminator') return { ...common, reason: 'terminator', terminator: end.digit }
    if (end.kind !== 'stopped') return { ...common, reason: end.kind }
    if (pressed !== undefined) return { ...common, reason: 'terminator', terminator: pressed }
    return { ...common, reason: this.#call.signal.aborted ? 'hangup' : 'stopped' }
  }
}
