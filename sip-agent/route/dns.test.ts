import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { afterAll, describe, expect, it } from 'vitest'
import { FakeClock } from '../clock.ts'
import type { Hop } from '../transport/types.ts'
import { SystemDns } from './dns.ts'
import { DnsCache } from './dns-cache.ts'
import { parseHosts } from './hosts.ts'
import { SipRouter } from './router.ts'

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

  it('and names of browsers are never sent to a name server', async () => {
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

describe('a name server', () => {
  const label = (name: string) =>
    Buffer.concat(
      [...name.split('.').filter((each) => each !== ''), ''].map((each) =>
        Buffer.concat([Buffer.from([each.length]), Buffer.from(each)]),
      ),
    )
  const text = (value: string) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)])
  const numbers = (...values: number[]) => Buffer.from(values.flatMap((each) => [each >> 8, each & 255]))
  /** Record data by name and type. */
  const zone: Record<string, Buffer[]> = {
    'carrier.example 35': [
      Buffer.concat([
        numbers(10, 50),
        text('s'),
        text('SIP+D2T'),
        text(''),
        label('_sip._tcp.carrier.example'),
      ]),
    ],
    '_sip._tcp.carrier.example 33': [Buffer.concat([numbers(1, 2, 5070), label('a.carrier.example')])],
    '_sip._udp.carrier.example 33': [Buffer.concat([numbers(0, 0, 0), label('')])],
    'a.carrier.example 1': [Buffer.from([192, 0, 2, 1])],
    'a.carrier.example 28': [Buffer.from('20010db8000000000000000000000001', 'hex')],
  }

  const answer = (query: Buffer): Buffer => {
    let at = 12
    const labels: string[] = []
    for (; query[at]; at += (query[at] as number) + 1)
      labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] as number)))
    const type = query.readUInt16BE(at + 1)
    const question = query.subarray(12, at + 5)
    const found = zone[`${labels.join('.')} ${type}`] ?? []
    const records = found.map((data) => Buffer.concat([numbers(0xc00c, type, 1, 0, 77, data.length), data]))
    const flags = found.length > 0 ? 0x8180 : 0x8183
    return Buffer.concat([
      query.subarray(0, 2),
      numbers(flags, 1, records.length, 0, 0),
      question,
      ...records,
    ])
  }

  it('gets no query after closing, not even one that waited for a file', async () => {
    const socket = createSocket('udp4')
    let queries = 0
    socket.on('message', (query, from) => {
      queries++
      socket.send(answer(query), from.port, from.address)
    })
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    const asked = new SystemDns([`127.0.0.1:${socket.address().port}`])
    // The hosts file is read before.
    const early = asked.addresses('a.carrier.example', 4)
    asked.close()
    const late = [asked.naptr('carrier.example'), asked.srv('_sip._tcp.carrier.example')]
    const settled = await Promise.allSettled<unknown>([early, ...late])
    const canceled = { status: 'rejected', reason: { code: 'ECANCELLED' } }
    expect(settled).toMatchObject(Array(3).fill(canceled))
    expect(queries).toBe(0)
    socket.close()
  })

  it('returns records in the router’s form', async () => {
    const socket = createSocket('udp4')
    socket.on('message', (query, from) => socket.send(answer(query), from.port, from.address))
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    const asked = new SystemDns([`127.0.0.1:${socket.address().port}`])
    const clock = new FakeClock()
    const router = new SipRouter({
      reach: { reaches: () => true },
      dns: asked,
      clock,
      fault: () => {},
      random: () => 0,
    })
    const found = (uri: string) => new Promise<readonly Hop[]>((resolve) => router.find(uri, resolve))
    expect(await found('sip:carrier.example')).toEqual([
      { protocol: 'tcp', address: '192.0.2.1', port: 5070, host: 'carrier.example' },
      { protocol: 'tcp', address: '2001:db8::1', port: 5070, host: 'carrier.example' },
    ])
    expect(await found('sip:carrier.example;transport=udp')).toEqual([])
    expect(await found('sip:nobody.example')).toEqual([])
    expect(await asked.addresses('a.carrier.example', 4)).toEqual([{ address: '192.0.2.1', ttl: 77 }])
    asked.close()
    socket.close()
  })
})
