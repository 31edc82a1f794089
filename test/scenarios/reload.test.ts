/** A configuration that changes while the gateway runs: by SIGHUP, by `trunkline reload`, and over HTTP. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { application, scripted } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { Gateway, type WrittenConfig } from '../support/gateway.ts'
import { offer, SipSocket, statusOf } from '../support/sip-socket.ts'
import { until } from '../support/until.ts'

const operatorToken = 'the-operator-of-this-gateway-0123456789'
const talk = scripted('answer', { sleep: -1 })
const dials = scripted(
  { connect: { to: '+4930123456', answer_on_bridge: true } },
  { hangup: { reason: 'busy' } },
)

let gateway: Gateway

beforeAll(async () => {
  gateway = await Gateway.start({
    http: { operatorToken },
    domains: [
      application('talk.test', talk),
      application('closing.test', talk),
      application('out.test', dials),
    ],
    carriers: [{ name: 'acme', targets: ['sip:127.0.0.1:9'], default: true }],
  })
})

afterAll(() => gateway?.stop())

/** Calls a host from 127.0.0.1, and returns the final status. */
const callTo = async (host: string): Promise<number> => {
  const socket = await SipSocket.udp(gateway.sipPort, '127.0.0.1')
  return statusOf(await socket.ask({ method: 'INVITE', uri: `sip:1@${host}`, ...offer() }))
}

const withDomain =
  (...domains: readonly object[]) =>
  (config: WrittenConfig) => ({ ...config, domains: [...config.domains, ...domains] })

const reloaded = async (result: string): Promise<void> => {
  const before = await gateway.metric('config_reloads_total', { result })
  gateway.reload()
  await until(
    `a reload is ${result}`,
    () => gateway.metric('config_reloads_total', { result }),
    (count) => count > before,
  )
}

const post = (body: object, authorization?: string) =>
  fetch(`${gateway.url}/api/operator/reload`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
    body: JSON.stringify(body),
  })

it('SIGHUP applies the changes of the configuration, and calls in progress continue', async () => {
  const talking = await Carrier.calls(gateway, { domain: 'closing.test', scenario: 'call', holdMs: 'manual' })
  await talking.talks('answered', 440)
  gateway.configure((config) => ({
    ...withDomain(application('new.test', talk), { ...application('few.test', talk), maxCalls: 1 })(config),
    log: { level: 'debug' },
    limits: { ...(config.limits as object), calls: 500 },
  }))
  gateway.configure((config) => ({
    ...config,
    domains: config.domains.map((domain) =>
      'domain' in domain && domain.domain === 'closing.test'
        ? { ...domain, allow: ['192.0.2.0/24'] }
        : domain,
    ),
  }))
  expect(await callTo('new.test')).toBe(404)
  await reloaded('applied')
  expect(await callTo('closing.test')).toBe(403)
  const further = await Carrier.calls(gateway, { domain: 'new.test', scenario: 'call', holdMs: 200 })
  await further.done()
  await talking.goesOn()
  await talking.done()
  const line = gateway.log.find(({ event }) => event === 'config.reload-applied')
  expect(line?.applied).toEqual([
    'log.level',
    'limits.calls',
    'domains[closing.test].allow',
    'added domains[new.test]',
    'added domains[few.test]',
  ])
  expect(JSON.stringify(gateway.log)).not.toContain(operatorToken)
  await fetch(`${gateway.url}/config.json`)
  const shown = () => gateway.log.some(({ path }) => path === '/config.json')
  await until('lines of the level debug', shown, Boolean)
  expect(await gateway.metric('config_restart_keys')).toBe(0)
  const age = Date.now() / 1_000 - (await gateway.metric('config_last_reload_timestamp_seconds'))
  expect(age).toBeLessThan(60)
  await gateway.settled()
})

it('a limit from a reload applies to the next call', async () => {
  const first = await Carrier.calls(gateway, { domain: 'few.test', scenario: 'call', holdMs: 'manual' })
  await first.talks('answered', 440)
  expect(await callTo('few.test')).toBe(503)
  await first.goesOn()
  await first.done()
  await gateway.settled()
})

