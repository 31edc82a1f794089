import {
  CallEnded,
  type DetectOptions,
  type DetectResult,
  type Finding,
  type MachineOptions,
} from '../../../handlers/verbs.ts'
import type { DetectRequest, MachineRequest, MediaPort } from '../../../media/types.ts'
import type { Clock } from '../../core/clock.ts'
import { guardListener } from '../../core/guard.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Call } from '../call/call.ts'
import { verbFailed } from '../leg/failures.ts'

const defaultDetectMs = 30_000
/** Maximum number of detections of a call at once: each costs CPU every 20 ms. */
const maxConcurrentDetections = 4

/** Collaborators of a {@link CallDetector}. */
export interface CallDetectorDeps {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'detections'>
}

/**
 * Detects machines, tones and digits of callers. The caller's media thread analyses the audio; digits may
 * come in any form. Answers an unanswered call.
 */
export class CallDetector {
  readonly #deps: CallDetectorDeps
  /** Numbers of detections in progress, by call. */
  readonly #running = new Map<Call, number>()

  constructor(deps: CallDetectorDeps) {
    this.#deps = deps
  }

  /** Runs `CallControl.detect`. */
  async detect(call: Call, options: DetectOptions): Promise<DetectResult> {
    const request = requestOf(options)
    const before = this.#running.get(call) ?? 0
    if (before >= maxConcurrentDetections) throw verbFailed('too_many_detections')
    this.#running.set(call, before + 1)
    try {
      return await this.#detect(call, request, options)
    } finally {
      const remaining = this.#running.get(call)! - 1
      if (remaining === 0) this.#running.delete(call)
      else this.#running.set(call, remaining)
    }
  }

  async #detect(call: Call, request: DetectRequest, options: DetectOptions): Promise<DetectResult> {
    const port = await call.openAudio(true, options.signal)
    const { clock, metrics } = this.#deps
    const from = clock.now()
    const last = await this.#listen(call, port, request, options)
    const result = { ...resultOf(last, options), durationMs: clock.now() - from }
    metrics.detections.inc({ result: result.kind })
    return result
  }

  /** Resolves with the last finding, if it is conclusive or the time is over. */
  async #listen(
    call: Call,
    port: MediaPort,
    request: DetectRequest,
    { digits = '', timeoutMs = defaultDetectMs, onFinding = () => {}, signal }: DetectOptions,
  ): Promise<Finding | undefined> {
    const { clock, log } = this.#deps
    const { promise, resolve } = Promise.withResolvers<void>()
    const report = guardListener(onFinding, log)
    let last: Finding | undefined
    const find = (finding: Finding) => {
      // A digit that comes both as a message and as audio counts once.
      if (last?.kind === 'digit') return
      last = finding
      report(finding)
      if (finding.kind === 'digit') resolve()
    }
    const detection = port.detect(request)
    detection.onFinding(find)
    detection.onEnd(resolve)
    const unsubscribe = call.onDigit((digit) => digits.includes(digit) && find({ kind: 'digit', digit }))
    const timer = clock.after(timeoutMs, resolve)
    try {
      await call.whileUp(promise, signal)
      // The end of the call closes the port, and so the detection; either may be first.
      if (call.signal.aborted) throw new CallEnded()
      return last
    } finally {
      timer.cancel()
      unsubscribe()
      detection.close()
    }
  }
}

/** Throws VerbFailed `bad_request` if nothing is to detect. */
const requestOf = ({ machine, fax, digits }: DetectOptions): DetectRequest => {
  if (!machine && !fax && !digits) throw verbFailed('bad_request', 'There is nothing to detect.')
  return {
    ...(machine && { machine: machineOf(machine) }),
    ...(fax && { fax }),
    ...(digits && { digits }),
  }
}

const machineOf = ({
  initialTimeoutMs = 4500,
  endSilenceMs = 1000,
  readyTimeoutMs = endSilenceMs,
  voiceThresholdMs = 1250,
  wordsThreshold = 6,
  waitForEnd = false,
}: MachineOptions): MachineRequest => ({
  initialTimeoutMs,
  endSilenceMs,
  readyTimeoutMs,
  voiceThresholdMs,
  wordsThreshold,
  waitForEnd,
})

/** Returns the result for the last finding. */
const resultOf = (
  last: Finding | undefined,
  { machine }: DetectOptions,
): Omit<DetectResult, 'durationMs'> => {
  if (!last) return { kind: 'none' }
  switch (last.kind) {
    case 'machine':
      return { kind: 'machine', ...(machine?.waitForEnd && { beep: false }) }
    case 'notReady':
      return { kind: 'machine', beep: false }
    case 'ready':
      return { kind: 'machine', beep: last.beep }
    default:
      return last
  }
}
