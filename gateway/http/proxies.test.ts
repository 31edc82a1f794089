import pino from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { FakeClock } from '../clock.ts'
import { Metrics } from '../metrics.ts'
import { newSite } from './site.ts'

const seenBy = async (trustedProxies: readonly string[], remoteAddress: string) => {
  const log = pino({ level: 'silent' })
  const site = newSite({ config: { trustedProxies }, metrics: new Metrics(), clock: new FakeClock(), log })
  onTestFinished(() => site.close())
  site.get('/seen', async ({ ip, protocol }) => ({ ip, protocol }))
  const headers = { 'x-forwarded-for': '203.0.113.9, 198.51.100.7', 'x-forwarded-proto': 'https' }
  return (await site.inject({ url: '/seen', headers, remoteAddress })).json()
}

it('believes a trusted proxy where a request comes from, but not what the proxy was told', async () => {
  expect(await seenBy(['192.0.2.0/24'], '192.0.2.4')).toEqual({ ip: '198.51.100.7', protocol: 'https' })
})

it.each([
  ['another address', ['192.0.2.0/24'], '198.51.100.1'],
  ['anybody where no proxy is trusted', [], '192.0.2.4'],
])('believes nothing of %s', async (_what, trusted, remote) => {
  expect(await seenBy(trusted, remote)).toEqual({ ip: remote, protocol: 'http' })
})