it('a removed carrier gets no new calls, and its calls in progress continue', async () => {
  const callee = await Carrier.listens({ scenario: 'callee' })
  const at = (port: number) => ({ name: 'acme', targets: [`sip:127.0.0.1:${port}`], default: true })
  gateway.configure((config) => ({ ...config, carriers: [at(callee.sipp.port)] }))
  expect((await gateway.reloadCommand()).code).toBe(0)
  const caller = await Carrier.calls(gateway, { domain: 'out.test', scenario: 'call', holdMs: 'manual' })
  await caller.talks('answered', 440)
  await callee.hears(440)
  gateway.configure((config) => ({ ...config, carriers: [] }))
  const { code, body } = await gateway.reloadCommand()
  expect([code, body.result, body.applied]).toEqual([
    0,
    'applied',
    [{ key: 'carriers[acme]', kind: 'removed' }],
  ])
  expect(await callTo('out.test')).toBe(486)
  callee.media.packets.splice(0)
  await callee.hears(440)
  await caller.goesOn()
  await caller.done()
  await gateway.settled()
})

describe('a failed reload', () => {
  it('of an invalid file changes nothing, and reports the key and line of the fault', async () => {
    gateway.configure((config) => ({
      ...withDomain(application('never.test', talk))(config),
      drain: 'a while',
    }))
    const { code, body } = await gateway.reloadCommand()
    expect([code, body.result]).toEqual([2, 'invalid'])
    expect(body.faults).toMatchObject([{ key: 'drain', message: expect.stringContaining('30s') }])
    expect(body.faults[0]?.line).toBeGreaterThan(1)
    await reloaded('invalid')
    expect(await callTo('never.test')).toBe(404)
    expect((await post({}, `Bearer ${operatorToken}`)).status).toBe(422)
    gateway.configure((config) => ({ ...config, drain: '1s' }))
  })

  it('changes nothing if one component cannot apply the configuration', async () => {
    const sip = { certificate: '/no/such.pem', key: '/no/such.key' }
    gateway.configure((config) => ({ ...config, sip: { ...(config.sip as object), tls: sip } }))
    const { code, body } = await gateway.reloadCommand()
    expect([code, body.result]).toEqual([1, 'failed'])
    expect(body.error).toContain('/no/such.pem')
    expect(await callTo('never.test')).toBe(404)
    gateway.configure((config) => ({ ...config, sip: { ...(config.sip as object), tls: {} } }))
  })
})

it('a dry run reports what would change and what needs a restart, and changes nothing', async () => {
  gateway.configure((config) => ({
    ...config,
    http: { ...(config.http as object), publicHost: 'gw.example.test' },
    subscribers: [{ email: 'bob@example.test', password: 'a-password-of-bob' }],
  }))
  const { code, body } = await gateway.reloadCommand('--dry-run')
  expect([code, body.result, body.dry_run]).toEqual([3, 'valid', true])
  expect(body.applied.map(({ key, kind }) => `${kind} ${key}`)).toEqual([
    'added domains[never.test]',
    'removed subscribers[alice@example.test]',
    'added subscribers[bob@example.test]',
  ])
  expect(body.restart_needed).toMatchObject([{ key: 'http.publicHost', kind: 'added' }])
  expect(JSON.stringify(body)).not.toContain('a-password-of-bob')
  expect(await callTo('never.test')).toBe(404)
})

it('the operator can reload over HTTP, and a project cannot', async () => {
  const project = `Basic ${Buffer.from('default:0123456789abcdef').toString('base64')}`
  for (const authorization of [undefined, 'Bearer not-the-token', project])
    expect((await post({}, authorization)).status).toBe(401)
  expect((await post({ dry_run: 'yes' }, `Bearer ${operatorToken}`)).status).toBe(422)
  expect(await callTo('never.test')).toBe(404)
  const answer = await post({}, `Bearer ${operatorToken}`)
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({
    result: 'applied',
    restart_needed: [{ key: 'http.publicHost', reason: expect.stringContaining('tokens') }],
  })
  expect(await gateway.metric('config_restart_keys')).toBe(1)
  const carrier = await Carrier.calls(gateway, { domain: 'never.test', scenario: 'call', holdMs: 200 })
  await carrier.done()
  await gateway.settled()
})
