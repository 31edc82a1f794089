import { expect, it } from 'vitest'
import { createEdge } from '../../../media/edge/edge.ts'
import { TestPeer } from '../../../media/edge/testing/test-peer.ts'
import { freePortRange } from '../../../media/testing/free-ports.ts'
import type { AudioCodec, Edge } from '../../../media/types.ts'
import { newLegId } from '../call/ids.ts'
import { Leg } from '../leg/leg.ts'
import { twinLegs } from './twin-legs.ts'

const party = { uri: 'sip:a@b.example', user: 'a', name: '' }

/** A leg of the call `group`, whose far side is `peer`. */
const legTo = async (edge: Edge, group: string, peer: TestPeer, codec: AudioCodec): Promise<Leg> => {
  const leg = new Leg({
    id: newLegId(),
    kind: 'sip',
    direction: 'inbound',
    from: party,
    to: party,
    now: () => 0,
  })
  const port = await edge.open({ group, kind: 'carrier' })
  const { near, far } = peer.far(codec)
  port.setFar(near, far)
  leg.setPort(port)
  leg.answered()
  return leg
}

it.each([
  ['PCMU', 0],
  ['G722', 9],
] as const)(
  'twin legs carry %s from one call to another on different threads, and leave nothing open',
  async (codec, number) => {
    const edge = await createEdge({
      bind: '127.0.0.1',
      ports: await freePortRange(98),
      threads: 2,
      quarantineMs: 0,
      startTimeoutMs: 30_000,
      mediaTimeoutMs: 60_000,
    })
    const alice = await TestPeer.open()
    const bob = await TestPeer.open()
    const first = await legTo(edge, 'first call', alice, codec)
    const second = await legTo(edge, 'second call', bob, codec)
    const [here, there] = (await twinLegs(edge, first, second, () => 0))!
    edge.join(first.port!, here.port!)
    edge.join(second.port!, there.port!)
    const said = new Uint8Array(160).fill(0x55)
    // The first packets only teach the ports where their far ends are.
    const talking = setInterval(() => alice.send(first.port!.port, number, said), 20)
    await bob.until(() => bob.heard.some(({ payload }) => payload.every((byte) => byte === 0x55)))
    clearInterval(talking)
    expect([here.port?.codec, there.port?.codec]).toEqual([codec, codec])
    here.end({ code: 'normal' })
    expect(there.isEnded).toBe(true)
    first.end({ code: 'normal' })
    second.end({ code: 'normal' })
    await edge.close()
    await Promise.all([alice.close(), bob.close()])
    expect(edge.portCount).toBe(0)
  },
)
