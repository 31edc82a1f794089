import type { CallRecording, RecordOptions, RecordResult } from '../../../handlers/verbs.ts'
import { encodedRate } from '../../../media/rtp/encoding.ts'
import type { MediaPort, RecordingResult } from '../../../media/types.ts'
import type { Call } from '../call/call.ts'
import { failureOf, verbFailed } from '../leg/failures.ts'
import type { RecordingStore, StoredRecording } from './recording-store.ts'

/** Recordings of a call that are under way together: each costs CPU and disk for every second. */
const maxConcurrentRecordings = 4

/** The recordings of one call: of its caller's port, also when another leg becomes the caller, and ended with the call. */
export class CallRecordings {
  #keeper: RecordingStore
  #call: Call
  #underWay = new Set<StoredRecording>()

  constructor(keeper: RecordingStore, call: Call) {
    this.#keeper = keeper
    this.#call = call
    call.onPartiesChanged(() => this.#goOn())
  }

  /** Begins one. Throws a `VerbFailed`. */
  start(port: MediaPort, options: RecordOptions): CallRecording {
    if (this.#underWay.size >= maxConcurrentRecordings)
      throw verbFailed('too_many_recordings', `the call has ${maxConcurrentRecordings} recordings under way`)
    const kept = this.#begin(port, options)
    this.#underWay.add(kept)
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
    // What a telephone cannot carry is not worth twice the room.
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

  #goOn(): void {
    const { port } = this.#call.caller
    if (port) for (const kept of this.#underWay) kept.moveTo(port)
  }

  async #follow(kept: StoredRecording, terminators: string): Promise<RecordResult> {
    let pressed: string | undefined
    // The port hears the keys that come with the audio; those that come by a message are known here alone.
    const deaf = this.#call.onDigit((digit) => {
      if (pressed !== undefined || !terminators.includes(digit)) return
      pressed = digit
      kept.stop()
    })
    const { signal } = this.#call
    // A callee's leg goes on when its confirmation is over, and is recorded no longer.
    const stop = () => kept.stop()
    signal.addEventListener('abort', stop, { once: true })
    const result = await kept.done
    signal.removeEventListener('abort', stop)
    deaf()
    this.#underWay.delete(kept)
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
