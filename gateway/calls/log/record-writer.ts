import type { StatusCallback } from '../../../handlers/handler.ts'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Callbacks } from '../call/handling.ts'
import { type CallSummary, qualities, type Recorded, refusedPackets, summary } from './summary.ts'

/** Longest wait for the counters of a media port that was closed. */
const longestStatsMs = 5_000

/** What writing records works with. */
export interface RecordWriterParts {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'callsEnded' | 'rtpRefused' | 'audioMos' | 'audioLoss' | 'audioJitter'>
  readonly callbacks: Callbacks
  /** Keeps each record; default nobody. */
  readonly records?: { keep(record: CallSummary): void }
  /** URL that is told each record; default none. */
  readonly recordsTo?: string
}

/** Tells the record of a call. */
export const recordCallback = (record: CallSummary, url: string): StatusCallback => {
  const body = { contentType: 'application/json', text: JSON.stringify(record) }
  return { kind: 'call-record', url, method: 'POST', body }
}

/** Writes the records of calls that are over (CDR), and counts them. */
export class RecordWriter {
  #parts: RecordWriterParts
  #writing = new Set<Promise<void>>()

  constructor(parts: RecordWriterParts) {
    this.#parts = parts
  }

  /** Tells this URL of records from now on; undefined: none. */
  change(recordsTo: string | undefined): void {
    const { recordsTo: _before, ...parts } = this.#parts
    this.#parts = { ...parts, ...(recordsTo !== undefined && { recordsTo }) }
  }

  /** Counts a call that is over, and writes its record. */
  ended(call: Recorded): void {
    const { state } = call.caller
    const cause = state.kind === 'ended' ? state.cause.code : 'internal'
    this.#parts.metrics.callsEnded.inc({ direction: call.info.direction, cause })
    this.write(call)
  }

  /** Writes the record of a call, whichever way it ended. */
  write(call: Recorded): void {
    const { clock, log } = this.#parts
    const written = summary(call, clock.now(), (stats) => this.#within(stats)).then(
      (record) => {
        this.#measure(record)
        log.info(record, 'call ended')
        this.#parts.records?.keep(record)
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

  #tell(record: CallSummary): void {
    const { callbacks, recordsTo: url } = this.#parts
    if (url === undefined) return
    const { call: callId, projectId } = record
    callbacks.notify({ projectId, callId }, recordCallback(record, url))
  }

  #measure(record: CallSummary): void {
    const { metrics } = this.#parts
    for (const [reason, packets] of refusedPackets(record)) metrics.rtpRefused.inc({ reason }, packets)
    for (const { carrier, codec, mos, loss, jitterSeconds } of qualities(record)) {
      metrics.audioMos.observe({ carrier, codec }, mos)
      metrics.audioLoss.observe({ carrier, codec }, loss)
      metrics.audioJitter.observe({ carrier, codec }, jitterSeconds)
    }
  }

  /** A media thread that hangs must not cost the record of the call. */
  async #within<T>(work: Promise<T>): Promise<T | undefined> {
    const { promise, resolve } = Promise.withResolvers<T | undefined>()
    const timer = this.#parts.clock.after(longestStatsMs, () => resolve(undefined))
    work.then(resolve, () => resolve(undefined))
    try {
      return await promise
    } finally {
      timer.cancel()
    }
  }
}
