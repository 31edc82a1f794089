import { srtpSuites } from '../../../config/srtp-suites.ts'
import type { CarrierConfig } from '../../../config/types.ts'

/** A carrier with everything at its default, for tests. */
export const testCarrier = (changes: Partial<CarrierConfig> = {}): CarrierConfig => ({
  name: 'carrier',
  targets: ['sip:carrier.example'],
  default: false,
  allow: [],
  identity: { from: 'caller', header: 'none' },
  number: { prefix: '', plus: 'keep' },
  failover: { statuses: [408, 500, 502, 503, 504], noProgressMs: 8_000 },
  srtp: 'off',
  srtpSuites,
  srtpWithoutTls: false,
  symmetric: 'strict',
  inbandDigits: false,
  codecs: ['PCMU', 'PCMA'],
  ptime: 20,
  comfortNoise: false,
  lateOffer: false,
  tls: { verify: true, alpn: [] },
  ...changes,
})
