import { expect, it } from 'vitest'
import { type DescriptorConfig, descriptorLimit, neededDescriptors } from './file-descriptors.ts'

const listener = { address: '127.0.0.1', port: 0 }
const config: DescriptorConfig = {
  http: { plain: listener, tls: false, metrics: null, maxConnections: 1_000 },
  limits: { webSockets: { connections: 500 } },
  sip: { listen: [{ ...listener, transport: 'udp' }], messages: { connections: 50 } },
  media: { rtp: { bind: ['127.0.0.1'], ports: { from: 20_000, to: 20_099 } } },
}

it('counts every listener, WebSocket, SIP connection and RTP port, and keeps some for the rest', () => {
  expect(neededDescriptors(config)).toBe(1_000 + 500 + 100 + 256)
  expect(neededDescriptors({ ...config, http: { ...config.http, metrics: listener } })).toBe(2_856)
  const rtp = { ...config.media.rtp, bind: ['127.0.0.1', '::1'] }
  expect(neededDescriptors({ ...config, media: { rtp } })).toBe(1_956)
  const sip = { ...config.sip, listen: [...config.sip.listen, { ...listener, transport: 'tcp' as const }] }
  expect(neededDescriptors({ ...config, sip })).toBe(1_956)
  const drachtio = { host: '127.0.0.1', port: 9022, secret: 'x' }
  expect(neededDescriptors({ ...config, sip: { ...sip, drachtio } })).toBe(1_856)
})

it('reads the limit of this process', () => {
  const limits =
    'Limit  Soft Limit Hard Limit Units\nMax open files            4096                 524288     files\n'
  expect(descriptorLimit(() => limits)).toBe(4096)
  expect(descriptorLimit(() => limits.replace('4096 ', 'unlimited'))).toBeUndefined()
  const missing = () => {
    throw new Error('ENOENT')
  }
  expect(descriptorLimit(missing)).toBeUndefined()
  if (process.platform === 'linux') expect(descriptorLimit()).toBeGreaterThan(0)
})
