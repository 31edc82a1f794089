import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { writeRtpHeader } from '../rtp/packet.ts'
import { SrtpSender } from '../rtp/srtp.ts'
import { masterBytes } from '../rtp/srtp-suites.ts'
import { freePortRange } from '../testing/free-ports.ts'
import type { Edge, MediaPort, PortEvent, SrtpKeys, Symmetric } from '../types.ts'
import { createEdge } from './edge.ts'
import { type SocketKind, socketKind } from './sockets-open.ts'
import { TestPeer } from './testing/test-peer.ts'

const kinds: SocketKind[] = socketKind().kind === 'native' ? ['native', 'node'] : ['node']
const silence = new Uint8Array(160).fill(0xff)

describe.each(kinds)('sources that a port learns on real sockets (%s)', (sockets) => {
  let edge: Edge
  /** Sources: the SDP address, another port of it, the signalling address, and an unrelated one. */
  let peers: Record<'exact' | 'translated' | 'signalling' | 'stranger', TestPeer>
  let port: MediaPort
  let latched: string[]

  beforeAll(async () => {
    edge = await createEdge({
      bind: '127.0.0.1',
      ports: await freePortRange(98),
      threads: 1,
      quarantineMs: 0,
      sockets,
      startTimeoutMs: 30_000,
      mediaTimeoutMs: 60_000,
    })
  })

  afterAll(() => edge.close())

  beforeEach(async () => {
    const [exact, translated, signalling, stranger] = await Promise.all([
      TestPeer.open(),
      TestPeer.open(),
      TestPeer.open('127.0.0.2'),
      TestPeer.open('127.0.0.3'),
    ])
    peers = { exact, translated, signalling, stranger }
    port = await edge.open({ group: 'call', kind: 'carrier' })
    latched = []
    port.onEvent((event: PortEvent) => {
      if (event.kind === 'latched') latched.push(`${event.address}:${event.port}`)
    })
  })

  afterEach(async () => {
    await port.close()
    expect(edge.portCount).toBe(0)
    await Promise.all(Object.values(peers).map((peer) => peer.close()))
  })

  const set = (symmetric: Symmetric | undefined, srtp?: SrtpKeys) => {
    const { near, far } = peers.exact.far('PCMU', { signalledFrom: '127.0.0.2' })
    port.setFar(near, { ...far, ...(symmetric && { symmetric }), ...(srtp && { srtp }) })
  }
  /** Sends a packet and waits until it is counted. */
  const hear = async (name: keyof typeof peers) => {
    const counted = async () => {
      const { received, refused } = await port.stats()
      return received + Object.values(refused).reduce((sum, each) => sum + each, 0)
    }
    const before = await counted()
    peers[name].send(port.port, 0, silence)
    while ((await counted()) === before) await new Promise((resolve) => setTimeout(resolve, 2))
  }
  const place = (name: keyof typeof peers) =>
    `127.0.0.${name === 'signalling' ? 2 : name === 'stranger' ? 3 : 1}:${peers[name].port}`

  it.each([
    [undefined, 'translated', 2],
    ['strict', 'translated', 2],
    ['same-ip', 'signalling', 1],
    ['first', 'stranger', 0],
  ] as const)('%s: the first accepted source is the %s', async (symmetric, first, refused) => {
    await hear('exact')
    set(symmetric)
    for (const name of ['stranger', 'signalling', 'translated'] as const) {
      if (latched.length === 0) await hear(name)
    }
    expect(latched).toEqual([place(first)])
    await hear(first)
    // One packet came before there was an answer.
    expect(await port.stats()).toMatchObject({ received: 2, refused: { source: refused + 1, ssrc: 0 } })
  })

  it.each(['strict', 'same-ip', 'first'] as const)(
    '%s: no other source is accepted after the exact one',
    async (symmetric) => {
      set(symmetric)
      for (const name of ['exact', 'translated', 'signalling', 'stranger', 'exact'] as const) await hear(name)
      expect(latched).toEqual([place('exact')])
      expect(await port.close()).toMatchObject({
        received: 2,
        refused: { source: 3, ssrc: 0, 'payload-type': 0, malformed: 0, srtp: 0, rate: 0 },
      })
    },
  )

  it('rejects packets without a valid tag from any source', async () => {
    const suite = 'AEAD_AES_256_GCM'
    const key = () => randomBytes(masterBytes(suite))
    const keys = { suite, sendKey: key(), receiveKey: key() } as const
    set('first', keys)
    for (const name of ['stranger', 'exact'] as const) await hear(name)
    expect(latched).toEqual([])
    const packet = Buffer.alloc(172, 0xff)
    const header = { payloadType: 0, marker: false, sequence: 1, timestamp: 0, ssrc: 7 }
    writeRtpHeader(packet, 0, header)
    peers.signalling.sendRaw(port.port, new SrtpSender(suite, keys.receiveKey).protect(packet))
    while (latched.length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
    expect(latched).toEqual([place('signalling')])
    expect(await port.close()).toMatchObject({ received: 1, refused: { srtp: 2, source: 0 } })
  })
})
