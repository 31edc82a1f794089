import pino from 'pino'
import { describe, expect, it } from 'vitest'
import type { CarrierConfig } from '../../../config/types.ts'
import { FakeClock } from '../../core/clock.ts'
import { Metrics } from '../../core/metrics.ts'
import { parseSipUri } from '../../core/sip-uri.ts'
import { GatewayHeaders } from '../gateway-headers.ts'
import { FakeSrf } from '../testing/fake-srf.ts'
import { testCarrier } from '../testing/test-carrier.ts'
import { CarrierDirectory } from './carrier-directory.ts'
import { CarrierRequests } from './carrier-requests.ts'
import { Trunks } from './trunks.ts'

const setUp = (...configs: Partial<CarrierConfig>[]) => {
  const clock = new FakeClock()
  const srf = new FakeSrf()
  const metrics = new Metrics()
  const carriers = new CarrierDirectory(
    configs.map((each, i) => testCarrier({ name: `c${i}`, ...each })),
    clock,
  )
  const logged: Record<string, unknown>[] = []
  const log = pino({}, { write: (line: string) => logged.push(JSON.parse(line)) })
  const guard = {
    objection: async ({ host }: { readonly host: string }) => (host === '10.0.0.1' ? 'private' : undefined),
  }
  const headers = new GatewayHeaders({ userAgent: 'Trunkline' })
  const requests = new CarrierRequests(srf, clock, log, headers, guard)
  const trunks = new Trunks({ carriers, requests, metrics, clock, log, random: () => 0.5 })
  const metric = async (name: string) =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith(`trunkline_${name}{`))
  return { clock, srf, carriers, trunks, metric, logged, first: carriers.all[0]! }
}

