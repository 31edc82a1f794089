import { expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { parseSipUri } from '../../core/sip-uri.ts'
import { GatewayHeaders } from '../gateway-headers.ts'
import type { SignallingSource } from '../signalling-source.ts'
import type { SrfLike } from '../srf.ts'
import type { Binding } from './bindings.ts'
import { KeepAlive } from './keep-alive.ts'

const binding = (contact: string, source: Partial<SignallingSource> = {}): Binding => ({
  uri: parseSipUri(contact)!,
  q: 1,
  instance: undefined,
  regId: undefined,
  callId: 'c',
  seq: 1,
  expiresAt: Number.POSITIVE_INFINITY,
  source: { transport: 'udp', address: '198.51.100.7', port: 6100, ...source },
})

const setUp = (bindings: Binding[]) => {
  const clock = new FakeClock()
  const sent: { uri: string; proxy?: string; at: number }[] = []
  const began = clock.now()
  const state = { connected: true, broken: false }
  const srf = {
    request: (uri: string, { method, proxy }: { readonly method: string; readonly proxy?: string }) => {
      expect(method).toBe('OPTIONS')
      if (state.broken) throw new Error('no connection')
      sent.push({ uri, proxy, at: clock.now() - began })
    },
  }
  const link = {
    srf: srf as unknown as SrfLike,
    get connection() {
      return state.connected ? { isAlive: true } : undefined
    },
  }
  const keepAlive = new KeepAlive({ all: () => bindings }, link, {
    clock,
    log: { debug: () => {} },
    headers: new GatewayHeaders({ userAgent: 'T' }),
    intervalMs: () => 30_000,
  })
  keepAlive.start()
  return { clock, sent, state, keepAlive }
}

it('OPTIONS are sent only to contacts behind a UDP NAT, to the source of their registration', () => {
  const { clock, sent } = setUp([
    binding('sip:nat@192.168.1.5:5060'),
    binding('sip:open@198.51.100.7:6100'),
    binding('sip:tcp@192.168.1.5', { transport: 'tcp' }),
    binding('sip:web@abc.invalid', { transport: 'wss' }),
  ])
  clock.advance(30_000)
  expect(sent.map(({ uri, proxy }) => [uri, proxy])).toContainEqual([
    'sip:nat@192.168.1.5:5060',
    'sip:198.51.100.7:6100;transport=udp',
  ])
  expect(sent).toHaveLength(1)
  clock.advance(30_000)
  expect(sent.map(({ at }) => at)).toEqual([1_000, 31_000])
})

it('many keep-alives are spread over the interval, each contact once', () => {
  const { clock, sent } = setUp(Array.from({ length: 60 }, (_, i) => binding(`sip:n${i}@10.0.0.1`)))
  clock.advance(30_000)
  expect(sent).toHaveLength(60)
  expect(new Set(sent.map(({ uri }) => uri)).size).toBe(60)
  const perSecond = Map.groupBy(sent, ({ at }) => at)
  expect(Math.max(...[...perSecond.values()].map(({ length }) => length))).toBe(2)
  clock.advance(30_000)
  expect(sent).toHaveLength(120)
})

it('no keep-alive is sent without an agent; keep-alives continue after a failure, and stop when closed', () => {
  const { clock, sent, state, keepAlive } = setUp([binding('sip:nat@10.0.0.1')])
  state.connected = false
  clock.advance(60_000)
  expect(sent).toEqual([])
  state.connected = true
  state.broken = true
  clock.advance(60_000)
  state.broken = false
  clock.advance(60_000)
  expect(sent.length).toBeGreaterThan(0)
  keepAlive.close()
  keepAlive.close()
  expect(clock.running).toBe(0)
})
