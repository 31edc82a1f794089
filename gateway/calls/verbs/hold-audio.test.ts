import { pino } from 'pino'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { testInfo } from '../../../handlers/testing/fake-call.ts'
import { goertzel, sine } from '../../../media/codecs/tone.ts'
import { createEdge } from '../../../media/edge/edge.ts'
import { TestPeer } from '../../../media/edge/testing/test-peer.ts'
import { createSounds } from '../../../media/sound/sounds.ts'
import { freePortRange } from '../../../media/testing/free-ports.ts'
import type { Edge } from '../../../media/types.ts'
import { SystemClock } from '../../core/clock.ts'
import { Metrics } from '../../core/metrics.ts'
import { FakeRecogniser } from '../../speech/testing/fake-recogniser.ts'
import { Player } from '../audio/player.ts'
import { Call } from '../call/call.ts'
import { newLegId } from '../call/ids.ts'
import { Bridges } from '../leg/bridges.ts'
import { Leg } from '../leg/leg.ts'
import { FakeMixer } from '../testing/conference-fixture.ts'
import { FakeFarSide, FakeVideos } from '../testing/fake-legs.ts'
import { FakeStreams } from '../testing/fake-listeners.ts'
import { FakeRecordingStore } from '../testing/fake-recording-store.ts'
import { CallController } from './call-controller.ts'
import { VerbMeter } from './verb-meter.ts'

const aTone = 1000
const bTone = 1500

let edge: Edge
let peers: readonly [TestPeer, TestPeer]
const clock = new SystemClock()

beforeEach(async () => {
  edge = await createEdge({
    bind: '127.0.0.1',
    ports: await freePortRange(20),
    threads: 1,
    quarantineMs: 0,
    startTimeoutMs: 30_000,
    mediaTimeoutMs: 60_000,
  })
  peers = [await TestPeer.open(), await TestPeer.open()]
})
afterEach(async () => {
  await edge.close()
  for (const peer of peers) await peer.close()
})

/** Creates a leg with a real port towards a peer. */
const legTo = async (peer: TestPeer, direction: 'inbound' | 'outbound') => {
  const party = { uri: `sip:${direction}@x`, user: direction, name: '' }
  const leg = new Leg({
    id: newLegId(),
    kind: 'sip',
    direction,
    from: party,
    to: party,
    now: () => clock.now(),
  })
  leg.attach(new FakeFarSide(leg))
  const port = await edge.open({ group: testInfo.callId, kind: 'carrier' })
  const { near, far } = peer.far('PCMU')
  port.setFar(near, far)
  leg.setPort(port)
  return { leg, port }
}

const setUp = async () => {
  const a = await legTo(peers[0], 'inbound')
  const b = await legTo(peers[1], 'outbound')
  const call = new Call({
    info: testInfo,
    caller: a.leg,
    clock,
    log: pino({ level: 'silent' }),
    maxDurationMs: 14_400_000,
  })
  const sounds = createSounds({ voice: 'slt' })
  const control = new CallController(
    {
      services: {
        bridges: new Bridges(edge, new FakeVideos()),
        openMixer: async () => new FakeMixer(),
        player: new Player(sounds, { bytes: () => Promise.reject(new Error('not used')) }),
        streams: new FakeStreams(),
        recordings: new FakeRecordingStore(),
      },
      speech: { recogniser: new FakeRecogniser(), sampleRate: 8000 },
      fork: {
        dialer: {
          targetsOf: (uri) => [{ kind: 'sip', uri }],
          dial: () => b.leg,
        },
        controlOf: () => {
          throw new Error('not used')
        },
        callLog: { called: () => undefined },
        clock,
        ringMs: 60_000,
      },
      meter: new VerbMeter(new Metrics()),
      clock,
    },
    call,
  )
  const talk = (ms: number) =>
    Promise.all([
      peers[0].talk(a.port.port, 'PCMU', sine(aTone, ms)),
      peers[1].talk(b.port.port, 'PCMU', sine(bTone, ms)),
    ])
  return { call, control, b, talk, close: () => sounds.close() }
}

/** Returns the tones that a peer has received in the last half second. */
const heard = (peer: TestPeer): string[] => {
  const samples = peer.audio('PCMU').slice(-4000)
  const loudest = samples.reduce((most, v) => Math.max(most, Math.abs(v)), 0)
  const tones = [aTone, bTone].filter((tone) => goertzel(samples, tone) > 0.1)
  return tones.length > 0 ? tones.map(String) : [loudest > 1500 ? 'music' : 'nothing']
}

it('a hold parts a pair; both hear music, and each other afterwards', async () => {
  const t = await setUp()
  const ended = t.control.connect({ steps: [[{ to: 'sip:b@x' }]] })
  await t.call.whileUp(t.control.answer())
  t.b.leg.answered()
  await t.talk(1000)
  expect(peers.map(heard)).toEqual([[String(bTone)], [String(aTone)]])
  await t.control.hold()
  await t.talk(1500)
  expect(peers.map(heard)).toEqual([['music'], ['music']])
  await t.control.unhold()
  await t.talk(1000)
  expect(peers.map(heard)).toEqual([[String(bTone)], [String(aTone)]])
  await t.control.hangup()
  await ended
  expect(clock.running).toBe(0)
  await t.close()
})
