import { describe, expect, it } from 'vitest'
import { startupBanner } from './startup-banner.ts'

const subscriber = {
  email: 'alice@example.test',
  password: 'wonderland',
  name: 'alice',
  context: 'public',
  mayDialOut: true,
}
const log = { level: 'info', pretty: true, details: false } as const
const config = { domains: [{ domain: 'demo.test' }], subscribers: [subscriber], log }
const addresses = {
  sip: ['udp/192.0.2.1:5070', 'tcp/192.0.2.1:5070'],
  http: ['http://localhost:8080/', 'https://localhost:8443/'],
  metrics: 'http://localhost:8080/metrics',
}
const pages = { hasSoftphone: true, hasDocs: true }

it('has the addresses to call and to open, and the people who can sign in', () => {
  expect(startupBanner(config, addresses, pages)).toBe(`
  SIP        udp/192.0.2.1:5070  tcp/192.0.2.1:5070
  Call       sip:anything@demo.test:5070
  Softphone  http://localhost:8080/
             https://localhost:8443/
  Sign in    alice@example.test  address /public/alice
  REST API   http://localhost:8080/api/
  Docs       http://localhost:8080/docs/
  Metrics    http://localhost:8080/metrics
  Log        this output, level info
  Stop       Ctrl+C; calls in progress end first

`)
})

it('has the passwords of the examples only', () => {
  const demo = { ...subscriber, password: 'alice-demo' }
  expect(startupBanner({ ...config, subscribers: [demo] }, addresses, pages)).toContain('password alice-demo')
})

describe('the URI to call', () => {
  it.each([
    [['udp/192.0.2.1:5060'], 'sip:anything@demo.test\n'],
    [['tcp/[2001:db8::1]:5062'], 'sip:anything@demo.test:5062;transport=tcp\n'],
    [['wss/192.0.2.1:443', 'tls/192.0.2.1:5061'], 'sip:anything@demo.test;transport=tls\n'],
  ])('of the listeners %j is %s', (sip, uri) => {
    expect(startupBanner(config, { ...addresses, sip }, pages)).toContain(uri)
  })

  it('is absent without a listener for phones', () => {
    expect(startupBanner(config, { ...addresses, sip: ['wss/192.0.2.1:443'] }, pages)).not.toContain('sip:')
  })
})

it('leaves out lines without content', () => {
  const text = startupBanner(
    { domains: [], subscribers: [], log },
    { sip: [], http: ['https://localhost:8443/'] },
    { hasSoftphone: false, hasDocs: false },
  )
  expect(text).toContain('https://localhost:8443/api/')
  expect(text).not.toMatch(/undefined|Sign in|Call|SIP|Softphone|Docs|Metrics/)
})

it('lists a few people only', () => {
  const many = Array.from({ length: 9 }, (_, at) => ({ ...subscriber, email: `p${at}@example.test` }))
  const text = startupBanner({ ...config, subscribers: many }, addresses, pages)
  expect(text).toContain('p3@example.test')
  expect(text).not.toContain('p4@example.test')
  expect(text).toContain('and 5 more')
})
