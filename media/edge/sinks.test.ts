import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dominant, sine } from '../codecs/tone.ts'
import { freePortRange } from '../testing/free-ports.ts'
import type {
  DetectFinding,
  Detection,
  Edge,
  MediaPort,
  RecordRequest,
  TapEvent,
  TapFrame,
} from '../types.ts'
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
describe('recordings, taps and detections on real threads', () => {
  let edge: Edge
  let alice: TestPeer
  let bob: TestPeer
  let folder: string

  beforeEach(async () => {
    edge = await createEdge(base)
    alice = await TestPeer.open()
    bob = await TestPeer.open()
    folder = await mkdtemp(join(tmpdir(), 'listening-'))
  })

  afterEach(async () => {
    await edge.close()
    expect(edge.busy).toEqual({ mixers: 0, recordings: 0, taps: 0, detections: 0 })
    expect([edge.portCount, edge.usage().used]).toEqual([0, 0])
    await Promise.all([alice.close(), bob.close()])
    await rm(folder, { recursive: true })
  })

  const open = async (peer: TestPeer, group: string, codec: 'PCMU' | 'G722' = 'PCMU'): Promise<MediaPort> => {
    const port = await edge.open({ group, kind: 'carrier' })
    const { near, far } = peer.far(codec)
    port.setFar(near, far)
    return port
  }
  const request = (more: Partial<RecordRequest> = {}): RecordRequest => ({
    path: join(folder, 'a.wav'),
    format: 'wav',
    tracks: 'stereo',
    ...more,
  })
  /** Returns one channel of a WAV file with a header of 44 bytes. */
  const side = async (which: 0 | 1): Promise<number[]> => {
    const bytes = await readFile(join(folder, 'a.wav'))
    const samples: number[] = []
    for (let at = 44 + which * 2; at + 1 < bytes.length; at += 4) samples.push(bytes.readInt16LE(at))
    return samples
  }
  /** Kills the thread of a port, as a defect in it would. */
  const kill = (port: MediaPort) => port.play({ prompt: { sampleRate: 8000, samples: null as never } })

  it('record both directions on separate channels, while packets are forwarded', async () => {
    const a = await open(alice, 'call')
    const b = await open(bob, 'call')
    edge.join(a, b)
    const recording = a.record(request())
    await Promise.all([
      alice.talk(a.port, 'PCMU', sine(700, 1000)),
      bob.talk(b.port, 'PCMU', sine(1100, 1000)),
    ])
    recording.stop()
    const result = await recording.done
    expect(result).toMatchObject({ end: { kind: 'stopped' }, hasFile: true })
    expect(result.durationMs).toBeGreaterThan(500)
    expect([dominant((await side(0)).slice(-4000)), dominant((await side(1)).slice(-4000))]).toEqual([
      700, 1100,
    ])
    expect(await readdir(folder)).toEqual(['a.wav'])
  })

  it('announce a recording by a tone that is heard but not recorded, and end it by a digit', async () => {
    const a = await open(alice, 'call')
    const recording = a.record(request({ beep: true, terminators: '#', tracks: 'out' }))
    await alice.until(() => alice.heard.length >= 13)
    await alice.until(() => dominant(alice.audio('PCMU').slice(0, 2000)) === 1000)
    await alice.talk(a.port, 'PCMU', sine(700, 400))
    alice.send(a.port, 101, Uint8Array.of(11, 0x8a, 800 >> 8, 800 & 0xff))
    expect((await recording.done).end).toEqual({ kind: 'terminator', digit: '#' })
  })

  it('end with the port, and settle when the thread dies', async () => {
    const a = await open(alice, 'one')
    const b = await open(bob, 'one')
    const closed = a.record(request())
    const tap = a.tap({ tracks: 'both', sampleRate: 8000 })
    const ended = new Promise<void>((resolve) => tap.onClosed(resolve))
    tap.speak(new Int16Array(80_000))
    const spoken = tap.spoken()
    await a.close()
    await Promise.all([ended, spoken])
    expect((await closed.done).end).toEqual({ kind: 'stopped' })
    expect(await a.record(request()).done).toMatchObject({ hasFile: false })

    const dies = b.record(request({ path: join(folder, 'b.wav') }))
    const lost = b.tap({ tracks: 'in', sampleRate: 16_000 })
    const gone = new Promise<void>((resolve) => lost.onClosed(resolve))
    const failed = new Promise<void>((resolve) => edge.onFailure(() => resolve()))
    kill(b)
    await Promise.all([failed, gone])
    expect((await dies.done).end).toMatchObject({ kind: 'error' })
    await lost.spoken()
  })

  /** Collects the findings of a detection, and its end. */
  const follow = (detection: Detection) => {
    const found: DetectFinding[] = []
    detection.onFinding((finding) => found.push(finding))
    return { found, over: new Promise<void>((resolve) => detection.onEnd(resolve)) }
  }

  it("detect independently in the far end's audio, until conclusive", async () => {
    const a = await open(alice, 'call')
    const b = await open(bob, 'call', 'G722')
    edge.join(a, b)
    const fax = follow(b.detect({ fax: 'CED' }))
    const deaf = follow(a.detect({ fax: 'CED' }))
    const given = b.detect({ digits: '1' })
    given.onFinding(() => expect.unreachable('it was closed'))
    expect(edge.busy.detections).toBe(3)
    given.close()
    given.close()
    let isOver = false
    fax.over.then(() => {
      isOver = true
    })
    // On a busy machine a tone may be interrupted: it repeats.
    while (!isOver)
      await Promise.all([
        bob.talk(b.port, 'G722', sine(2100, 1500, 16_000)),
        alice.talk(a.port, 'PCMU', sine(1000, 1500)),
      ])
    expect(fax.found).toEqual([{ kind: 'fax', tone: 'CED' }])
    expect([deaf.found, edge.busy.detections]).toEqual([[], 1])
  })

  it('stop detecting when the port is closed or the thread dies', async () => {
    const a = await open(alice, 'one')
    const b = await open(bob, 'one')
    const closed = follow(a.detect({ digits: '1' }))
    const crossing = a.close()
    const late = follow(a.detect({ digits: '1' }))
    await Promise.all([crossing, closed.over, late.over, follow(a.detect({ digits: '1' })).over])
    const lost = follow(b.detect({ digits: '1' }))
    kill(b)
    await lost.over
    expect([closed, late, lost].map(({ found }) => found)).toEqual([[], [], []])
  })

  it('tap both directions in even steps, and speak to the far end', async () => {
    const a = await open(alice, 'call')
    const b = await open(bob, 'call')
    edge.join(a, b)
    const tap = a.tap({ tracks: 'both', sampleRate: 16_000 })
    const frames: TapFrame[] = []
    tap.onFrame((frame) => frames.push(frame))
    await Promise.all([
      alice.talk(a.port, 'PCMU', sine(700, 1000)),
      bob.talk(b.port, 'PCMU', sine(1100, 1000)),
    ])
    const of = (track: 'in' | 'out') => frames.filter((frame) => frame.track === track)
    for (const [track, tone] of [
      ['in', 700],
      ['out', 1100],
    ] as const) {
      const heard = of(track)
      expect(heard.map(({ atMs }) => atMs)).toEqual(heard.map((_, i) => i * 20))
      expect(
        dominant(
          heard.slice(-20).flatMap(({ samples }) => [...samples]),
          16_000,
        ),
      ).toBe(tone)
    }
    const before = alice.heard.length
    tap.speak(sine(1500, 400, 16_000))
    await tap.spoken()
    await alice.until(() => alice.heard.length >= before + 15)
    expect(dominant(alice.audio('PCMU', before).slice(-1600))).toBe(1500)
    tap.speak(sine(1500, 60_000, 16_000))
    const dropped = tap.spoken()
    tap.clear()
    await dropped
    tap.close()
    const count = frames.length
    await a.stats()
    await a.stats()
    expect(frames.length - count).toBeLessThanOrEqual(1)
  })

  it('speak items to the far end that can be paused, resumed and cut, and hear its voice', async () => {
    const a = await open(alice, 'call')
    const tap = a.tap({ tracks: 'in', sampleRate: 8000 })
    const events: TapEvent[] = []
    const until = (kind: TapEvent['kind']) =>
      new Promise<void>((resolve) =>
        tap.onEvent((event) => {
          events.push(event)
          if (event.kind === kind) resolve()
        }),
      )
    const ended = until('item-ended')
    tap.speak(sine(700, 200), 1)
    tap.finish(1)
    tap.pause()
    tap.resume(10)
    await ended
    expect(events).toMatchObject([
      { kind: 'item-began', item: 1 },
      { kind: 'item-ended', item: 1 },
    ])
    tap.setReflex({ voicedMs: 40 })
    const voiced = until('voice-ended')
    tap.speak(sine(700, 10_000), 2)
    const before = alice.heard.length
    await alice.until(() => alice.heard.length >= before + 3)
    await alice.talk(a.port, 'PCMU', sine(1100, 400))
    await alice.talk(a.port, 'PCMU', new Int16Array(4000))
    await voiced
    expect(events.map(({ kind }) => kind).slice(2)).toEqual(['item-began', 'voice-began', 'voice-ended'])
    const [position, ...others] = await tap.cut()
    expect([position!.item, position!.heardMs >= 60, position!.heardMs < 10_000, others]).toEqual([
      2,
      true,
      true,
      [],
    ])
    tap.allowFade(false)
    const late = tap.cut()
    tap.close()
    expect([await late, await tap.cut()]).toEqual([[], []])
  })

  it('move to another port of the call, but not to a closed port or another thread', async () => {
    const a = await open(alice, 'one')
    const b = await open(bob, 'one')
    const elsewhere = await open(alice, 'two')
    const recording = a.record(request())
    const tap = a.tap({ tracks: 'in', sampleRate: 8000 })
    const frames: TapFrame[] = []
    tap.onFrame((frame) => frames.push(frame))
    for (const each of [recording, tap]) {
      each.moveTo(b)
      each.moveTo(elsewhere)
    }
    await a.close()
    for (const each of [recording, tap]) each.moveTo(a)
    await bob.talk(b.port, 'PCMU', sine(700, 600))
    tap.speak(sine(1100, 400))
    await tap.spoken()
    await bob.until(() => dominant(bob.audio('PCMU').slice(-800)) === 1100)
    recording.stop()
    expect((await recording.done).hasFile).toBe(true)
    expect(dominant(await side(0))).toBe(700)
    expect(dominant(frames.flatMap(({ samples }) => [...samples]))).toBe(700)
    const closed = new Promise<void>((resolve) => tap.onClosed(resolve))
    await b.close()
    await closed
    for (const each of [recording, tap]) each.moveTo(elsewhere)
    expect(edge.busy).toMatchObject({ recordings: 0, taps: 0 })
  })

  it('join two ports of different calls in different threads', async () => {
    const a = await open(alice, 'one')
    const b = await open(bob, 'two', 'G722')
    edge.join(a, b)
    await Promise.all([
      alice.talk(a.port, 'PCMU', sine(700, 1200)),
      bob.talk(b.port, 'G722', sine(1100, 1200, 16_000)),
    ])
    expect(dominant(alice.audio('PCMU').slice(-4000))).toBe(1100)
    expect(dominant(bob.audio('G722').slice(-8000), 16_000)).toBe(700)
    // After one leaves, no audio passes, and the other can be joined again.
    edge.detach(a)
    const third = await open(bob, 'two')
    edge.join(b, third)
  })
})
