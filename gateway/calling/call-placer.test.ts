import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import type { CallControl, DetectOptions } from '../../handlers/verbs.ts'
import { settle, setUp as setUpCalls } from '../calls/testing/calls-fixture.ts'
import { FakeCallRows } from '../calls/testing/fake-call-rows.ts'
import type { Target } from '../model.ts'
import type { CallOrder } from './call-placement.ts'
import { CallPlacer } from './call-placer.ts'
import { CalleeCheck, type Objection } from './callee-check.ts'

const order: CallOrder = {
  projectId: 'p',
  to: 'sip:b@x',
  from: 'sip:me@y',
  source: 'compat',
  handler: { kind: 'script', document: '{}', name: 'inline' },
  status: {
    url: 'https://x.example/cb',
    method: 'POST',
    dialect: 'form',
    states: ['initiated', 'ringing', 'answered', 'completed'],
  },
}

const addresses = {
  resolve: (to: string): Target | undefined => {
    if (/^sips?:/.test(to)) return { kind: 'sip', uri: to }
    if (to === '/private/ann') return { kind: 'subscriber', subscriberId: 'a', address: to }
    if (to === '/public/phone') return { kind: 'endpoint', endpointId: 'e1', address: to }
    if (to === '/public/menu')
      return { kind: 'handler', address: to, handler: { kind: 'script', document: '{}', name: 'menu' } }
    return undefined
  },
}

const setUp = () => {
  const found: { options?: DetectOptions; kind: 'human' | 'machine' | 'none'; until?: Promise<void> } = {
    kind: 'machine',
  }
  const detector = {
    detect: async (_call: unknown, options: DetectOptions) => {
      found.options = options
      await found.until
      return { kind: found.kind, beep: true, durationMs: 1 }
    },
  }
  const history = new FakeCallRows()
  const fixture = setUpCalls({ rows: history, detector, addresses })
  const { calls, callLog, clock, customers } = fixture
  const { callbacks } = customers
  const log = pino({ level: 'silent' })
  const objection: Objection = async ({ host }) => (host === 'private' ? 'it is private' : undefined)
  const callees = new CalleeCheck(fixture.dialer, objection)
  const placer = new CallPlacer({ callees, calls, callLog, history, callbacks, clock, log })
  const forms = (kind: string) =>
    customers.received
      .filter(({ callback }) => callback.kind === kind)
      .map(({ callback }) => Object.fromEntries(new URLSearchParams(callback.body?.text)))
  const statuses = () => forms('call-status').map(({ CallStatus }) => CallStatus)
  /** Runs when the call has a document. */
  const documents = (run: (call: CallControl) => Promise<void>) => {
    fixture.script(run)
  }
  return { ...fixture, placer, history, forms, statuses, found, documents }
}

let t: ReturnType<typeof setUp>
beforeEach(() => {
  t = setUp()
})

const place = (more: Partial<CallOrder> = {}) => t.placer.place({ ...order, ...more })