describe('the pings of a target', () => {
  const probe = { intervalMs: 30_000, down: 3, up: 2 }
  const open = (more: Partial<CarrierConfig> = {}) => {
    const t = setUp({ probe, targets: ['sip:a.example'], ...more })
    t.trunks.start()
    t.clock.advance(15_000)
    /** Answers the ping that is out, and waits for the next one. */
    const reply = (status: number, headers = {}) => {
      t.srf.requests.at(-1)!.reply(status, headers)
      t.clock.advance(30_000)
    }
    return { ...t, reply, isUp: () => t.first.targets[0]!.isUp }
  }

  it('are OPTIONS: the first at a random time in the interval, then one per interval', () => {
    const t = open()
    const [ping] = t.srf.requests
    expect([ping?.uri, ping?.options.method]).toEqual(['sip:a.example', 'OPTIONS'])
    expect(ping?.options.headers).toMatchObject({ From: '<sip:localhost>', 'User-Agent': 'Trunkline' })
    for (const status of [200, 200, 200]) t.reply(status)
    expect(t.srf.requests).toHaveLength(4)
  })

  it.each([200, 403, 404, 405, 481, 500, 501, 603])('succeed with a %i', (status) => {
    const t = open()
    for (let i = 0; i < 5; i++) t.reply(status)
    expect(t.isUp()).toBe(true)
  })

  it('show the health with the first answer; without one it is unknown', async () => {
    const t = open()
    const [target] = t.first.targets
    expect([target?.state, target?.since, await t.metric('carrier_up')]).toEqual(['unknown', undefined, []])
    const at = t.clock.now()
    t.reply(200)
    expect(target).toMatchObject({ state: 'up', since: at, lastPing: { at, status: 200 } })
    expect(await t.metric('carrier_up')).toEqual([
      'trunkline_carrier_up{carrier="c0",target="sip:a.example"} 1',
    ])
    t.reply(503)
    expect(target).toMatchObject({ state: 'up', since: at, lastPing: { status: 503 } })
  })

  it.each([408, 503])(
    'fail with a %i: the target is down after three, and up after two successes',
    async (status) => {
      const t = open()
      t.reply(status)
      t.reply(status)
      expect(t.isUp()).toBe(true)
      t.reply(status)
      expect(t.isUp()).toBe(false)
      expect(await t.metric('carrier_up')).toEqual([
        'trunkline_carrier_up{carrier="c0",target="sip:a.example"} 0',
      ])
      t.reply(200)
      expect(t.isUp()).toBe(false)
      t.reply(200)
      expect(t.isUp()).toBe(true)
      expect(t.logged.map(({ msg, carrier }) => [carrier, msg])).toEqual([
        ['c0', 'target of a carrier does not answer'],
        ['c0', 'target of a carrier answers again'],
      ])
    },
  )

  it('are not sent to a private host for a customer’s carrier', async () => {
    const t = open({ guarded: true, targets: ['sip:10.0.0.1', 'sip:a.example'] })
    for (let ping = 0; ping < 3; ping++) {
      for (let turn = 0; turn < 5; turn++) await Promise.resolve()
      t.reply(200)
    }
    expect(new Set(t.srf.requests.map(({ uri }) => uri))).toEqual(new Set(['sip:a.example']))
    expect(t.logged).toEqual([expect.objectContaining({ target: 'sip:10.0.0.1', problem: 'private' })])
  })

  it('report why a target is unreachable, if the agent knows', () => {
    const t = open()
    for (let i = 0; i < 3; i++) {
      t.srf.requests.at(-1)!.unreachable('tls 192.0.2.1:5061 (a.example): self-signed certificate')
      t.clock.advance(30_000)
    }
    expect(t.logged).toEqual([
      expect.objectContaining({
        status: 503,
        problem: 'tls 192.0.2.1:5061 (a.example): self-signed certificate',
      }),
    ])
  })

  it('time out after 8 s, and are sent again after the interval; a late answer is ignored', () => {
    const t = open()
    const [silent] = t.srf.requests
    for (let i = 0; i < 3; i++) t.clock.advance(8_000 + 30_000)
    expect(t.isUp()).toBe(false)
    expect(t.srf.requests).toHaveLength(4)
    silent!.reply(200)
    expect(t.logged).toEqual([expect.objectContaining({ problem: 'no answer within 8 s' })])
  })

  it('pause during the Retry-After of a 503', () => {
    const t = open()
    t.reply(503, { 'Retry-After': '100' })
    expect(t.srf.requests).toHaveLength(1)
    expect(t.first.targets[0]!.isUsable(t.clock.now())).toBe(false)
    t.clock.advance(70_000)
    expect(t.srf.requests).toHaveLength(2)
  })

  it('do not change the target’s state while the gateway’s own agent is unavailable', () => {
    const t = open()
    t.srf.requests.at(-1)!.reply(200)
    t.srf.broken = new Error('no connection')
    t.clock.advance(300_000)
    expect(t.isUp()).toBe(true)
    t.srf.broken = undefined
    t.clock.advance(30_000)
    expect(t.srf.requests).toHaveLength(2)
  })

  it('answer the carrier’s challenge with its credentials', () => {
    const t = open({ auth: { username: 'u 1', password: 'p' } })
    t.srf.requests.at(-1)!.reply(401, { 'WWW-Authenticate': 'Digest realm="r", nonce="n"' })
    const [first, again] = t.srf.requests.map(({ options }) => options.headers)
    expect(again?.Authorization).toContain('uri="sip:a.example"')
    expect([again?.['Call-ID'], again?.CSeq]).toEqual([first?.['Call-ID'], '2 OPTIONS'])
    expect(first?.From).toBe('<sip:u%201@localhost>')
  })

  it('leave no timer behind', () => {
    const t = open()
    t.trunks.close()
    expect(t.clock.running).toBe(0)
  })
})

