import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Handler } from '../../../handlers/handler.ts'
import type { CallControl } from '../../../handlers/verbs.ts'
import type { PortStats } from '../../../media/types.ts'
import { FakeClock } from '../../core/clock.ts'
import { Metrics } from '../../core/metrics.ts'
import type { AddressBook } from '../../model.ts'
import { FakeRecogniser } from '../../speech/testing/fake-recogniser.ts'
import { Player } from '../audio/player.ts'
import { newCallId } from '../call/ids.ts'
import { LegDialer } from '../connect/leg-dialer.ts'
import { Bridges } from '../leg/bridges.ts'
import { Calls } from '../session/calls.ts'
import { HandlerContexts } from '../session/handler-contexts.ts'
import { HandlerRunner } from '../session/handler-runner.ts'
import { settle } from '../testing/calls-fixture.ts'
import { FakeMixer } from '../testing/conference-fixture.ts'
import { FakeCallRows } from '../testing/fake-call-rows.ts'
import { FakeCustomerServers } from '../testing/fake-customer-servers.ts'
import { type FakeLeg, FakeOutbound, FakeVideos, fakeLeg } from '../testing/fake-legs.ts'
import { FakeStreams } from '../testing/fake-listeners.ts'
import { FakeRecordingStore } from '../testing/fake-recording-store.ts'
import { CallControllers } from '../verbs/call-controllers.ts'
import type { CallCdr } from './call-cdr.ts'
import { CallLog } from './call-log.ts'
import { CdrWriter } from './cdr-writer.ts'

const setUp = () => {
  const clock = new FakeClock()
  const outbound = new FakeOutbound(clock)
  const metrics = new Metrics()
  const records: CallCdr[] = []
  const log = pino(
    { level: 'info', base: null },
    {
      write: (text: string) => {
        const line = JSON.parse(text)
        if (line.msg === 'call ended') records.push(line)
      },
    },
  )
  const sounds = { prepare: () => new Promise<never>(() => {}), close: async () => {} }
  let script: (call: CallControl) => Promise<void> = async () => {}
  const handler: Handler = { run: (call) => script(call) }
  const { documents, callbacks } = new FakeCustomerServers()
  const addresses: AddressBook = { resolve: (to) => ({ kind: 'sip', uri: to }) }
  const callLog = new CallLog({ rows: new FakeCallRows(), callbacks, nodeId: 'node-1', clock })
  const services = {
    bridges: new Bridges({ join: () => {}, detach: () => {} }, new FakeVideos()),
    openMixer: async () => new FakeMixer(),
    player: new Player(sounds, { bytes: async () => ({ bytes: new Uint8Array() }) }),
    streams: new FakeStreams(),
    recordings: new FakeRecordingStore(),
  }
  const dialer = new LegDialer({ addresses, sip: outbound, subscribers: outbound, locals: outbound })
  const speech = { recogniser: new FakeRecogniser(), sampleRate: 8000 } as const
  const controllers = new CallControllers(
    { services, dialer, callLog, metrics, clock },
    { speech, ringMs: 60_000 },
  )
  const contexts = new HandlerContexts({ documents, callbacks, isOwnHost: () => false, clock, metrics }, {})
  const calls = new Calls(
    {
      runner: new HandlerRunner({ script: handler, xml: handler }, contexts),
      controllers,
      addresses,
      callLog,
      cdrs: new CdrWriter({ callbacks, clock, log, metrics }),
      metrics,
      clock,
      log,
    },
    { maxDurationMs: 3_600_000, maxCalls: 1 },
  )
  const arrive = (run: typeof script, end?: (made: FakeLeg) => void): FakeLeg => {
    script = run
    const callId = newCallId()
    const made = fakeLeg(clock, callId)
    end?.(made)
    calls.arrive({
      leg: made.leg,
      callId,
      projectId: 'p',
      headers: [],
      carrier: 'telco',
      maxForwards: 60,
      plan: { kind: 'handler', handler: { kind: 'script', document: '{}', name: 'test' } },
      sip: { callId: 'their-id', domain: 'demo.example', sourceAddress: '192.0.2.1' },
    })
    return made
  }
  /** Returns the only record that was written. */
  const record = async (): Promise<CallCdr> => {
    await settle()
    expect(records).toHaveLength(1)
    return records[0]!
  }
  return { clock, metrics, outbound, records, calls, arrive, record }
}

let t: ReturnType<typeof setUp>
beforeEach(() => {
  t = setUp()
})

const connect = (call: CallControl) =>
  call.connect({ steps: [[{ to: 'sip:b@far.example' }]], answerOnBridge: true }).then(() => {})
