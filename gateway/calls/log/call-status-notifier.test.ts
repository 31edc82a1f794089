import { beforeEach, describe, expect, it } from 'vitest'
import { FakeCallRows } from '../../calls/testing/fake-call-rows.ts'
import { FakeClock } from '../../core/clock.ts'
import type { StatusTarget } from '../../model.ts'
import { FakeCustomerServers } from '../testing/fake-customer-servers.ts'
import { CallLog } from './call-log.ts'
import type { CallRow } from './call-rows.ts'

const call: Omit<CallRow, 'status'> = {
  id: 'c1',
  projectId: 'p',
  direction: 'outbound-api',
  type: 'sip',
  from: 'sip:a@x',
  to: '+4930123',
  createdAt: 1_000,
}
const all: StatusTarget = {
  url: 'https://x.example/cb',
  method: 'POST',
  dialect: 'form',
  states: ['initiated', 'ringing', 'answered', 'completed'],
}

const setUp = () => {
  const clock = new FakeClock()
  const customers = new FakeCustomerServers()
  const log = new FakeCallRows()
  const states = new CallLog({ rows: log, callbacks: customers.callbacks, clock, nodeId: 'node-1' })
  const callbacks = () => customers.received.map(({ callback }) => callback)
  const forms = () => callbacks().map(({ body }) => Object.fromEntries(new URLSearchParams(body?.text)))
  return { clock, log, states, callbacks, forms, customers }
}

let t: ReturnType<typeof setUp>
beforeEach(() => {
  t = setUp()
})

const run = () => {
  t.states.change('c1', { status: 'ringing', ringingAt: 2_000 })
  t.states.change('c1', { answeredBy: 'human' })
  t.states.change('c1', { status: 'in-progress', answeredAt: 3_000 })
  t.states.end('c1', { status: 'completed', endedAt: 63_400, code: 'normal', sipStatus: 200 })
}

