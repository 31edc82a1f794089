import { generate } from 'selfsigned'
import type { SipCertificate } from '../transport/transport-settings.ts'

/** Subject of a test certificate. */
export interface TestNames {
  readonly dns?: readonly string[]
  readonly uris?: readonly string[]
  readonly addresses?: readonly string[]
  /** Default `test`. */
  readonly common?: string
}

/** Certificate authority of a test, which signs certificates for servers and clients. */
export interface TestAuthority {
  /** PEM. */
  readonly certificate: string
  issue(names: TestNames): Promise<SipCertificate>
}

const keys = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const
const validity = { notBeforeDate: new Date('2020-01-01'), notAfterDate: new Date('2100-01-01') }

/** Makes an authority. */
export const makeAuthority = async (name = 'test authority'): Promise<TestAuthority> => {
  const own = await generate([{ name: 'commonName', value: name }], {
    ...keys,
    ...validity,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  })
  const issue = async ({ dns = [], uris = [], addresses = [], common = 'test' }: TestNames) => {
    const altNames = [
      ...dns.map((value) => ({ type: 2 as const, value })),
      ...uris.map((value) => ({ type: 6 as const, value })),
      ...addresses.map((ip) => ({ type: 7 as const, ip })),
    ]
    const { cert, private: key } = await generate([{ name: 'commonName', value: common }], {
      ...keys,
      ...validity,
      ca: { key: own.private, cert: own.cert },
      extensions: [
        { name: 'basicConstraints', cA: false, critical: true },
        { name: 'keyUsage', digitalSignature: true, critical: true },
        { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
        ...(altNames.length > 0 ? [{ name: 'subjectAltName' as const, altNames }] : []),
      ],
    })
    return { certificate: cert, key }
  }
  return { certificate: own.cert, issue }
}
