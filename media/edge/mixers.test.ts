import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dominant, goertzel, sine } from '../codecs/tone.ts'
import { freePortRange } from '../testing/free-ports.ts'
import type { Edge, EdgeFailure, MediaPort, Mixer } from '../types.ts'
import { createEdge, type EdgeOptions } from './edge.ts'
import { TestPeer } from './testing/test-peer.ts'

const base: EdgeOptions = {
  bind: '127.0.0.1',
  ports: await freePortRange(98),
  threads: 2,
  startTimeoutMs: 30_000,
  mediaTimeoutMs: 60_000,
  quarantineMs: 0,
}
const tones = [600, 900, 1300] as const

describe('a mixer over two threads', () => {
  let edge: Edge
  let peers: TestPeer[]
  let ports: MediaPort[]
  let mixer: Mixer

  beforeEach(async () => {
    edge = await createEdge(base)
    peers = await Promise.all(tones.map(() => TestPeer.open()))
    ports = []
    mixer = await edge.openMixer()
    for (const [i, peer] of peers.entries()) {
      // Groups are assigned to the threads in turn: two in one, one in the other.
      const port = await edge.open({ group: `call ${i}`, kind: 'carrier' })
      const { near, far } = peer.far('PCMU')
      port.setFar(near, far)
      ports.push(port)
      mixer.add(port)
    }
  })

  afterEach(async () => {
    await edge.close()
    expect(edge.busy).toEqual({ mixers: 0, recordings: 0, taps: 0, detections: 0 })
    expect([edge.portCount, edge.usage().used, mixer.size]).toEqual([0, 0, 0])
    await Promise.all(peers.map((peer) => peer.close()))
  })

  const talk = (ms: number) =>
    Promise.all(peers.map((peer, i) => peer.talk(ports[i]!.port, 'PCMU', sine(tones[i]!, ms))))
  /** The peers talk, and go on while `check` throws: a busy machine leaves gaps in their audio. */
  const talkUntil = async (check: () => void): Promise<void> => {
    await talk(1500)
    for (let more = 10; more > 0; more--) {
      try {
        check()
        return
      } catch {
        await talk(500)
      }
    }
    check()
  }
  /** Returns the tones that a peer received in the last half second. */
  const heard = (peer: number): number[] => {
    const samples = peers[peer]!.audio('PCMU').slice(-4000)
    return [...tones, 440].filter((tone) => goertzel(samples, tone) > 0.1)
  }

  it('lets each port hear the others across threads, until one leaves', async () => {
    expect(mixer.size).toBe(3)
    const speakers: (MediaPort | undefined)[] = []
    mixer.onSpeaker((port) => speakers.push(port))
    const talking = new Set<MediaPort>()
    const talked = new Set<MediaPort>()
    mixer.onTalking((port, talk) => {
      if (talk === 'silent') talking.delete(port)
      else talking.add(port)
      if (talk !== 'silent') talked.add(port)
    })
    await talkUntil(() => {
      expect(talked).toEqual(new Set(ports))
      expect([0, 1, 2].map(heard)).toEqual([
        [900, 1300],
        [600, 1300],
        [600, 900],
      ])
    })
    expect(ports).toContain(speakers[0])
    for (const { heard: packets } of peers) {
      packets.slice(1).forEach((packet, i) => {
        expect(packet.sequence).toBe((packets[i]!.sequence + 1) & 0xffff)
      })
    }
    await ports[1]!.close()
    expect([mixer.size, talking.has(ports[1]!)]).toEqual([2, false])
    mixer.change(ports[2]!, { canSpeak: false })
    await talkUntil(() => expect([0, 2].map(heard)).toEqual([[], [600]]))
    mixer.remove(ports[2]!)
    mixer.remove(ports[2]!)
    expect(mixer.size).toBe(1)
  })

  it('plays to all and records the sum of all', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mixer-'))
    const recording = mixer.record({ path: join(folder, 'm.wav'), format: 'wav', tracks: 'stereo' })
    const playback = mixer.play({ prompt: { sampleRate: 8000, samples: sine(440, 1000) } })
    expect(await playback.done).toBe('finished')
    await Promise.all(peers.map((peer) => peer.until(() => peer.heard.length >= 53)))
    for (const peer of peers) expect(dominant(peer.audio('PCMU').slice(-4000))).toBe(440)
    recording.stop()
    expect(await recording.done).toMatchObject({ end: { kind: 'stopped' }, hasFile: true })
    const replaced = mixer.play({ prompt: { sampleRate: 8000, samples: sine(440, 60_000) } })
    await mixer.close()
    expect([await replaced.done, mixer.size, edge.busy.mixers]).toEqual(['stopped', 0, 0])
    await mixer.close()
    mixer.add(ports[0]!)
    expect(mixer.size).toBe(0)
    await rm(folder, { recursive: true })
  })

  it('mixes at 48 kHz across threads', async () => {
    const wide = await edge.openMixer({ rate: 48_000 })
    for (const port of ports) wide.add(port)
    await talkUntil(() =>
      expect([0, 1, 2].map(heard)).toEqual([
        [900, 1300],
        [600, 1300],
        [600, 900],
      ]),
    )
  })

  it('loses a port that is joined to another port or mixer', async () => {
    const second = await edge.openMixer()
    second.add(ports[0]!)
    expect([mixer.size, second.size]).toEqual([2, 1])
    edge.join(ports[1]!, ports[2]!)
    expect(mixer.size).toBe(0)
    await talkUntil(() => expect([0, 1, 2].map(heard)).toEqual([[], [1300], [900]]))
    edge.detach(ports[0]!)
    expect(second.size).toBe(0)
  })

  it('continues when the other thread dies, and ends when its own does', async () => {
    const failures: EdgeFailure[] = []
    const dies = (port: MediaPort) =>
      new Promise<void>((resolve) => {
        edge.onFailure((failure) => {
          failures.push(failure)
          resolve()
        })
        port.play({ prompt: { sampleRate: 8000, samples: null as never } })
      })
    await dies(ports[1]!)
    expect(failures[0]?.ports).toEqual([ports[1]!.id])
    expect([mixer.size, edge.busy.mixers]).toEqual([2, 1])
    await talkUntil(() => expect([heard(0), heard(2)]).toEqual([[1300], [600]]))
    const folder = await mkdtemp(join(tmpdir(), 'mixer-'))
    const recording = mixer.record({ path: join(folder, 'm.wav'), format: 'wav', tracks: 'in' })
    const playback = mixer.play({ prompt: { sampleRate: 8000, samples: sine(440, 60_000) } })
    await dies(ports[0]!)
    expect([mixer.size, edge.busy, await playback.done]).toEqual([
      0,
      { mixers: 0, recordings: 0, taps: 0, detections: 0 },
      'stopped',
    ])
    expect((await recording.done).end.kind).toBe('error')
    await rm(folder, { recursive: true })
  })
})