const callee = async () => {
  await settle()
  return t.outbound.dialled.at(-1)!
}
const always = {
  projectId: 'p',
  direction: 'inbound',
  from: 'sip:caller@carrier.example',
  to: 'sip:callee@demo.example',
  domain: 'demo.example',
  source: '192.0.2.1',
}

describe('the CDR of a call has every attribute', () => {
  it('hung up by the caller', async () => {
    const start = t.clock.now()
    const caller = t.arrive(connect)
    const far = await callee()
    t.clock.advance(1_000)
    far.leg.early(false)
    t.clock.advance(2_000)
    far.leg.note({ carrier: 'telco', sipCallId: 'our-id' })
    far.leg.addAttempt({
      target: 'sip:b@far.example',
      startedAt: start,
      endedAt: start + 3_000,
      outcome: 'answered',
      sipStatus: 200,
    })
    far.leg.answered()
    await settle()
    t.clock.advance(5_000)
    caller.leg.ended({ code: 'normal' })
    const record = await t.record()
    expect(record).toMatchObject({
      ...always,
      code: 'normal',
      by: 'far',
      q850: 16,
      startedAt: start,
      ringAt: start + 1_000,
      answeredAt: start + 3_000,
      endedAt: start + 8_000,
      durationMs: 8_000,
      answeredMs: 5_000,
    })
    expect(record.legs).toMatchObject([
      {
        role: 'caller',
        kind: 'sip',
        direction: 'inbound',
        carrier: 'telco',
        codec: 'PCMU',
        sipCallId: 'their-id',
        by: 'far',
        tries: [],
      },
      {
        role: 'callee',
        direction: 'outbound',
        to: 'sip:b@far.example',
        carrier: 'telco',
        sipCallId: 'our-id',
        ringAt: start + 1_000,
        answeredAt: start + 3_000,
        endedAt: start + 8_000,
        code: 'normal',
        by: 'us',
        q850: 16,
        audio: { lost: 0 },
        tries: [{ outcome: 'answered', sipStatus: 200 }],
      },
    ])
  })

  it('hung up by the callee', async () => {
    t.arrive(connect)
    const far = await callee()
    far.leg.answered()
    await settle()
    far.leg.ended({ code: 'normal' })
    expect(await t.record()).toMatchObject({ ...always, by: 'us', legs: [{}, { by: 'far', code: 'normal' }] })
  })

  it('canceled by the caller', async () => {
    const caller = t.arrive(connect)
    await callee()
    caller.leg.ended({ code: 'canceled' })
    const record = await t.record()
    expect(record).toMatchObject({ ...always, code: 'canceled', by: 'far', answeredMs: 0 })
    expect(record.legs[1]).toMatchObject({ code: 'canceled', by: 'us' })
    expect(record.answeredAt).toBeUndefined()
  })

  it('rejected by the callee', async () => {
    t.arrive(connect)
    const far = await callee()
    far.leg.ended({ code: 'busy', sip: 486, detail: '486 Busy Here' })
    const end = { code: 'busy', sipStatus: 486, q850: 17, detail: '486 Busy Here' }
    expect(await t.record()).toMatchObject({ ...always, ...end, by: 'us', legs: [{}, { ...end, by: 'far' }] })
  })

  it('not answered in time', async () => {
    t.arrive(connect)
    await callee()
    t.clock.advance(60_000)
    expect(await t.record()).toMatchObject({ ...always, code: 'no_answer', q850: 19, durationMs: 60_000 })
  })

  it('lost with the agent', async () => {
    const caller = t.arrive(connect)
    const far = await callee()
    far.leg.answered()
    await settle()
    caller.leg.ended({ code: 'control_lost' })
    expect(await t.record()).toMatchObject({ ...always, code: 'control_lost', q850: 38 })
  })

  it('ended by a media time-out', async () => {
    const caller = t.arrive(async (call) => {
      await call.answer()
      await call.sleep(1_000_000)
    })
    await settle()
    caller.port.report({ kind: 'timeout', phase: 'media' })
    expect(await t.record()).toMatchObject({ ...always, code: 'media_timeout', by: 'us' })
  })

  it('ended at its maximum duration', async () => {
    t.arrive((call) => call.sleep(10_000_000))
    t.clock.advance(3_600_000)
    expect(await t.record()).toMatchObject({ ...always, code: 'max_duration' })
  })

  it('ended by a failed handler', async () => {
    t.arrive(() => Promise.reject(new Error('broken')))
    expect(await t.record()).toMatchObject({ ...always, code: 'handler_failed', detail: 'broken' })
  })

  it('rejected over the limit, and while draining', async () => {
    const wait = (call: CallControl) => call.sleep(1_000_000)
    t.arrive(wait)
    t.arrive(wait)
    await settle()
    void t.calls.drain(5_000)
    t.arrive(wait)
    await settle()
    expect(t.records).toMatchObject([
      { ...always, code: 'over_call_limit', q850: 42, legs: [{ role: 'caller', sipCallId: 'their-id' }] },
      { ...always, code: 'draining', by: 'us' },
    ])
  })

  it('ended before its arrival', async () => {
    t.arrive(
      async () => {},
      ({ leg }) => leg.ended({ code: 'canceled' }),
    )
    expect(await t.record()).toMatchObject({ ...always, code: 'canceled', by: 'far' })
    const { values } = await t.metrics.callsEnded.get()
    expect(values).toMatchObject([{ value: 1, labels: { direction: 'inbound', cause: 'canceled' } }])
  })

  it.each<[string, () => Promise<PortStats>]>([
    ['fail', () => Promise.reject(new Error('the media thread died'))],
    ['never come', () => new Promise(() => {})],
  ])('whose counters %s', async (_what, close) => {
    const caller = t.arrive((call) => call.sleep(1_000_000))
    await settle()
    caller.port.close = close
    caller.leg.ended({ code: 'normal' })
    await settle()
    t.clock.advance(5_000)
    const record = await t.record()
    expect(record).toMatchObject({ ...always, code: 'normal' })
    expect(record.legs[0]?.audio).toBeUndefined()
    expect(t.clock.running).toBe(0)
  })
})

