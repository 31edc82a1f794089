import pino from 'pino'
import { expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { Metrics } from '../../core/metrics.ts'
import { establish } from '../testing/dialog-rig.ts'
import { TestEdge } from '../testing/fake-edge.ts'
import { Transfers } from './transfers.ts'

it('no log line shows the password of a URI in a received or sent REFER', () => {
  const logged: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => logged.push(line) })
  const transfers = new Transfers(
    {
      addresses: { resolve: () => undefined },
      isOwnHost: () => true,
      countReferral: () => () => {},
    },
    new TestEdge(),
    new FakeClock(),
    new Metrics(),
  )
  const bench = establish({ parts: { log, transfers, origin: { projectId: 'p1', source: '192.0.2.9' } } })
  const refer = (to: string) => bench.receive('REFER', '', { 'refer-to': to, 'referred-by': by }).statuses
  const by = '<sip:boss:hidden@b.example>'
  const found = [
    refer('"Bob: B" <sip:bob:hidden@b.example?X=y>'),
    refer('sip:bob:hidden@bad host'),
    refer('<sip:bob:hid@hidden@b.example>'),
  ]
  expect(found).toEqual([[404], [400], [400]])
  void bench.established.refer('sip:bob:hidden@b.example')
  expect(logged).toHaveLength(4)
  expect(logged.join('')).toContain('sip:bob@b.example')
  expect(logged.join('')).not.toMatch(/hidden|hid@/)
})
