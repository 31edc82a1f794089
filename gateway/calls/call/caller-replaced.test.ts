import { beforeEach, describe, expect, it } from 'vitest'
import type {
  CallControl,
  CallRecording,
  CallStream,
  RecordResult,
  StreamEnd,
} from '../../../handlers/verbs.ts'
import { settle, setUp } from '../testing/calls-fixture.ts'
import { type FakeLeg, fakeLeg } from '../testing/fake-legs.ts'

/**
 * Connects a caller and a callee during a recording and a stream, whose ends are in `ended`.
 */
const talking = async () => {
  const fixture = setUp()
  const begun: { recording?: CallRecording; stream?: CallStream } = {}
  const ended: (RecordResult | StreamEnd)[] = []
  const script = async (call: CallControl) => {
    begun.recording = await call.startRecording({ terminators: '#' })
    begun.stream = await call.startStream({ url: 'wss://x.example/' })
    for (const each of [begun.recording.ended, begun.stream.ended]) void each.then((end) => ended.push(end))
    await call.connect({ steps: [[{ to: 'sip:b@y' }]] })
  }
  const a = fixture.arrive(script)
  await settle()
  const b = fixture.outbound.dialled[0]!
  b.leg.answered()
  await settle()
  const statuses: number[] = []
  const refer = async (by: FakeLeg) => {
    const referral = { to: 'sip:c@y', progress: (status: number) => statuses.push(status) }
    expect(by.leg.referred(referral)).toBe(true)
    await settle()
    return fixture.outbound.dialled[1]!
  }
  const sound = a.port.recordings[0]!
  /** Ports on which the recording and the stream run. */
  const places = () => [sound.port, fixture.streams.started[0]!.ports.at(-1) ?? a.port]
  return { ...fixture, a, b, begun, ended, statuses, refer, sound, places }
}

describe('recordings and streams of a call', () => {
  let t: Awaited<ReturnType<typeof talking>>

  beforeEach(async () => {
    t = await talking()
    expect([t.ended, t.places()]).toEqual([[], [t.a.port, t.a.port]])
  })

  /** Expects that the recording and the stream still run, and that both end with the call. */
  const endsWith = async (caller: FakeLeg) => {
    expect([t.ended, t.places()]).toEqual([[], [caller.port, caller.port]])
    caller.leg.ended({ code: 'normal' })
    await settle()
    expect(t.ended).toMatchObject([{ kind: 'stopped' }, { reason: 'hangup' }])
    expect([t.calls.count, t.clock.running]).toEqual([0, 0])
  }

  it('follow the callee when the caller requests a transfer', async () => {
    t.begun.recording?.pause('skip')
    const c = await t.refer(t.a)
    t.a.leg.ended({ code: 'normal' })
    await settle()
    expect([t.a.port.closed, t.places()]).toEqual([true, [t.b.port, t.b.port]])
    c.leg.answered()
    await settle()
    t.begun.recording?.resume()
    expect([t.statuses, t.sound.requests]).toEqual([[200], ['pause skip', 'resume']])
    await endsWith(t.b)
  })

  it('stay with the caller when the callee requests a transfer', async () => {
    const c = await t.refer(t.b)
    c.leg.answered()
    await settle()
    expect(t.b.leg.isEnded).toBe(true)
    await endsWith(t.a)
  })

  it.each(['caller', 'callee'] as const)('go on if the %s requests a transfer that fails', async (who) => {
    const c = await t.refer(who === 'caller' ? t.a : t.b)
    c.leg.ended({ code: 'busy', sip: 486 })
    await settle()
    expect([t.statuses, t.bridges.count]).toEqual([[486], 1])
    await endsWith(who === 'caller' ? t.b : t.a)
  })

  it('follow the leg that replaces the caller', async () => {
    const by = fakeLeg(t.clock, t.a.port.group)
    await by.leg.answer()
    expect(t.a.leg.replaced(by.leg)).toBe(true)
    expect([t.a.port.closed, t.ended]).toEqual([true, []])
    await endsWith(by)
  })

  it('stay with the caller when the callee is replaced', async () => {
    const by = fakeLeg(t.clock, t.a.port.group)
    await by.leg.answer()
    expect(t.b.leg.replaced(by.leg)).toBe(true)
    await endsWith(t.a)
  })

  it('receive the keys of the present caller', async () => {
    await t.refer(t.a)
    t.a.leg.digit('#')
    t.b.leg.digit('1')
    expect(t.streams.started[0]?.digits).toEqual(['1'])
    t.b.leg.digit('#')
    await settle()
    expect(t.ended).toMatchObject([{ reason: 'terminator', terminator: '#' }])
  })

  it('do not move after their end', async () => {
    t.begun.recording?.stop()
    t.begun.stream?.stop()
    await settle()
    await t.refer(t.a)
    expect(t.places()).toEqual([t.a.port, t.a.port])
  })
})
