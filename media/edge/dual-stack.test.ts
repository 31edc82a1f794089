import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { dominant, sine } from '../codecs/tone.ts'
import { freePortRange } from '../testing/free-ports.ts'
import type { Edge, MediaPort, Mixer } from '../types.ts'
import { createEdge } from './edge.ts'
import { isOwnAddress, localAddresses } from './options.ts'
import { type SocketKind, socketKind } from './sockets-open.ts'
import { TestPeer } from './testing/test-peer.ts'

const kinds: SocketKind[] = socketKind().kind === 'native' ? ['native', 'node'] : ['node']

describe.each(kinds)('an edge of both IP families on real sockets (%s)', (sockets) => {
  let edge: Edge
  let v4: TestPeer
  let v6: TestPeer
  const opened: (MediaPort | Mixer)[] = []

  beforeAll(async () => {
    edge = await createEdge({
      bind: ['127.0.0.1', '::1'],
      announce: ['::1', '127.0.0.1'],
      ports: await freePortRange(98),
      threads: 2,
      quarantineMs: 0,
      sockets,
      startTimeoutMs: 30_000,
      mediaTimeoutMs: 60_000,
    })
  })

  afterAll(() => edge.close())

  beforeEach(async () => {
    v4 = await TestPeer.open('127.0.0.1')
    v6 = await TestPeer.open('::1')
  })

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()))
    expect([edge.portCount, edge.usage().used]).toEqual([0, 0])
    await Promise.all([v4.close(), v6.close()])
  })

  const open = async (group = 'call') => {
    const port = await edge.open({ group, kind: 'carrier' })
    opened.push(port)
    return port
  }
  const setFar = (port: MediaPort, peer: TestPeer) => {
    const { near, far } = peer.far('PCMU', { rtcpMux: false, rtcpPort: peer.port })
    port.setFar(near, far)
  }

  it('opens one pair for both families, with an address for each', async () => {
    const port = await open()
    expect([port.address, port.addressFor(4), port.addressFor(6)]).toEqual(['127.0.0.1', '127.0.0.1', '::1'])
    expect(edge.usage()).toMatchObject({ used: 1, total: 49 })
    const loop = await edge.open({ group: 'call', kind: 'loopback' })
    opened.push(loop)
    expect([loop.addressFor(4), loop.addressFor(6)]).toEqual(['127.0.0.1', undefined])
  })

  it('joins far ends of both families, RTP and RTCP', async () => {
    const a = await open()
    const b = await open()
    setFar(a, v4)
    setFar(b, v6)
    edge.join(a, b)
    await Promise.all([v4.talk(a.port, 'PCMU', sine(440, 600)), v6.talk(b.port, 'PCMU', sine(700, 600))])
    await v4.until(() => v4.heard.length > 25)
    await v6.until(() => v6.heard.length > 25)
    expect([dominant(v4.audio('PCMU', 10)), dominant(v6.audio('PCMU', 10))]).toEqual([700, 440])
    for (const port of [a, b]) await expect.poll(async () => (await port.stats()).received).toBe(30)
    await Promise.all([a.close(), b.close()])
    await v4.until(() => v4.rtcp.length > 0)
    await v6.until(() => v6.rtcp.length > 0)
  })

  it('follows a far end that changes its family, and back', async () => {
    const port = await open()
    const sound = { sampleRate: 8000 as const, samples: sine(440, 5_000) }
    setFar(port, v4)
    port.play({ prompt: sound })
    await v4.until(() => v4.heard.length > 5)
    setFar(port, v6)
    await v6.until(() => v6.heard.length > 5)
    const before = v4.heard.length
    v4.send(port.port, 0, new Uint8Array(160))
    v6.send(port.port, 0, new Uint8Array(160))
    await expect.poll(async () => (await port.stats()).refused.source).toBe(1)
    expect([(await port.stats()).received, v4.heard.length]).toEqual([1, before])
    setFar(port, v4)
    await v4.until(() => v4.heard.length > before + 5)
  })

  it("learns no source of another family than the far end's", async () => {
    const port = await open()
    const { near, far } = v4.far('PCMU', { symmetric: 'first' })
    port.setFar(near, far)
    v6.send(port.port, 0, new Uint8Array(160))
    await expect.poll(async () => (await port.stats()).refused.source).toBe(1)
    v4.send(port.port, 0, new Uint8Array(160))
    await expect.poll(async () => (await port.stats()).received).toBe(1)
  })

  it('mixes both families across threads', async () => {
    const a = await open('one')
    const b = await open('two')
    setFar(a, v4)
    setFar(b, v6)
    const mixer = await edge.openMixer()
    opened.push(mixer)
    for (const port of [a, b]) mixer.add(port)
    await Promise.all([v4.talk(a.port, 'PCMU', sine(440, 600)), v6.until(() => v6.heard.length > 25)])
    expect(dominant(v6.audio('PCMU', 12))).toBe(440)
  })

  it('rejects a far end that is a port of the same call', async () => {
    const a = await open('one')
    const b = await open('one')
    const other = await open('two')
    const { near, far } = v6.far('PCMU')
    for (const address of ['127.0.0.1', '127.0.0.9', '::1', '::ffff:127.0.0.1'])
      for (const { port, rtcpPort } of [a, b])
        for (const at of [port, rtcpPort])
          expect(() => a.setFar(near, { ...far, address, port: at })).toThrow(/port of the same call/)
    a.setFar(near, { ...far, port: other.port })
    a.setFar(near, { ...far, address: '192.0.2.1', port: b.port })
  })
})