describe('the registration of a carrier', () => {
  const account: Partial<CarrierConfig> = {
    targets: ['sip:reg.example;transport=tcp', 'sip:other.example'],
    auth: { username: '+4930', password: 'hush' },
    register: { expiresMs: 3_600_000 },
  }
  const challenge = { 'WWW-Authenticate': 'Digest realm="reg.example", nonce="1", qop="auth"' }
  const open = (more: Partial<CarrierConfig> = {}) => {
    const t = setUp({ ...account, ...more })
    t.trunks.start()
    t.clock.advance(100)
    return { ...t, last: () => t.srf.requests.at(-1)! }
  }
  const state = async (t: ReturnType<typeof open>) =>
    (await t.metric('registration_state')).filter((line) => line.endsWith(' 1'))

  it('reports why the carrier is unreachable, if the agent knows', () => {
    const t = open()
    t.last().unreachable('tls 192.0.2.1:5061 (reg.example): the certificate names no host')
    expect(t.logged).toEqual([
      expect.objectContaining({
        status: 503,
        why: 'tls 192.0.2.1:5061 (reg.example): the certificate names no host',
      }),
    ])
  })

  it('begins with an added carrier and ends with a removed one, and leaves nothing open', async () => {
    const t = open()
    t.last().reply(200, { Expires: '600' })
    const { config } = t.first
    const other = testCarrier({ ...account, name: 'other', targets: ['sip:new.example'] })
    t.carriers.change([config, other])
    t.clock.advance(200)
    expect(t.last().uri).toBe('sip:new.example')
    t.last().reply(200, { Expires: '600' })
    expect(await state(t)).toHaveLength(2)
    t.carriers.change([other])
    expect(t.last().uri).toBe('sip:reg.example;transport=tcp')
    expect(t.last().options.headers).toMatchObject({ Expires: '0', CSeq: '2 REGISTER' })
    t.last().reply(200, {})
    expect(await state(t)).toEqual(['trunkline_registration_state{carrier="other",state="registered"} 1'])
    t.trunks.close()
    expect(t.clock.running).toBe(0)
  })

  it('is not sent to a private host for a customer’s carrier', async () => {
    const t = open({ targets: ['sip:10.0.0.1'], guarded: true })
    for (let i = 0; i < 3; i++) {
      await new Promise(setImmediate)
      t.clock.advance(10_000)
    }
    expect(t.srf.requests).toEqual([])
    expect(t.logged).toContainEqual(expect.objectContaining({ why: 'private' }))
    t.trunks.close()
    await new Promise(setImmediate)
    expect(t.clock.running).toBe(0)
  })

  it('of a changed carrier begins after the removal of the old one', async () => {
    const t = open()
    t.last().reply(200, { Expires: '600' })
    const { config } = t.first
    t.carriers.change([{ ...config, maxCalls: 7 }])
    t.clock.advance(1_000)
    // As the contact is the same, what takes the old one back would take the new one back, too.
    expect(t.srf.requests).toHaveLength(2)
    expect(t.last().options.headers.Expires).toBe('0')
    t.last().reply(200, {})
    await new Promise(setImmediate)
    t.clock.advance(200)
    expect(t.srf.requests).toHaveLength(3)
    expect(t.last().options.headers).toMatchObject({ Expires: '3600', CSeq: '1 REGISTER' })
    // One that goes while the one before is taken back does not begin at all.
    t.last().reply(200, { Expires: '600' })
    t.carriers.change([{ ...config, maxCalls: 8 }])
    t.carriers.change([])
    t.last().reply(200, {})
    await new Promise(setImmediate)
    t.clock.advance(1_000)
    expect(t.srf.requests).toHaveLength(4)
    t.trunks.close()
    expect(t.clock.running).toBe(0)
  })

  it('learns the realm of the carrier, also for its pings and calls', () => {
    const t = open()
    t.last().reply(401, challenge)
    t.last().reply(200, { Expires: '600' })
    const { credentials } = t.first
    expect(credentials?.learned).toEqual({ realm: 'reg.example' })
    const [hop] = t.first.hops({
      uri: parseSipUri('sip:1@reg.example')!,
      headers: () => ({}),
      isNumber: false,
    })
    expect(hop?.credentials?.learned).toEqual({ realm: 'reg.example' })
  })

  it('is sent to the first target, with one Call-ID, a rising CSeq, and credentials after a challenge', async () => {
    const t = open()
    expect(t.last().uri).toBe('sip:reg.example;transport=tcp')
    expect(t.last().options.headers).toMatchObject({
      To: '<sip:+4930@reg.example>',
      Contact: '<sip:+4930@localhost>',
      Expires: '3600',
      CSeq: '1 REGISTER',
    })
    t.last().reply(401, challenge)
    expect(t.last().options.headers.Authorization).toContain('uri="sip:reg.example;transport=tcp", ')
    t.last().reply(200, {
      Contact: '<sip:+4930@192.0.2.1:5060>;expires=60, <sip:+4930@localhost>;expires=600',
      Expires: '30',
    })
    expect(await state(t)).toEqual(['trunkline_registration_state{carrier="c0",state="registered"} 1'])
    // Half of the time granted to the gateway's contact; the known nonce is reused.
    t.clock.advance(299_999)
    expect(t.srf.requests).toHaveLength(2)
    t.clock.advance(1)
    const { headers } = t.last().options
    expect([headers.CSeq, headers.Authorization]).toEqual([
      '3 REGISTER',
      expect.stringContaining('nc=00000002'),
    ])
    expect(new Set(t.srf.requests.map(({ options }) => options.headers['Call-ID'])).size).toBe(1)
    expect(JSON.stringify(t.logged)).not.toContain('hush')
  })

  it('stops after three wrong passwords, and the carrier gets no calls', async () => {
    const t = open()
    for (const _ of [1, 2, 3]) {
      t.last().reply(401, challenge)
      t.last().reply(401, challenge)
      t.clock.advance(7_000)
    }
    expect(t.srf.requests).toHaveLength(6)
    expect(t.first.isRejected()).toBe(true)
    expect(await state(t)).toEqual(['trunkline_registration_state{carrier="c0",state="rejected"} 1'])
  })

  it('is not answered for another realm', () => {
    const t = open({ auth: { username: 'u', password: 'p', realm: 'mine' } })
    t.last().reply(401, challenge)
    expect(t.srf.requests).toHaveLength(1)
  })

  it('follows Min-Expires and Retry-After', () => {
    const t = open()
    t.last().reply(423, { 'Min-Expires': '7200' })
    expect(t.last().options.headers.Expires).toBe('7200')
    t.last().reply(503, { 'Retry-After': '60' })
    t.clock.advance(59_999)
    expect(t.srf.requests).toHaveLength(2)
    t.clock.advance(1)
    expect(t.srf.requests).toHaveLength(3)
  })

  it('is removed when the gateway stops', async () => {
    const t = open()
    t.last().reply(200)
    let drained = false
    const done = t.trunks.drain().then(() => {
      drained = true
    })
    expect(t.last().options.headers.Expires).toBe('0')
    await Promise.resolve()
    expect(drained).toBe(false)
    t.last().reply(200)
    await done
    expect(await state(t)).toEqual(['trunkline_registration_state{carrier="c0",state="disabled"} 1'])
    t.trunks.close()
    expect([t.clock.running, t.srf.requests.length]).toEqual([0, 2])
  })

  it('leaves no timer, whatever the agent does', () => {
    const t = open()
    t.trunks.close()
    t.last().reply(200)
    expect(t.clock.running).toBe(0)
    const silent = open()
    silent.clock.advance(40_000)
    expect(silent.carriers.all[0]?.isRejected()).toBe(false)
    silent.trunks.close()
    expect(silent.clock.running).toBe(0)
  })

  it('starts at a random time in a window after the gateway’s start', () => {
    let chance = 0
    const clock = new FakeClock()
    const srf = new FakeSrf()
    const configs = Array.from({ length: 10 }, (_, i) => testCarrier({ ...account, name: `c${i}` }))
    const log = pino({ level: 'silent' })
    const requests = new CarrierRequests(srf, clock, log, new GatewayHeaders())
    const carriers = new CarrierDirectory(configs, clock)
    const random = () => chance++ / 10
    const trunks = new Trunks({ carriers, requests, metrics: new Metrics(), clock, log, random })
    trunks.start()
    clock.advance(999)
    expect(srf.requests).toHaveLength(5)
    clock.advance(1_000)
    expect(srf.requests).toHaveLength(10)
  })

  it('uses the configured user of the carrier as its account', () => {
    const t = open({ identity: { from: { user: 'line7' }, host: 'voip.example', header: 'none' } })
    expect(t.last().options.headers).toMatchObject({
      To: '<sip:line7@voip.example>',
      Contact: '<sip:line7@localhost>',
    })
  })
})
