import { expect, it } from 'vitest'
import type { Target } from '../../model.ts'
import { testCarrier } from '../testing/test-carrier.ts'
import { CarrierDirectory } from './carrier-directory.ts'
import { LikelyCodecs } from './likely-codecs.ts'

const carriers = new CarrierDirectory(
  [
    testCarrier({ name: 'wide', targets: ['sip:wide.example'], codecs: ['G722', 'PCMA'], default: true }),
    testCarrier({ name: 'other', targets: ['sip:other.example'], codecs: ['opus'] }),
  ],
  { now: () => 0 },
)
const targets: Readonly<Record<string, Target>> = {
  '/public/ann': { kind: 'subscriber', subscriberId: '1', address: '/public/ann' },
  '/public/desk': { kind: 'endpoint', endpointId: 'desk', address: '/public/desk' },
  '/public/old': { kind: 'endpoint', endpointId: 'old', address: '/public/old' },
  '/public/menu': {
    kind: 'handler',
    address: '/public/menu',
    handler: { kind: 'script', document: '', name: '' },
  },
}
const likely = new LikelyCodecs({
  carriers,
  directory: {
    resolve: (to) =>
      to.startsWith('sip:') ? { kind: 'sip', uri: to } : (targets[to] ?? carriers.numberTarget(to, 'p1')),
    endpoint: (id) => (id === 'desk' ? { codecs: ['opus', 'PCMU'] } : undefined),
  },
})

it.each([
  ['a number is for the default carrier', '+4930123', ['G722', 'PCMA']],
  ['a carrier is known by its host', 'sip:1@other.example', ['opus']],
  ['an unknown host has G.711', 'sip:1@nobody.example', ['PCMU', 'PCMA']],
  ['an endpoint has its own', '/public/desk', ['opus', 'PCMU']],
  ['an endpoint that says nothing has G.711', '/public/old', ['PCMU', 'PCMA']],
  ['browsers have Opus', '/public/ann', ['opus']],
  ['of a handler nothing is known', '/public/menu', []],
  ['of no address, too', '/public/nobody', []],
])('%s', (_what, to, codecs) => {
  expect(likely.of(to, 'p1')).toEqual(codecs)
})