describe('the addresses of an edge', () => {
  const entry = (address: string, internal = false) => ({
    address,
    internal,
    family: address.includes(':') ? ('IPv6' as const) : ('IPv4' as const),
    netmask: '',
    mac: '',
    cidr: null,
    scopeid: 0,
  })
  const machine =
    (...addresses: string[]) =>
    () => ({
      lo: [entry('127.0.0.1', true), entry('::1', true)],
      eth0: addresses.map((address) => entry(address)),
    })
  const both = ['0.0.0.0', '::']

  it.each([
    [both, ['192.0.2.1', 'fe80::1', '2001:db8::1'], ['192.0.2.1', '2001:db8::1']],
    [both, ['192.0.2.1', 'fd00::1', '2001:db8::1'], ['192.0.2.1', '2001:db8::1']],
    [both, ['192.0.2.1', 'fd00::1'], ['192.0.2.1', 'fd00::1']],
    [both, ['192.0.2.1', 'fe80::1'], ['192.0.2.1']],
    [both, ['192.0.2.1'], ['192.0.2.1']],
    [both, ['2001:db8::1'], ['2001:db8::1']],
    [both, [], ['127.0.0.1']],
    ['::', ['192.0.2.1'], ['::1']],
    ['0.0.0.0', ['192.0.2.1', '2001:db8::1'], ['192.0.2.1']],
    [
      ['::1', '127.0.0.2'],
      ['192.0.2.1', '2001:db8::1'],
      ['::1', '127.0.0.2'],
    ],
  ] as const)('of bind %j on a machine with %j are %j', (bind, addresses, announced) => {
    const found = localAddresses({ bind }, machine(...addresses))
    expect(found.map(({ announce }) => announce)).toEqual(announced)
  })

  it('keep a family with an announced address that the machine does not have', () => {
    const announce = ['198.51.100.1', '2001:db8::9']
    const found = localAddresses({ bind: both, announce }, machine('10.0.0.1'))
    expect(found.map((each) => each.announce)).toEqual(announce)
    expect(localAddresses({ bind: both, announce: '198.51.100.1' }, machine('10.0.0.1', 'fe80::1'))).toEqual([
      { family: 4, bind: '0.0.0.0', announce: '198.51.100.1' },
    ])
  })

  it('are distinguished from those of others', () => {
    const own = localAddresses({ bind: both, announce: '198.51.100.1' }, machine('10.0.0.1', '2001:db8::1'))
    const isOwn = (address: string) => isOwnAddress(address, own, machine('10.0.0.1', 'fe80::1'))
    expect(
      ['198.51.100.1', '10.0.0.1', '127.1.2.3', '2001:db8:0::1', 'fe80::1%eth0'].map(isOwn),
    ).not.toContain(false)
    expect(['192.0.2.1', '2001:db8::2'].map(isOwn)).toEqual([false, false])
  })

  it.each([
    [{ bind: ['127.0.0.1', '127.0.0.2'] }, /bind: expected one address of each/],
    [{ bind: [] }, /bind: expected an IP address/],
    [{ bind: '127.0.0.1', announce: '::1' }, /announce: has an IPv6 address/],
    [{ bind: ['127.0.0.1', '::1'], announce: ['::1', '::2'] }, /announce: expected one/],
  ])('reject %j', async (wrong, message) => {
    const base = { ports: await freePortRange(4), threads: 1, startTimeoutMs: 1, mediaTimeoutMs: 1 }
    await expect(createEdge({ ...base, ...wrong })).rejects.toThrow(message)
  })
})
