import { beforeEach, describe, expect, it } from 'vitest'
import type { FarEnd } from '../../../media/types.ts'
import { FakeClock } from '../../core/clock.ts'
import { TestPort } from '../testing/fake-edge.ts'
import { SendingGate } from './sending-gate.ts'

const source = '203.0.113.9'
const near = { codecs: [{ codec: 'PCMU', payloadType: 0 }] } as const
const far = (changes: Partial<FarEnd> = {}): FarEnd => ({
  address: source,
  port: 4000,
  codec: 'PCMU',
  payloadType: 0,
  direction: 'sendrecv',
  ...changes,
})
let clock: FakeClock
let port: TestPort
let gate: SendingGate
let faults: string[]

const open = (isConfirmed: boolean) => {
  clock = new FakeClock()
  port = new TestPort('call')
  faults = []
  gate = new SendingGate(port, source, { clock, isConfirmed })
  gate.onFault((error) => faults.push((error as Error & { code: string }).code))
}
beforeEach(() => open(false))

const direction = () => port.far?.direction
/** Lets time pass in small steps, and the port answer in between. */
const pass = async (ms: number) => {
  for (let at = 0; at < ms; at += 100) {
    clock.advance(100)
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
  }
}

describe('a caller who has not proved its address', () => {
  it.each([
    ['sendrecv', 'recvonly'],
    ['sendonly', 'inactive'],
    ['recvonly', 'recvonly'],
    ['inactive', 'inactive'],
  ] as const)('gets no media if its description means %s', (wanted, permitted) => {
    gate.setFar(near, far({ direction: wanted }))
    expect(direction()).toBe(permitted)
    gate.confirm()
    expect(direction()).toBe(wanted)
  })

  it('gets no media even if packets arrive, because a forged INVITE may have forged packets', async () => {
    gate.setFar(near, far({ address: '198.51.100.1' }))
    port.received = 5
    await pass(5_000)
    expect(direction()).toBe('recvonly')
  })
})

it('is recognised by its address in any spelling', async () => {
  open(true)
  port.families = [4, 6]
  gate = new SendingGate(port, '2001:db8::1', { clock, isConfirmed: true })
  gate.setFar(near, far({ address: '2001:DB8:0:0::1' }))
  await pass(3_000)
  expect([direction(), clock.running]).toEqual(['sendrecv', 0])
})

describe('a media address other than the caller’s', () => {
  const other = '198.51.100.1'
  beforeEach(() => open(true))

  it('gets audio for two seconds, and longer only after packets arrive from it', async () => {
    gate.setFar(near, far({ address: other }))
    expect(direction()).toBe('sendrecv')
    await pass(1_900)
    expect(direction()).toBe('sendrecv')
    await pass(300)
    expect(direction()).toBe('recvonly')
    port.received = 1
    await pass(600)
    expect(direction()).toBe('sendrecv')
    await pass(60_000)
    expect([direction(), faults]).toEqual(['sendrecv', []])
  })

  it('gets no more time by new descriptions: the two seconds apply to the whole call', async () => {
    gate.setFar(near, far({ address: other }))
    await pass(2_500)
    gate.setFar(near, far())
    expect(direction()).toBe('sendrecv')
    for (const address of [other, '198.51.100.2', '198.51.100.3']) {
      gate.setFar(near, far({ address }))
      expect(direction()).toBe('recvonly')
    }
  })

  it('that has been confirmed does not confirm the next one', async () => {
    gate.setFar(near, far({ address: other }))
    await pass(300)
    port.received = 10
    await pass(3_000)
    gate.setFar(near, far({ address: '198.51.100.2' }))
    await pass(1_000)
    expect(direction()).toBe('recvonly')
    gate.setFar(near, far({ address: other }))
    expect(direction()).toBe('sendrecv')
  })

  it('that is private gets no media before a packet has arrived', async () => {
    gate.setFar(near, far({ address: '10.0.0.5', learnFrom: [source] }))
    expect(direction()).toBe('recvonly')
    await pass(200)
    port.received = 1
    await pass(200)
    expect(direction()).toBe('sendrecv')
  })

  it.each([
    ['a private address', { address: '10.0.0.5', learnFrom: [source] }],
    ['a carrier’s source', { address: other, symmetric: 'same-ip', signalledFrom: source }],
  ] as const)(
    'of %s is learned again for another port, because packets came from the caller itself',
    async (_name, given) => {
      gate.setFar(near, far(given))
      await pass(200)
      port.received = 1
      await pass(3_000)
      gate.setFar(near, far({ ...given, direction: 'sendonly' }))
      expect(direction()).toBe('sendonly')
      gate.setFar(near, far({ ...given, port: 5004 }))
      expect(direction()).toBe('recvonly')
      gate.setFar(near, far(given))
      expect(direction()).toBe('recvonly')
      await pass(600)
      expect(direction()).toBe('recvonly')
      port.received = 2
      await pass(600)
      expect(direction()).toBe('sendrecv')
    },
  )

  it('is not confirmed for another port by earlier packets', async () => {
    const hidden = { address: '10.0.0.5', learnFrom: [source] }
    gate.setFar(near, far(hidden))
    await pass(100)
    port.received = 1
    gate.setFar(near, far({ ...hidden, port: 5004 }))
    await pass(3_000)
    expect(direction()).toBe('recvonly')
  })

  it('ends the call if no packet arrives from it for 30 s, except while it only receives', async () => {
    gate.setFar(near, far({ address: other }))
    await pass(31_000)
    expect([faults, clock.running]).toEqual([['media_timeout'], 0])
    open(true)
    gate.setFar(near, far({ address: other, direction: 'sendonly' }))
    await pass(31_000)
    expect([faults, direction()]).toEqual([[], 'inactive'])
    gate.close()
    expect(clock.running).toBe(0)
  })

  it('gets no RTCP if it is announced only for RTCP', () => {
    gate.setFar(near, far({ rtcpAddress: other }))
    expect(port.far).not.toHaveProperty('rtcpAddress')
    gate.setFar(near, far({ rtcpAddress: source }))
    expect(port.far?.rtcpAddress).toBe(source)
  })
})