it('has the audio quality of each leg, as the metrics have by carrier and codec', async () => {
  const caller = t.arrive(connect)
  const far = await callee()
  far.leg.answered()
  await settle()
  const silent = await caller.port.stats()
  const audio = { ...silent, received: 980, lost: 20, jitterMs: 15, mos: 4.1, roundTripMs: 80 }
  const said = { ...audio, far: { lost: 3, jitterMs: 2 }, refused: { ...silent.refused, ssrc: 4 } }
  caller.port.close = async () => said
  caller.leg.ended({ code: 'normal' })
  const record = await t.record()
  expect(record.legs.map(({ audio }) => audio)).toEqual([said, silent])
  const text = await t.metrics.text()
  for (const line of [
    'trunkline_audio_mos_sum{carrier="telco",codec="PCMU"} 4.1',
    'trunkline_audio_loss_ratio_sum{carrier="telco",codec="PCMU"} 0.02',
    'trunkline_audio_jitter_seconds_sum{carrier="telco",codec="PCMU"} 0.015',
    'trunkline_audio_mos_count{carrier="telco",codec="PCMU"} 1',
    'trunkline_rtp_refused_total{reason="ssrc"} 4',
  ])
    expect(text.split('\n')).toContain(line)
  // The other leg has received no audio.
  expect(text).not.toContain('carrier="none"')
})

it('is one CDR from the first caller to the last, after a transfer', async () => {
  const { leg } = t.arrive(connect)
  const { leg: called } = await callee()
  called.answered()
  await settle()
  const { startedAt, answeredAt = 0 } = leg.times
  t.clock.advance(600_000)
  // The caller moves to another telephone, and then transfers the callee.
  const moved = fakeLeg(t.clock, leg.port!.group as ReturnType<typeof newCallId>)
  await moved.leg.answer()
  expect(leg.replaced(moved.leg)).toBe(true)
  t.clock.advance(60_000)
  expect(moved.leg.referred({ to: 'sip:c@y', progress: () => {} })).toBe(true)
  ;(await callee()).leg.answered()
  await settle()
  t.clock.advance(1_000)
  called.ended({ code: 'normal' })
  const record = await t.record()
  expect(record).toMatchObject({ ...always, startedAt, answeredAt, durationMs: 661_000, answeredMs: 661_000 })
  expect(record.legs.map(({ role }) => role)).toEqual(['caller', 'callee', 'caller', 'callee'])
})

it('has the recordings with their ends, and does not wait forever for one that hangs', async () => {
  const { leg, port } = t.arrive(async (call) => {
    for (const tracks of ['in', 'out'] as const) await call.startRecording({ tracks })
    return call.sleep(60_000)
  })
  await settle()
  port.recordings[1]!.stop = () => {}
  leg.ended({ code: 'normal' })
  await settle()
  t.clock.advance(5_000)
  const ended = { recording: 'r-1', reason: 'hangup', durationMs: 0, bytes: 0 }
  expect((await t.record()).recordings).toEqual([ended, { recording: 'r-2' }])
})
