import { createSocket } from 'node:dgram'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { silenceByte } from '../codecs/g711.ts'
import { dominant, sine } from '../codecs/tone.ts'
import { parseRtcp } from '../rtp/rtcp.ts'
import { freePortRange } from '../testing/free-ports.ts'
import type { Edge, MediaPort, PortEvent } from '../types.ts'
import { createEdge, type EdgeOptions } from './edge.ts'
import { type SocketKind, socketKind } from './sockets-open.ts'
import { type ReceivedPacket, TestPeer } from './testing/test-peer.ts'

const base: EdgeOptions = {
  bind: '127.0.0.1',
  ports: await freePortRange(98),
  threads: 1,
  startTimeoutMs: 30_000,
  mediaTimeoutMs: 60_000,
  quarantineMs: 0,
}

/** Finds breaks: steps of sequence or timestamp that do not continue one stream. */
function breaks(heard: readonly ReceivedPacket[]): string[] {
  const found: string[] = []
  heard.forEach((packet, i) => {
    const before = heard[i - 1]
    if (!before) return
    if (packet.ssrc !== before.ssrc) found.push(`ssrc at ${i}`)
    if (packet.sequence !== ((before.sequence + 1) & 0xffff)) found.push(`sequence at ${i}`)
    const step = (packet.timestamp - before.timestamp) | 0
    if (step < 0 || step > 4000) found.push(`timestamp at ${i}: ${step}`)
  })
  return found
}

/** Polls until the condition holds; the test's own time-out ends it. */
async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5))
}

const kinds: SocketKind[] = socketKind().kind === 'native' ? ['native', 'node'] : ['node']

