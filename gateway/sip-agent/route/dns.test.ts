import { afterAll, describe, expect, it } from 'vitest'
import { FakeClock } from '../../clock.ts'
import { SystemDns } from './dns.ts'
import { DnsCache } from './dns-cache.ts'
import { parseHosts } from './hosts.ts'

const dns = new SystemDns()
afterAll(() => dns.close())

describe('names of this machine', () => {
  it.each(['localhost', 'phone.localhost'])('%s is loopback', async (name) => {
    const found = await dns.addresses(name, 4)
    expect(found.map((each) => each.address)).toContain('127.0.0.1')
  })

  it('are read from the hosts file', () => {
    const text =
      '127.0.0.1 localhost\n# 192.0.2.9 no\n192.0.2.1\tSBC sbc.example # front\n2001:db8::1 sbc\nrubbish x\n'
    expect([...parseHosts(text)]).toEqual([
      ['localhost', ['127.0.0.1']],
      ['sbc', ['192.0.2.1', '2001:db8::1']],
      ['sbc.example', ['192.0.2.1']],
    ])
  })

  it('and those of browsers are never asked for', async () => {
    expect(await dns.addresses('df7jal23ls0d.invalid', 4)).toEqual([])
  })
})

it('holds a limited number of answers', async () => {
  const cache = new DnsCache(
    { naptr: async () => [], srv: async () => [], addresses: async () => [] },
    new FakeClock(),
  )
  for (let i = 0; i < 2_500; i++) await cache.srv(`n${i}.example`)
  expect(cache.size).toBe(2_000)
})
