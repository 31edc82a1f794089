import type { StatusCallback } from '../../../handlers/handler.ts'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Callbacks } from '../call-ports.ts'
import { buildCdr, type CallCdr, type CdrSource, legQualities, refusedPackets } from './call-cdr.ts'

/** Longest wait for the counters of a media port that was closed. */
const maxStatsWaitMs = 5_000

/** What writing records works with. */
export interface CdrWriterDeps {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'callsEnded' | 'rtpRefused' | 'audioMos' | 'audioLoss' | 'audioJitter'>
  readonly callbacks: Callbacks
  /** Keeps each record; default nobody. */
  readonly cdrs?: { keep(record: CallCdr): void }
  /** URL that is told each record; default none. */
  readonly cdrUrl?: string
}

/** Tells the record of a call. */
export const cdrCallback = (record: CallCdr, url: string): StatusCallback => {
  const body = { contentType: 'application/json', text: JSON.stringify(record) }
  return { kind: 'call-record', url, method: 'POST', body }
}

/** Writes the records of calls that are over (CDR), and counts them. */
export class CdrWriter {
  #parts: CdrWriterDeps
  #writing = new Set<Promise<void>>()

  constructor(parts: CdrWriterDeps) {
    this.#parts = parts
  }

  /** Tells this URL of records from now on; undefined: none. */
  change(recordsTo: string | undefined): void {
    const { cdrUrl: _before, ...parts } = this.#parts
    this.#parts = { ...parts, ...(recordsTo !== undefined && { cdrUrl: recordsTo }) }
  }

  /** Counts a call that is over, and writes its record. */
  ended(call: CdrSource): void {
    const { state } = call.caller
    const cause = state.kind === 'ended' ? state.cause.code : 'internal'
    this.#parts.metrics.callsEnded.inc({ direction: call.info.direction, cause })
    this.write(call)
  }

  /** Writes the record of a call, whichever way it ended. */
  write(call: CdrSource): void {
    const { clock, log } = this.#parts
    const written = buildCdr(call, clock.now(), (stats) => this.#within(stats)).then(
      (record) => {
        this.#measure(record)
        log.info(record, 'call ended')
        this.#parts.cdrs?.keep(record)
        this.#tell(record)
      },
      (error) => log.error({ call: call.id, err: error }, 'the record of a call could not be made'),
    )
    this.#writing.add(written)
    void written.then(() => this.#writing.delete(written))
  }

  /** Resolves when every record is written, within seconds. */
  async idle(): Promise<void> {
    await Promise.all(this.#writing)
  }

  #tell(record: CallCdr): void {
    const { callbacks, cdrUrl: url } = this.#parts
    if (url === undefined) return
    const { call: callId, projectId } = record
    callbacks.notify({ projectId, callId }, cdrCallback(record, url))
  }

  #measure(record: CallCdr): void {
    const { metrics } = this.#parts
    for (const [reason, packets] of refusedPackets(record)) metrics.rtpRefused.inc({ reason }, packets)
    for (const { carrier, codec, mos, loss, jitterSeconds } of legQualities(record)) {
      metrics.audioMos.observe({ carrier, codec }, mos)
      metrics.audioLoss.observe({ carrier, codec }, loss)
      metrics.audioJitter.observe({ carrier, codec }, jitterSeconds)
    }
  }

  /** A media thread that hangs must not cost the record of the call. */
  async #within<T>(work: Promise<T>): Promise<T | undefined> {
    const { promise, resolve } = Promise.withResolvers<T | undefined>()
    const timer = this.#parts.clock.after(maxStatsWaitMs, () => resolve(undefined))
    work.then(resolve, () => resolve(undefined))
    try {
      return await promise
    } finally {
      timer.cancel()
    }
  }
}