describe.each(kinds)('the edge on real sockets (%s)', (sockets) => {
  let edge: Edge
  let alice: TestPeer
  let bob: TestPeer

  const opened: MediaPort[] = []

  beforeAll(async () => {
    edge = await createEdge({ ...base, sockets })
  })

  afterAll(() => edge.close())

  beforeEach(async () => {
    alice = await TestPeer.open()
    bob = await TestPeer.open()
  })

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((port) => port.close()))
    expect(edge.portCount).toBe(0)
    expect(edge.usage()).toEqual({ used: 0, total: 49, quarantined: 0, reused: 0 })
    await Promise.all([alice.close(), bob.close()])
  })

  const open = async (kind: 'carrier' | 'loopback' = 'carrier', group = 'call') => {
    const port = await edge.open({ group, kind })
    opened.push(port)
    return port
  }

  it('opens an even port with the next one for RTCP, and announces the bound address', async () => {
    const port = await open()
    expect(port.port % 2).toBe(0)
    expect(port.rtcpPort).toBe(port.port + 1)
    expect(port.address).toBe('127.0.0.1')
    expect(edge.usage()).toEqual({ used: 1, total: 49, quarantined: 0, reused: 0 })
    const loop = await open('loopback')
    expect(loop.rtcpPort).toBe(loop.port)
    expect(edge.portCount).toBe(2)
    expect(edge.usage().used).toBe(1)
  })

  it('plays a prompt as one continuous stream with the original tone', async () => {
    const port = await open()
    const { near, far } = alice.far('PCMA')
    // Wait for audio first: on a busy machine the opening silence may come earlier.
    const playback = port.play({ prompt: { sampleRate: 8000, samples: sine(440, 400) } })
    port.setFar(near, far)
    expect(await playback.done).toBe('finished')
    await alice.until(() => alice.heard.length >= 20)
    expect(alice.heard).toHaveLength(20)
    expect(breaks(alice.heard)).toEqual([])
    expect(alice.heard.map(({ marker }) => marker)).toEqual([true, ...Array(19).fill(false)])
    expect(alice.heard.every(({ payload }) => payload.length === 160)).toBe(true)
    expect(new Set(alice.heard.map(({ ssrc }) => ssrc))).toEqual(new Set([port.ssrc]))
    expect(dominant(alice.audio('PCMA'))).toBe(440)
  })

  it('applies the volumes of both ports to a join', async () => {
    const a = await open()
    const b = await open()
    const farA = alice.far('PCMU')
    const farB = bob.far('PCMU')
    a.setVolumes({ inDb: -14, outDb: 0 })
    a.setFar(farA.near, farA.far)
    b.setFar(farB.near, farB.far)
    b.setVolumes({ inDb: 0, outDb: -6 })
    edge.join(a, b)
    await Promise.all([a.stats(), b.stats()])
    const tone = sine(700, 1000)
    await alice.talk(a.port, 'PCMU', tone)
    const peak = (samples: Int16Array) => samples.reduce((most, sample) => Math.max(most, sample), 0)
    /** Levels of each 20 ms with audio. */
    const shares = () => {
      const audio = bob.audio('PCMU')
      const frames = Array.from({ length: audio.length / 160 }, (_, i) =>
        audio.subarray(i * 160, (i + 1) * 160),
      )
      return frames.map((frame) => peak(frame) / peak(tone)).filter((share) => share > 0.05)
    }
    await bob.until(() => shares().length >= 12)
    // The first frame fades from the old to the new volume.
    const [middle = 0] = shares()
      .toSorted((x, y) => x - y)
      .slice(6)
    expect(middle).toBeCloseTo(0.1, 1)
    await a.close()
    a.setVolumes({ inDb: 0, outDb: 0 })
  })

  it('carries both directions of a join with different codecs, and changes from prompt to bridge without a break', async () => {
    const a = await open()
    const b = await open('loopback')
    const farA = alice.far('PCMU')
    const farB = bob.far('PCMA')
    a.setFar(farA.near, farA.far)
    b.setFar(farB.near, farB.far)
    edge.join(a, b)
    const played = a.play({ prompt: { sampleRate: 8000, samples: sine(440, 300) } })
    // Once the thread answers, it knows both far ends.
    await Promise.all([a.stats(), b.stats()])
    await Promise.all([
      alice.talk(a.port, 'PCMU', sine(700, 800)),
      bob.talk(b.port, 'PCMA', sine(1000, 800)),
      played.done,
    ])
    await alice.until(() => alice.heard.length >= 38)
    const isSpoken = ({ payload }: ReceivedPacket) => payload.some((byte) => byte !== silenceByte.PCMA)
    await bob.until(() => bob.heard.filter(isSpoken).length === 40)
    expect(breaks(alice.heard)).toEqual([])
    expect(breaks(bob.heard)).toEqual([])
    const heard = alice.audio('PCMU')
    expect(dominant(heard.subarray(0, 2000))).toBe(440)
    expect(dominant(heard.subarray(-3000))).toBe(1000)
    expect(dominant(bob.audio('PCMA').subarray(-3000))).toBe(700)
    // Only the bridge's first packet is marked: no further change of source follows.
    const change = alice.heard.findLastIndex(({ marker }) => marker)
    expect(dominant(alice.audio('PCMU', change).subarray(0, 800))).toBe(1000)
    const stats = await a.close()
    expect(stats.received).toBe(40)
    expect(stats.lost).toBe(0)
    // The last packet may still be on its way.
    await alice.until(() => alice.heard.length >= stats.sent)
    expect(stats.sent).toBe(alice.heard.length)
    // Closing one end detaches the other: nothing is returned, nothing breaks.
    bob.send(b.port, 8, new Uint8Array(160))
    expect((await b.stats()).refused.source).toBe(0)
  })

  it('opens the path with a few packets of silence, and sends nothing before it knows the far end', async () => {
    const port = await open()
    alice.send(port.port, 0, new Uint8Array(160))
    expect((await port.stats()).refused.source).toBeLessThanOrEqual(1)
    const { near, far } = alice.far('PCMU')
    port.setFar(near, far)
    await alice.until(() => alice.heard.length >= 3)
    expect(alice.audio('PCMU').every((sample) => sample === 0)).toBe(true)
    expect(breaks(alice.heard)).toEqual([])
  })

  it("reports digits once each, and sends them with the far end's payload type", async () => {
    const a = await open()
    const b = await open()
    a.setFar(alice.far('PCMU').near, alice.far('PCMU', { telephoneEvent: 96 }).far)
    b.setFar(bob.far('PCMU').near, bob.far('PCMU').far)
    edge.join(a, b)
    const events: PortEvent[] = []
    const digit = new Promise<void>((resolve) =>
      b.onEvent((event) => {
        events.push(event)
        if (event.kind === 'digit') resolve()
      }),
    )
    const stamp = bob.timestamp
    for (const [flags, duration] of [
      [10, 400],
      [0x8a, 800],
      [0x8a, 800],
      [0x8a, 800],
    ] as const) {
      bob.timestamp = stamp
      bob.send(b.port, 101, Uint8Array.of(5, flags, duration >> 8, duration & 0xff))
    }
    await digit
    expect(events).toEqual([
      { kind: 'latched', address: '127.0.0.1', port: bob.port },
      { kind: 'digit', digit: '5', durationMs: 100, by: 'event' },
    ])
    expect(await a.sendDigits('7#')).toBe(true)
    await alice.until(() => alice.heard.filter(({ payloadType }) => payloadType === 96).length >= 10)
    const sent = alice.heard.filter(({ payloadType }) => payloadType === 96)
    expect(sent.map(({ payload }) => payload[0])).toEqual([7, 7, 7, 7, 7, 11, 11, 11, 11, 11])
    expect(alice.heard.some(({ payloadType }) => payloadType === 101)).toBe(false)
    expect(breaks(alice.heard)).toEqual([])
    await expect(a.sendDigits('5x')).rejects.toMatchObject({ code: 'bad_digits' })
    b.setFar(bob.far('PCMU').near, bob.far('PCMU', { telephoneEvent: undefined }).far)
    expect(await b.sendDigits('1')).toBe(false)
  })

  it('rejects packets of untrusted sources and reports them', async () => {
    const port = await open('loopback')
    const { near, far } = alice.far('PCMU')
    port.setFar(near, far)
    bob.send(port.port, 0, new Uint8Array(160))
    const latched = new Promise<PortEvent>((resolve) => port.onEvent(resolve))
    alice.send(port.port, 0, new Uint8Array(160))
    expect(await latched).toEqual({ kind: 'latched', address: '127.0.0.1', port: alice.port })
    alice.sendRaw(port.port, Buffer.from('hello, world'))
    alice.send(port.port, 77, new Uint8Array(160))
    await eventually(async () => (await port.stats()).refused['payload-type'] === 1)
    const stats = await port.close()
    expect(stats.received).toBe(1)
    expect(stats.refused).toEqual({ source: 1, malformed: 1, 'payload-type': 1, ssrc: 0, srtp: 0, rate: 0 })
  })

  it('sends RTCP BYE, and releases its sockets', async () => {
    const port = await open()
    const { near, far } = alice.far('PCMU')
    port.setFar(near, far)
    await alice.until(() => alice.heard.length >= 3)
    const first = port.close()
    const second = port.close()
    expect(second).toBe(first)
    await first
    await alice.until(() => alice.rtcp.length > 0)
    expect(parseRtcp(alice.rtcp[0]!)?.map(({ kind }) => kind)).toEqual(['sender', 'description', 'bye'])
    for (const number of [port.port, port.rtcpPort]) {
      const socket = createSocket('udp4')
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject)
        socket.bind(number, '127.0.0.1', resolve)
      })
      await new Promise<void>((resolve) => socket.close(() => resolve()))
    }
  })

  it('settles all pending results when a port is closed', async () => {
    const port = await open()
    const { near, far } = alice.far('PCMU')
    port.setFar(near, far)
    const playback = port.play({ prompt: { sampleRate: 8000, samples: sine(440, 60_000) }, loop: 0 })
    const digits = port.sendDigits('W'.repeat(100))
    await port.close()
    expect(await playback.done).toBe('stopped')
    expect(await digits).toBe(false)
    expect(await port.play({ prompt: { sampleRate: 8000, samples: sine(440, 20) } }).done).toBe('stopped')
    expect((await port.stats()).sent).toBeGreaterThanOrEqual(0)
  })

  it('throws for a far end with an invalid address', async () => {
    const port = await open()
    const { near, far } = alice.far('PCMU')
    expect(() => port.setFar(near, { ...far, address: 'carrier.example' })).toThrow(/address/)
    expect(() => port.setFar(near, { ...far, address: '::1' })).toThrow(/IPv4/)
    expect(() => port.setFar(near, { ...far, port: 0 })).toThrow(/port/)
    const { rtcpMux: _, ...plain } = far
    expect(() => port.setFar(near, { ...plain, port: 65535 })).toThrow(/port \(RTCP/)
    port.setFar(near, { ...plain, port: 65535, rtcpPort: 65534 })
    port.setFar(near, { ...plain, port: 65535, rtcpMux: true })
    expect(() => port.setFar(near, { ...far, payloadType: 128 })).toThrow(/payloadType/)
  })

  it('rejects joining a port to itself', async () => {
    const a = await open()
    expect(() => edge.join(a, a)).toThrow(/itself/)
  })
})
