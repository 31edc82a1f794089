import { expect, it } from 'vitest'
import type { CallRow } from '../calls/log/call-rows.ts'
import { toStoredCall } from '../cdr/stored-calls.ts'
import { startedCall } from '../cdr/testing/call-summaries.ts'
import { FakeClock } from '../core/clock.ts'
import type { StatusTarget } from '../model.ts'
import { endLostCalls } from './lost-calls.ts'

const began = 1_700_000_000_000
const there = began + 60_000
/** An hour later another run looks. */
const clock = new FakeClock(there + 3_600_000)
const form: StatusTarget = {
  url: 'https://u:pw@x.example/cb',
  method: 'POST',
  dialect: 'form',
  states: ['initiated', 'ringing', 'answered', 'completed'],
}
const stored = (changes: Partial<CallRow>) =>
  toStoredCall({ ...startedCall({ id: 'c1' }), status: 'in-progress', ...changes }, 'gone')
const ended = (changes: Partial<CallRow>, recordsTo?: string) =>
  endLostCalls({ clock, cdrUrl: () => recordsTo })([stored(changes)], [], there)

it('lost calls are reported as forms with the time when their gateway was last seen', () => {
  const { calls, callbacks } = ended({ statusTarget: form, ringingAt: began, answeredAt: began + 10_000 })
  expect(calls).toMatchObject([
    { status: 'failed', code: 'interrupted', ended_at: there, node_id: 'gone', status_json: null },
  ])
  expect(callbacks).toMatchObject([
    {
      kind: 'call-status',
      call_id: 'c1',
      url: form.url,
      server: 'https://x.example',
      tries: 0,
      due_at: clock.now(),
    },
  ])
  expect(Object.fromEntries(new URLSearchParams(callbacks[0]?.body ?? ''))).toMatchObject({
    CallSid: 'c1',
    CallStatus: 'failed',
    CallDuration: '50',
    SequenceNumber: '3',
    Direction: 'inbound',
  })
})

it('lost calls are reported as events of scripts', () => {
  const { callbacks } = ended({ statusTarget: { ...form, dialect: 'json', states: ['completed'] } })
  const { event_type: type, params } = JSON.parse(callbacks[0]?.body ?? '')
  expect(type).toBe('calling.call.state')
  expect(params).toMatchObject({
    call_id: 'c1',
    node_id: 'gone',
    call_state: 'ended',
    end_reason: 'error',
    end_time: there,
  })
})

it('lost calls are not reported without a status URL for their end', () => {
  expect(ended({ statusTarget: { ...form, states: ['ringing'] } }).callbacks).toEqual([])
  expect(ended({}).callbacks).toEqual([])
})

it('lost calls end after their last known state if their gateway was seen earlier', () => {
  const at = there + 5_000
  expect(ended({ answeredAt: at }).calls).toMatchObject([{ ended_at: at }])
})

it('lost calls have CDRs, which are posted; a branch is a leg in the CDR of its call', () => {
  const { callbacks, cdrs } = ended({}, 'https://records.example/all')
  expect(callbacks).toMatchObject([
    { kind: 'call-record', url: 'https://records.example/all', call_id: 'c1' },
  ])
  expect(JSON.parse(callbacks[0]?.body ?? '')).toMatchObject({
    call: 'c1',
    code: 'interrupted',
    durationMs: 60_000,
  })
  expect(cdrs.map(({ kind, id }) => [kind, id])).toEqual([
    ['call', 'c1'],
    ['leg', expect.any(String)],
  ])
  const called = ended(
    { parentId: 'c0', direction: 'outbound-dial', statusTarget: form },
    'https://records.example/all',
  )
  expect([called.cdrs, called.callbacks.length]).toEqual([[], 1])
})

it('a lost call to the handler of an address has its own CDR', () => {
  const { cdrs } = ended({ parentId: 'c0', direction: 'inbound' }, 'https://records.example/all')
  expect(cdrs.map(({ kind, id }) => [kind, id])).toEqual([
    ['call', 'c1'],
    ['leg', expect.any(String)],
  ])
})
