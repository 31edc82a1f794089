import type { StatusCallback } from '../../../handlers/handler.ts'
import type { Callbacks } from '../../callbacks/callback-outbox.ts'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import { buildCdr, type CallCdr, type CdrSource, legQualities, refusedPackets } from './call-cdr.ts'

/** Maximum wait for the counters of a closed media port. */
const maxStatsWaitMs = 5_000

/** Collaborators and settings of a {@link CdrWriter}. */
export interface CdrWriterDeps {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'callsEnded' | 'rtpRefused' | 'audioMos' | 'audioLoss' | 'audioJitter'>
  readonly callbacks: Callbacks
  /** Storage of CDRs; default none. */
  readonly cdrs?: { keep(record: CallCdr): void }
  /** Called with each call whose CDR is written; default none. */
  readonly onEnded?: (call: CdrSource) => void
  /** URL that receives each CDR; default none. */
  readonly cdrUrl?: string
}

/** Returns the callback that carries a CDR. */
export const cdrCallback = (record: CallCdr, url: string): StatusCallback => {
  const body = { contentType: 'application/json', text: JSON.stringify(record) }
  return { kind: 'call-record', url, method: 'POST', body }
}

/** Writes the CDRs of ended calls, and counts them. */
export class CdrWriter {
  #deps: CdrWriterDeps
  #writing = new Set<Promise<void>>()

  constructor(deps: CdrWriterDeps) {
    this.#deps = deps
  }

  /** Changes the URL that receives CDRs from now on. */
  change(cdrUrl: string | undefined): void {
    const { cdrUrl: _before, ...rest } = this.#deps
    this.#deps = { ...rest, ...(cdrUrl !== undefined && { cdrUrl }) }
  }

  /** Counts an ended call, and writes its CDR. */
  ended(call: CdrSource): void {
    const { state } = call.caller
    const cause = state.kind === 'ended' ? state.cause.code : 'internal'
    this.#deps.metrics.callsEnded.inc({ direction: call.info.direction, cause })
    this.write(call)
  }

  /** Writes the CDR of a call. */
  write(call: CdrSource): void {
    const { clock, log, onEnded } = this.#deps
    onEnded?.(call)
    const written = buildCdr(call, clock.now(), (stats) => this.#within(stats)).then(
      (cdr) => {
        this.#measure(cdr)
        log.info({ event: 'call.ended', ...cdr }, 'call ended')
        this.#deps.cdrs?.keep(cdr)
        this.#send(cdr)
      },
      (error) => log.error({ event: 'cdr.build-failed', call: call.id, err: error }, 'CDR not built'),
    )
    this.#writing.add(written)
    void written.then(() => this.#writing.delete(written))
  }

  /** Resolves when every CDR is written, within seconds. */
  async idle(): Promise<void> {
    await Promise.all(this.#writing)
  }

  #send(cdr: CallCdr): void {
    const { callbacks, cdrUrl: url } = this.#deps
    if (url === undefined) return
    const { call: callId, projectId } = cdr
    callbacks.notify({ projectId, callId }, cdrCallback(cdr, url))
  }

  #measure(cdr: CallCdr): void {
    const { metrics } = this.#deps
    for (const [reason, packets] of refusedPackets(cdr)) metrics.rtpRefused.inc({ reason }, packets)
    for (const { carrier, codec, mos, loss, jitterSeconds } of legQualities(cdr)) {
      metrics.audioMos.observe({ carrier, codec }, mos)
      metrics.audioLoss.observe({ carrier, codec }, loss)
      metrics.audioJitter.observe({ carrier, codec }, jitterSeconds)
    }
  }

  /** Limits the wait, so that a CDR is written even if a media thread hangs. */
  async #within<T>(work: Promise<T>): Promise<T | undefined> {
    const { promise, resolve } = Promise.withResolvers<T | undefined>()
    const timer = this.#deps.clock.after(maxStatsWaitMs, () => resolve(undefined))
    work.then(resolve, () => resolve(undefined))
    try {
      return await promise
    } finally {
      timer.cancel()
    }
  }
}