describe('a call of the API', () => {
  it('is queued at first, runs its document after the answer, and reports its states', async () => {
    let control: CallControl | undefined
    t.documents((call) => {
      control = call
      return call.sleep(1_000)
    })
    const row = await place({
      callerId: '+1555',
      credentials: { username: 'u', password: 's3cret' },
      codecs: ['G722'],
    })
    expect(row).toMatchObject({ status: 'queued', direction: 'outbound-api', to: 'sip:b@x', projectId: 'p' })
    expect(row.document).toBe('inline')
    const [b] = t.outbound.dialled
    expect(b!.request).toMatchObject({
      from: { uri: 'sip:me@y' },
      destination: { from: '+1555', username: 'u', password: 's3cret', codecs: ['G722'] },
    })
    b!.leg.early(false)
    b!.leg.answered()
    await settle()
    expect(control?.info).toMatchObject({ callId: row.id, direction: 'outbound' })
    t.clock.advance(1_000)
    await settle()
    expect(t.statuses()).toEqual(['initiated', 'ringing', 'in-progress', 'completed'])
    expect(t.forms('call-status').map(({ CallSid, SequenceNumber }) => [CallSid, SequenceNumber])).toEqual(
      ['0', '1', '2', '3'].map((sequence) => [row.id, sequence]),
    )
    expect([t.calls.count, t.history.live, t.callLog.watched, t.clock.running]).toEqual([0, 0, 0, 0])
  })

  it.each([
    ['sip:b@private', 'not_permitted'],
    ['/public/nobody', 'unknown_address'],
    ['sip:', 'bad_request'],
    ['12345', 'no_carrier'],
  ])('to %s is rejected: %s', async (to, code) => {
    await expect(place({ to })).rejects.toMatchObject({ code, facts: { attribute: 'to' } })
    expect([t.outbound.dialled, t.history.rows.size, t.statuses()]).toEqual([[], 0, []])
  })

  it('to a number without a carrier names what is missing', async () => {
    await expect(place({ to: '+4930123' })).rejects.toThrow('has no default carrier')
  })

  it('with invalid digits, or without a caller, is rejected', async () => {
    await expect(place({ sendDigits: '1x' })).rejects.toMatchObject({ facts: { attribute: 'sendDigits' } })
    await expect(place({ from: ' ' })).rejects.toMatchObject({ facts: { attribute: 'from' } })
  })

  it('to a client rings that subscriber', async () => {
    await place({ to: 'client:ann' })
    expect(t.outbound.dialled[0]!.target).toMatchObject({ kind: 'subscriber', subscriberId: 'a' })
  })

  it('to an address runs its document on one side, and that of the address on the other', async () => {
    const ran: string[] = []
    t.documents(async (call) => {
      ran.push(`${call.info.direction} ${call.info.to}`)
      await call.answer()
      await call.sleep(1_000)
    })
    const row = await place({ to: '/public/menu' })
    await settle()
    await settle()
    expect(ran.toSorted()).toEqual(['inbound /public/menu', 'outbound /public/menu'])
    expect(row).toMatchObject({ status: 'queued', direction: 'outbound-api', to: '/public/menu' })
    t.clock.advance(1_000)
    await settle()
    expect(t.statuses()).toEqual(['initiated', 'in-progress', 'completed'])
    expect([t.calls.count, t.history.live, t.callLog.watched, t.clock.running]).toEqual([0, 0, 0, 0])
  })

  it('to an unregistered phone ends at once', async () => {
    expect(await place({ to: '/public/phone' })).toMatchObject({ status: 'queued', type: 'sip' })
    expect(t.statuses()).toEqual(['initiated', 'no-answer'])
  })

  it('reports that it has no answer', async () => {
    await place({ timeoutMs: 5_000 })
    t.clock.advance(5_000)
    await settle()
    expect(t.statuses()).toEqual(['initiated', 'no-answer'])
  })

  it('is rejected over the limit', async () => {
    await place()
    await place()
    await expect(place()).rejects.toMatchObject({ code: 'over_call_limit' })
  })

  it('can be canceled while it rings, not after the answer', async () => {
    const { id } = await place()
    await t.placer.end('p', id, 'canceled')
    expect(t.statuses()).toEqual(['initiated', 'canceled'])
    await expect(t.placer.end('p', id, 'canceled')).rejects.toMatchObject({ code: 'call_not_in_progress' })
    t.documents((call) => call.sleep(1_000))
    const other = await place()
    t.outbound.dialled[1]!.leg.answered()
    await settle()
    await expect(t.placer.end('p', other.id, 'canceled')).rejects.toMatchObject({
      code: 'call_not_in_progress',
    })
    await expect(t.placer.end('q', other.id, 'completed')).rejects.toMatchObject({ code: 'unknown_call' })
    await t.placer.end('p', other.id, 'completed')
    await settle()
    expect(t.statuses().at(-1)).toBe('completed')
  })

  it('can get another document and another status URL', async () => {
    const ran: number[] = []
    t.documents(async (call) => {
      ran.push(ran.length)
      await call.sleep(1_000)
    })
    const { id } = await place()
    t.outbound.dialled[0]!.leg.answered()
    await settle()
    const row = await t.placer.redirect('p', id, { kind: 'xml', document: '<Response/>', name: 'next' })
    expect(row).toMatchObject({ id, status: 'in-progress' })
    await settle()
    expect(ran).toEqual([0, 1])
  })

  it('is recorded from its answer to its end, and reports the recording', async () => {
    t.documents((call) => call.sleep(1_000))
    const record = {
      tracks: 'stereo' as const,
      trim: true,
      status: {
        url: 'https://x.example/rec',
        method: 'POST',
        events: ['in-progress', 'completed', 'absent'],
      },
    } as const
    const { id } = await place({ record })
    t.outbound.dialled[0]!.leg.answered()
    await settle()
    expect(t.recordingStore.orders[0]?.request).toMatchObject({ tracks: 'stereo', trim: true })
    t.outbound.dialled[0]!.leg.ended({ code: 'normal' })
    await settle()
    expect(t.forms('recording')).toMatchObject([
      { CallSid: id, RecordingStatus: 'in-progress', RecordingSource: 'OutboundAPI', RecordingChannels: '2' },
      { CallSid: id, RecordingSid: 'r-1' },
    ])
  })

  it.each([
    ['machine', true, 'machine_end_beep', 'machine'],
    ['machine', false, 'machine_start', 'machine'],
    ['human', false, 'human', 'human'],
    ['none', false, 'unknown', undefined],
  ] as const)(
    'runs the detection before its document: %s, to the end %s, is %s',
    async (kind, waitForMessageEnd, answerer, row) => {
      let info: CallControl['info'] | undefined
      t.found.kind = kind
      t.documents(async (call) => {
        info = call.info
        await call.sleep(1_000)
      })
      const { id } = await place({ detect: { waitForMessageEnd, timeoutMs: 7_000 } })
      t.outbound.dialled[0]!.leg.answered()
      await settle()
      expect(t.found.options).toMatchObject({ machine: { waitForEnd: waitForMessageEnd }, timeoutMs: 7_000 })
      expect([info?.answeredBy, t.history.inProgress(id)?.answeredBy]).toEqual([answerer, row])
    },
  )

  it.each([
    ['machine', 'machine_start', 'machine'],
    ['none', 'unknown', undefined],
  ] as const)('runs the detection beside its document: %s', async (kind, answerer, row) => {
    let info: CallControl['info'] | undefined
    t.found.kind = kind
    const detected = Promise.withResolvers<void>()
    t.found.until = detected.promise
    t.documents(async (call) => {
      info = call.info
      await call.sleep(1_000)
    })
    const thresholds = { voiceThresholdMs: 2_400, wordsThreshold: 3 }
    const background = { callback: { url: 'https://x.example/amd', method: 'POST' } } as const
    const { id } = await place({
      detect: { waitForMessageEnd: false, timeoutMs: 7_000, thresholds, background },
    })
    t.outbound.dialled[0]!.leg.answered()
    await settle()
    // The document runs by now.
    expect([info?.callId, info?.answeredBy, t.forms('detect')]).toEqual([id, undefined, []])
    detected.resolve()
    await settle()
    expect(t.found.options).toMatchObject({ machine: { waitForEnd: false, ...thresholds }, timeoutMs: 7_000 })
    expect(t.forms('detect')).toEqual([
      {
        AccountSid: 'p',
        ApiVersion: '2010-04-01',
        CallSid: id,
        AnsweredBy: answerer,
        MachineDetectionDuration: '1',
      },
    ])
    expect(t.history.inProgress(id)?.answeredBy).toBe(row)
  })
})
