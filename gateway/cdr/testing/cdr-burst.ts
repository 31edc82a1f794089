/**
 * A process that writes down many calls at once, and says of each when it is in the store; a test kills it.
 */
import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { endLostCalls } from '../../calling/lost-calls.ts'
import { SystemClock } from '../../core/clock.ts'
import { Metrics } from '../../core/metrics.ts'
import { openEngine } from '../../directory/opening/open-engine.ts'
import { CallRows } from '../../directory/tables/calls.ts'
import { CdrRows } from '../../directory/tables/cdrs.ts'
import { CdrStore } from '../cdr-store.ts'

const place: { readonly file: string; readonly url?: string } = JSON.parse(process.argv[2] ?? '')
const clock = new SystemClock()
const log = pino({ level: 'silent' })
const { store } = await openEngine({ ...place, clock, log })
const records = await CdrStore.open({
  calls: new CallRows(store),
  cdrs: new CdrRows(store),
  nodeId: 'burst',
  keepMs: 86_400_000,
  wasThereAt: clock.now(),
  end: endLostCalls({ clock }),
  onCallbacks: () => {},
  clock,
  log,
  metrics: new Metrics(),
})

const say = async (what: string, id: string): Promise<void> => {
  await records.settled()
  process.stdout.write(`${what} ${id}\n`)
}

const party = { from: 'sip:a@x', to: 'sip:b@x' }

const call = async (): Promise<void> => {
  const id = randomUUID()
  const startedAt = clock.now()
  records.began({ id, projectId: 'p', direction: 'inbound', type: 'sip', createdAt: startedAt, ...party })
  await say('began', id)
  records.changed(id, { status: 'in-progress', answeredAt: clock.now() })
  await new Promise(setImmediate)
  const endedAt = clock.now()
  records.ended(id, { status: 'completed', endedAt, code: 'normal' })
  records.keep({
    call: id,
    projectId: 'p',
    direction: 'inbound',
    ...party,
    domain: undefined,
    source: undefined,
    startedAt,
    endedAt,
    durationMs: endedAt - startedAt,
    answeredMs: 0,
    legs: [],
    code: 'normal',
    by: 'far',
    sipStatus: undefined,
    q850: 16,
    detail: undefined,
  })
  await say('ended', id)
}

// Twenty at a time, for as long as it lives.
for (let i = 0; i < 20; i++)
  void (async () => {
    for (;;) await call()
  })()