describe('a call in progress', () => {
  it('is reported as forms, each state once', () => {
    t.states.begin(call)
    t.states.watch('c1', all)
    run()
    const common = { AccountSid: 'p', ApiVersion: '2010-04-01', CallSid: 'c1', Direction: 'outbound-api' }
    const who = { From: 'sip:a@x', To: '+4930123', CallbackSource: 'call-progress-events' }
    const by = { AnsweredBy: 'human' }
    const each = (CallStatus: string, sequence: number, more = {}) => ({
      ...common,
      ...who,
      CallStatus,
      SequenceNumber: String(sequence),
      Timestamp: expect.any(String),
      ...more,
    })
    expect(t.forms()).toEqual([
      each('initiated', 0),
      each('ringing', 1),
      each('in-progress', 2, by),
      each('completed', 3, { ...by, CallDuration: '60', SipResultCode: '200' }),
    ])
    expect(t.forms()[0]?.Timestamp).toMatch(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000$/)
    expect(t.customers.received.every(({ projectId, callId }) => projectId === 'p' && callId === 'c1')).toBe(
      true,
    )
    expect([...t.log.rows.values()]).toMatchObject([{ status: 'completed', code: 'normal' }])
    expect(t.states.watched).toBe(0)
  })

  it('keeps its status URL for the next run, until its end', () => {
    t.states.begin(call)
    t.states.watch('c1', all)
    expect(t.log.inProgress('c1')?.statusTarget).toEqual(all)
    run()
    expect(t.callbacks().map(({ ends }) => ends)).toEqual([undefined, undefined, undefined, 'c1'])
  })

  it('is reported in the requested states only, with a sequence without gaps', () => {
    t.states.begin(call)
    t.states.watch('c1', { ...all, method: 'GET', states: ['ringing', 'completed'] })
    run()
    const urls = t.callbacks().map(({ url, body }) => [new URL(url).searchParams, body] as const)
    expect(urls.map(([query]) => [query.get('CallStatus'), query.get('SequenceNumber')])).toEqual([
      ['ringing', '0'],
      ['completed', '1'],
    ])
    expect(urls.every(([, body]) => body === undefined)).toBe(true)
  })

  it('is reported as events of scripts', () => {
    t.states.begin(call)
    t.states.watch('c1', { ...all, dialect: 'json' })
    run()
    const events = t.callbacks().map(({ body }) => JSON.parse(body!.text))
    expect(events[0]).toEqual({
      event_type: 'calling.call.state',
      event_channel: 'swml:c1',
      timestamp: expect.any(Number),
      project_id: 'p',
      space_id: 'p',
      params: {
        call_id: 'c1',
        node_id: 'node-1',
        segment_id: 'c1',
        call_state: 'created',
        direction: 'outbound',
        device: { type: 'phone', params: { from_number: 'sip:a@x', to_number: '+4930123' } },
        start_time: 1_000,
      },
    })
    expect(events.map(({ params }) => params.call_state)).toEqual(['created', 'ringing', 'answered', 'ended'])
    expect(events[3].params).toMatchObject({ end_reason: 'hangup', answer_time: 3_000, end_time: 63_400 })
  })

  it.each([
    ['busy', 'busy', 'busy'],
    ['busy', 'declined', 'declined'],
    ['no-answer', 'no_answer', 'no_answer'],
    ['canceled', 'canceled', 'cancel'],
    ['failed', 'unreachable', 'error'],
  ] as const)('without an answer (%s, %s) ends with the reason %s', (status, code, reason) => {
    t.states.begin(call)
    t.states.watch('c1', { ...all, dialect: 'json', states: ['completed'] })
    t.states.end('c1', { status, endedAt: 2_000, code })
    expect(JSON.parse(t.callbacks()[0]!.body!.text).params).toMatchObject({
      call_state: 'ended',
      end_reason: reason,
    })
  })

  it.each([
    ['normal', 'hangup'],
    ['max_duration', 'hangup'],
    ['draining', 'hangup'],
    [undefined, 'hangup'],
    ['document_unreachable', 'error'],
    ['document_invalid', 'error'],
    ['handler_failed', 'error'],
    ['no_application', 'error'],
    ['media_timeout', 'error'],
    ['internal', 'error'],
  ] as const)('with an answer and the end %s has the reason %s', (code, reason) => {
    t.states.begin(call)
    t.states.watch('c1', { ...all, dialect: 'json', states: ['completed'] })
    t.states.change('c1', { status: 'in-progress', answeredAt: 2_000 })
    t.states.end('c1', { status: 'completed', endedAt: 3_000, ...(code && { code }) })
    expect(JSON.parse(t.callbacks()[0]!.body!.text).params).toMatchObject({
      call_state: 'ended',
      end_reason: reason,
    })
  })

  it('is reported to the new URL after a redirect', () => {
    t.states.begin(call)
    t.states.watch('c1', { ...all, states: ['answered'] })
    t.states.change('c1', { status: 'in-progress', answeredAt: 3_000 })
    t.states.watch('c1', { ...all, url: 'https://y.example/' })
    t.states.end('c1', { status: 'completed', endedAt: 4_000 })
    expect(t.callbacks().map(({ url }) => url)).toEqual(['https://x.example/cb', 'https://y.example/'])
    expect(t.forms()[1]).toMatchObject({ CallStatus: 'completed', SequenceNumber: '1' })
  })

  it('is reported once in each state, and not after its end', () => {
    t.states.begin(call)
    t.states.watch('c1', all)
    for (const _ of ['once', 'twice']) t.states.change('c1', { status: 'ringing' })
    for (const _ of ['once', 'twice']) t.states.end('c1', { status: 'busy', endedAt: 2_000 })
    t.states.change('c1', { status: 'in-progress' })
    t.states.watch('c1', all)
    expect(t.forms().map(({ CallStatus }) => CallStatus)).toEqual(['initiated', 'ringing', 'busy'])
    expect([t.states.watched, t.states.statusTarget('c1')]).toEqual([0, undefined])
  })
})
