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

it('are told in the words of the XML family, when their gateway was there last', () => {
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

it('are told in the words of scripts', () => {
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

it('are told to nobody who asked for other states, or for none', () => {
  expect(ended({ statusTarget: { ...form, states: ['ringing'] } }).callbacks).toEqual([])
  expect(ended({}).callbacks).toEqual([])
})

it('end after what is known of them, where their gateway was not heard of since', () => {
  const at = there + 5_000
  expect(ended({ answeredAt: at }).calls).toMatchObject([{ ended_at: at }])
})

it('are posted as records where those are wanted; one that another has called has none of its own', () => {
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

it('of a call that ran the handler of an address are its own records', () => {
  const { cdrs } = ended({ parentId: 'c0', direction: 'inbound' }, 'https://records.example/all')
  expect(cdrs.map(({ kind, id }) => [kind, id])).toEqual([
    ['call', 'c1'],
    ['leg', expect.any(String)],
  ])
})
