import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterEach } from 'vitest'
import { endLostCalls } from '../../calling/lost-calls.ts'
import type { CallCdr, LegCdr } from '../../calls/log/call-cdr.ts'
import type { CallRow } from '../../calls/log/call-rows.ts'
import { type Clock, FakeClock } from '../../core/clock.ts'
import { Metrics } from '../../core/metrics.ts'
import type { Store } from '../../directory/store/sqlite.ts'
import { CallRows } from '../../directory/tables/calls.ts'
import { CdrRows } from '../../directory/tables/cdrs.ts'
import { endLostRecordings } from '../../recordings/lost-recordings.ts'
import { CdrStore, type CdrStoreOptions } from '../cdr-store.ts'
import { endLostRooms } from '../lost-rooms.ts'

/** Ids of two projects. */
export const ownProject = randomUUID()
/** Differs from {@link ownProject}. */
export const otherProject = randomUUID()

/** A call that begins; now, unless something else is said. */
export const startedCall = (changes: Partial<CallRow> = {}): Omit<CallRow, 'status'> => ({
  id: randomUUID(),
  projectId: ownProject,
  direction: 'inbound',
  type: 'sip',
  createdAt: 1_700_000_000_000,
  from: 'sip:+15550001111@carrier.example',
  to: 'sip:+15550002222@voice.example',
  ...changes,
})

/** A leg of a record. */
export const legOf = (changes: Partial<LegCdr> = {}): LegCdr => ({
  leg: randomUUID(),
  role: 'caller',
  kind: 'sip',
  type: 'sip',
  direction: 'inbound',
  tries: [],
  detail: undefined,
  from: 'sip:+15550001111@carrier.example',
  to: 'sip:+15550002222@voice.example',
  carrier: 'telco',
  sipCallId: 'their-id',
  codec: 'PCMU',
  audio: undefined,
  startedAt: 1_700_000_000_000,
  answeredAt: 1_700_000_002_000,
  endedAt: 1_700_000_010_000,
  code: 'normal',
  by: 'far',
  sipStatus: undefined,
  q850: 16,
  ...changes,
})

/** The record of a call that is over. */
export const callSummaryOf = (changes: Partial<CallCdr> = {}): CallCdr => ({
  call: randomUUID(),
  projectId: ownProject,
  direction: 'inbound',
  detail: undefined,
  from: 'sip:+15550001111@carrier.example',
  to: 'sip:+15550002222@voice.example',
  domain: 'voice.example',
  source: '192.0.2.1',
  startedAt: 1_700_000_000_000,
  answeredAt: 1_700_000_002_000,
  endedAt: 1_700_000_010_000,
  durationMs: 10_000,
  answeredMs: 8_000,
  code: 'normal',
  by: 'far',
  sipStatus: undefined,
  q850: 16,
  legs: [legOf(), legOf({ role: 'callee', direction: 'outbound', to: 'sip:desk@pbx.example', by: 'us' })],
  ...changes,
})

/** Ends of the calls, recordings and room sessions of a stopped gateway. */
export const leftAs = (clock: Pick<Clock, 'now'>) => ({
  calls: endLostCalls({ clock }),
  recordings: endLostRecordings(clock),
  rooms: endLostRooms(clock),
})

/** Options of a CDR store whose gateway stopped a moment ago. */
export const leftBy = (clock: Pick<Clock, 'now'>) => ({
  wasThereAt: clock.now(),
  end: endLostCalls({ clock }),
  onCallbacks: () => {},
})

/**
 * Opens records on a store, on a clock that stands still; closes it with the test, before its other
 * resources.
 */
export const openTestCdrStore = (newStore: () => Promise<Store>) => {
  const opened: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of opened.splice(0)) await close()
  })
  return async ({ store, ...changes }: Partial<CdrStoreOptions> & { readonly store?: Store } = {}) => {
    const on = store ?? (await newStore())
    const clock = new FakeClock()
    const metrics = new Metrics()
    const lines: Record<string, unknown>[] = []
    const calls = new CallRows(on)
    const cdrs = new CdrRows(on)
    const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) })
    const own = { calls, cdrs, nodeId: 'node-1', ...leftBy(clock), keepMs: 86_400_000, clock, log, metrics }
    const records = await CdrStore.open({ ...own, ...changes })
    opened.push(async () => {
      const closed = records.close()
      clock.advance(5_000)
      await closed
    })
    return { records, store: on, calls, cdrs, clock, metrics, lines }
  }
}
