import { expect, it } from 'vitest'
import { readCarrierEntry } from './carrier-entry.ts'

it('equals a carrier of the file', () => {
  const entry = { name: 'acme', targets: ['sip:gw.acme.example'], probe: { interval: '10s' } }
  expect(readCarrierEntry(entry)).toMatchObject({
    carrier: {
      name: 'acme',
      allow: [],
      srtp: 'off',
      codecs: ['PCMU', 'PCMA'],
      probe: { intervalMs: 10_000, down: 3 },
      tls: { verify: true },
    },
  })
  expect(entry).toEqual({ name: 'acme', targets: ['sip:gw.acme.example'], probe: { interval: '10s' } })
})

it.each([
  [{ name: 'a' }, [['', 'the key targets is missing']]],
  [{ name: 'a', targets: ['gw.example'] }, [['targets[0]', expect.stringContaining('must be')]]],
  [{ name: 'a', targets: ['sip:a.example'], tls: { ca: '/etc/passwd' } }, [['tls', 'is not a known key']]],
  [{ name: 'a', targets: ['sip:a.example'], project: 'b' }, [['project', 'is not a known key']]],
  [{ name: 'a', targets: ['sip:a.example'], guarded: false }, [['guarded', 'is not a known key']]],
  [
    {
      name: 'a',
      targets: ['sip:a.example'],
      register: {},
      number: { prefix: 'x' },
      codecs: ['PCMU', 'PCMU'],
    },
    [
      ['number.prefix', 'must consist of digits, +, * and #'],
      ['codecs[1]', expect.any(String)],
      ['register', 'requires auth, or a user in identity.from'],
    ],
  ],
])('rejects %j with its faults', (entry, faults) => {
  expect(readCarrierEntry(entry)).toEqual({
    faults: faults.map(([path, message]) => ({ path, message })),
  })
})
