import { expect, it } from 'vitest'
import { startupBanner } from './startup-banner.ts'

const subscriber = {
  email: 'alice@example.test',
  password: 'wonderland',
  name: 'alice',
  context: 'public',
  mayDialOut: true,
}
const addresses = {
  sip: ['udp/192.0.2.1:5060', 'tcp/192.0.2.1:5060'],
  http: ['https://localhost:8443/', 'http://localhost:8080/'],
}

it('tells where to call, what to open and who to be, and no password', () => {
  const text = startupBanner({ domains: [{ domain: 'demo.test' }], subscribers: [subscriber] }, addresses)
  for (const part of [...addresses.sip, 'sip:anything@demo.test', 'alice@example.test', '/public/alice'])
    expect(text).toContain(part)
  expect(text).toContain('http://localhost:8080/')
  expect(text).not.toContain('https:')
  expect(text).not.toContain('wonderland')
})

it('leaves out lines without content', () => {
  const text = startupBanner({ domains: [], subscribers: [] }, { sip: [], http: ['https://localhost:8443/'] })
  expect(text).toContain('https://localhost:8443/')
  expect(text).not.toMatch(/undefined|Sign in|To call|Carrier/)
})
