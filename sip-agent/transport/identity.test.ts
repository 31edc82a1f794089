import type { PeerCertificate } from 'node:tls'
import { describe, expect, it } from 'vitest'
import { checkDomain, domainsOf } from './identity.ts'

const certificate = (subjectaltname: string | undefined, common = 'cn.example') =>
  ({ subject: { CN: common }, subjectaltname }) as unknown as PeerCertificate

describe('RFC 5922 7.1: a certificate is for', () => {
  it.each([
    ['its SIP URIs, and then not its DNS names', 'DNS:a.example, URI:sip:B.example', ['b.example']],
    ['its DNS names without one', 'DNS:a.example, DNS:b.example', ['a.example', 'b.example']],
    ['no domain by a SIP URI with a user', 'URI:sip:alice@a.example', []],
    ['no domain by another URI', 'URI:https://a.example, URI:sips:b.example', []],
    ['no domain by its common name besides a subjectAltName', 'email:a@a.example', []],
    ['its addresses besides', 'URI:sip:a.example, IP Address:192.0.2.1', ['a.example', '192.0.2.1']],
    ['its common name where there is nothing else', undefined, ['cn.example']],
    ['no name that is hidden in another', 'URI:"https://x/, DNS:victim.example"', []],
    ['no domain if the list is malformed', 'DNS:a.example, DNS:"open', []],
    ['no domain if an entry is malformed', 'DNS:a.example, DNS:"\\q"', []],
  ])('%s', (_what, names, expected) => {
    expect(domainsOf(certificate(names))).toEqual(expected)
  })
})

describe('RFC 5922 7.2: a host', () => {
  it.each([
    ['carrier.example', 'DNS:Carrier.Example', true],
    ['Carrier.Example.', 'DNS:carrier.example', true],
    ['sbc.carrier.example', 'DNS:carrier.example', false],
    ['carrier.example', 'DNS:sbc.carrier.example', false],
    ['sbc.carrier.example', 'DNS:*.carrier.example', false],
    ['*.carrier.example', 'DNS:*.carrier.example', true],
    ['192.0.2.1', 'IP Address:192.0.2.1', true],
    ['192.0.2.1', 'DNS:192.0.2.1', true],
    ['192.0.2.2', 'IP Address:192.0.2.1', false],
    ['2001:db8::1', 'IP Address:2001:DB8:0:0:0:0:0:1', true],
  ])('%s is proved by %s: %s', (host, names, expected) => {
    expect(checkDomain(host, certificate(names)) === undefined).toBe(expected)
  })

  it('receives the names in the certificate', () => {
    const text = checkDomain('carrier.example', certificate('DNS:a.example, DNS:b.example'))?.message
    expect(text).toBe('the certificate is for a.example, b.example, not for carrier.example')
  })
})
