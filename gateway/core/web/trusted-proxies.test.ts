import type { Socket } from 'node:net'
import pino from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { newSite } from '../../http/http-site.ts'
import { FakeClock } from '../clock.ts'
import { Metrics } from '../metrics.ts'
import { TrustedProxies } from './trusted-proxies.ts'

const way = '203.0.113.9, 198.51.100.7'

const seenBy = async (trustedProxies: readonly string[], remoteAddress: string, forwarded = way) => {
  const log = pino({ level: 'silent' })
  const site = newSite({
    proxies: new TrustedProxies(trustedProxies),
    metrics: new Metrics(),
    clock: new FakeClock(),
    log,
  })
  onTestFinished(() => site.close())
  site.get('/seen', async ({ ip, protocol }) => ({ ip, protocol }))
  const headers = { 'x-forwarded-for': forwarded, 'x-forwarded-proto': 'https' }
  return (await site.inject({ url: '/seen', headers, remoteAddress })).json()
}

it('reads the source of a request from a trusted proxy, but not what the proxy received from others', async () => {
  expect(await seenBy(['192.0.2.0/24'], '192.0.2.4')).toEqual({ ip: '198.51.100.7', protocol: 'https' })
})

it.each([
  ['another address', ['192.0.2.0/24'], '198.51.100.1'],
  ['any address if no proxy is trusted', [], '192.0.2.4'],
])('ignores the headers of %s', async (_what, trusted, remote) => {
  expect(await seenBy(trusted, remote)).toEqual({ ip: remote, protocol: 'http' })
})

it.each([
  ['198.51.100.7:4711', '198.51.100.7'],
  ['203.0.113.9:1, 198.51.100.7:4711', '198.51.100.7'],
  ['[2001:db8::1]:4711', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['2001:db8::1', '2001:db8::1'],
  // A further trusted proxy before this one.
  ['198.51.100.7:4711, 192.0.2.9:80', '198.51.100.7'],
  ['198.51.100.7,[::ffff:192.0.2.9]:80', '198.51.100.7'],
])('reads %s without its port, of requests and of upgrades', async (forwarded, ip) => {
  const trusted = ['192.0.2.0/24', '::ffff:192.0.2.0/120']
  expect(await seenBy(trusted, '192.0.2.4', forwarded)).toMatchObject({ ip })
  const socket = { remoteAddress: '192.0.2.4' } as Socket
  const upgrade = { headers: { 'x-forwarded-for': forwarded }, socket }
  expect(new TrustedProxies(trusted).sourceOf(upgrade)).toBe(ip)
})

it.each(['198.51.100.7:', '198.51.100.7:x', '[198.51.100.7', 'unknown', '[fe80::1]x:1'])(
  'makes no address of %s',
  async (forwarded) => {
    expect(await seenBy(['192.0.2.0/24'], '192.0.2.4', forwarded)).toMatchObject({ ip: forwarded })
  },
)

it('believes other proxies from a moment on', () => {
  const proxies = new TrustedProxies([])
  expect(proxies.trusts('192.0.2.4')).toBe(false)
  proxies.change(['192.0.2.0/24'])
  expect(proxies.trusts('192.0.2.4')).toBe(true)
  proxies.change([])
  expect(proxies.trusts('192.0.2.4')).toBe(false)
})
