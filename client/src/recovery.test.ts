import { describe, expect, it } from 'vitest'
import { ClientError } from './errors.ts'
import { Recovery } from './recovery.ts'
import { FakeClock, settled } from './testing/fakes.ts'

const watched = () => {
  const clock = new FakeClock()
  const events: string[] = []
  const state = { path: 'new' as RTCPeerConnectionState, connected: true }
  const offers: PromiseWithResolvers<void>[] = []
  const recovery = new Recovery(clock, {
    path: () => state.path,
    isConnected: () => state.connected,
    restart: () => {
      const offer = Promise.withResolvers<void>()
      offers.push(offer)
      return offer.promise
    },
    seeking: () => events.push('seeking'),
    found: () => events.push('found'),
    givenUp: (cause) => events.push(`given up: ${(cause as ClientError).code}`),
  })
  const become = (path: RTCPeerConnectionState) => {
    state.path = path
    recovery.pathChanged()
  }
  const connection = (up: boolean) => {
    state.connected = up
    recovery.connectionChanged(up)
  }
  const answer = async () => {
    offers.at(-1)?.resolve()
    await settled()
  }
  return { clock, events, offers, recovery, become, connection, answer }
}

const flowing = () => {
  const all = watched()
  all.become('connected')
  expect(all.events.splice(0)).toEqual(['found'])
  return all
}

describe('a media path', () => {
  it('that is interrupted for less than three seconds is not restarted', () => {
    const { clock, offers, events, become } = flowing()
    become('disconnected')
    clock.advance(2999)
    become('connected')
    clock.advance(60_000)
    expect(offers).toHaveLength(0)
    expect(events).toEqual([])
    expect(clock.running).toBe(0)
  })

  it('that is interrupted for three seconds is restarted, and recovers', async () => {
    const { clock, offers, events, become, answer } = flowing()
    become('disconnected')
    clock.advance(3000)
    expect(offers).toHaveLength(1)
    await answer()
    become('connected')
    expect(events).toEqual(['seeking', 'found'])
    expect(clock.running).toBe(0)
  })

  it('that is not connected ten seconds after the answer is restarted, and abandoned after thirty more', async () => {
    const { clock, offers, events, recovery, become, answer } = watched()
    become('new')
    become('connecting')
    clock.advance(9999)
    expect([offers.length, recovery.hasFlowed]).toEqual([0, false])
    clock.advance(1)
    for (const count of [1, 2, 3, 4]) {
      expect(offers).toHaveLength(count)
      await answer()
      become('connecting')
      clock.advance(count < 4 ? 8000 : 6000)
    }
    expect(events).toEqual(['seeking', 'given up: timeout'])
    expect(clock.running).toBe(0)
  })

  it('that is connected soon after the answer is not restarted', () => {
    const { clock, offers, recovery, become } = watched()
    become('connecting')
    clock.advance(9999)
    become('connected')
    clock.advance(60_000)
    expect([offers.length, recovery.hasFlowed, clock.running]).toEqual([0, true, 0])
    become('disconnected')
    expect(recovery.hasFlowed).toBe(true)
  })

  it('that failed is restarted at once and every eight seconds, and abandoned after thirty', async () => {
    const { clock, offers, events, become, answer } = flowing()
    become('failed')
    for (const count of [1, 2, 3, 4]) {
      expect(offers).toHaveLength(count)
      await answer()
      clock.advance(7999)
      if (count < 4) clock.advance(1)
    }
    expect(events).toEqual(['seeking', 'given up: timeout'])
    expect(clock.running).toBe(0)
    become('connected')
    expect(events).toHaveLength(2)
  })

  it('is abandoned at once if the server rejects the restart', async () => {
    const { clock, events, offers, become } = flowing()
    become('failed')
    offers[0]?.reject(new ClientError('server', 'no'))
    await settled()
    expect(events).toEqual(['seeking', 'given up: server'])
    expect(clock.running).toBe(0)
  })

  it('is restarted again if the offer could not be sent', async () => {
    const { clock, offers, become } = flowing()
    become('failed')
    offers[0]?.reject(new ClientError('timeout', 'no reply'))
    await settled()
    clock.advance(8000)
    expect(offers).toHaveLength(2)
  })

  it('that recovers while the offer is on its way counts as recovered at the answer', async () => {
    const { clock, events, become, answer } = flowing()
    become('failed')
    become('connected')
    expect(events).toEqual(['seeking'])
    await answer()
    expect(events).toEqual(['seeking', 'found'])
    expect(clock.running).toBe(0)
  })
})

describe('another network', () => {
  it('causes a restart at once, even if the path seems alive', async () => {
    const { clock, offers, events, recovery, answer } = flowing()
    recovery.pathLost()
    expect(offers).toHaveLength(1)
    await answer()
    expect(events).toEqual(['seeking', 'found'])
    expect(clock.running).toBe(0)
  })

  it('makes an offer on its way stale', async () => {
    const { offers, recovery, answer } = flowing()
    recovery.pathLost()
    recovery.pathLost()
    expect(offers).toHaveLength(1)
    await answer()
    expect(offers).toHaveLength(2)
  })

  it('before the first media causes no restart', () => {
    const { offers, recovery } = watched()
    recovery.pathLost()
    expect(offers).toHaveLength(0)
  })
})

describe('without a connection to the server', () => {
  it('no restart is tried until it is back', () => {
    const { clock, offers, events, become, connection } = flowing()
    connection(false)
    become('failed')
    clock.advance(600_000)
    expect(offers).toHaveLength(0)
    expect(events).toEqual(['seeking'])
    connection(true)
    expect(offers).toHaveLength(1)
  })

  it('the time limit is suspended', async () => {
    const { clock, events, become, connection, answer } = flowing()
    become('failed')
    await answer()
    clock.advance(7000)
    connection(false)
    clock.advance(600_000)
    connection(true)
    clock.advance(22_999)
    expect(events).toEqual(['seeking'])
    clock.advance(1)
    expect(events).toEqual(['seeking', 'given up: timeout'])
  })

  it('an interrupted offer is made again, as its addresses may be of the former network', async () => {
    const { offers, become, connection, answer } = flowing()
    become('failed')
    connection(false)
    connection(true)
    await answer()
    expect(offers).toHaveLength(2)
  })
})

it('no restart is tried after the end', () => {
  const { clock, offers, recovery, become } = flowing()
  become('disconnected')
  recovery.close()
  clock.advance(60_000)
  become('failed')
  recovery.pathLost()
  recovery.connectionChanged(true)
  expect(offers).toHaveLength(0)
  expect(clock.running).toBe(0)
})
