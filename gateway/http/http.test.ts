import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { makeAuthority } from '@trunkline/sip-agent/testing/certificates'
import type { FastifyInstance } from 'fastify'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { loadCertificate } from '../auth/certificate.ts'
import { catalogue } from '../core/errors/catalogue.ts'
import type { HttpServers } from './http-servers.ts'
import { ApiTestSite, asProject } from './testing/api-test-site.ts'

let rig: ApiTestSite
let servers: HttpServers
let site: FastifyInstance

beforeAll(async () => {
  rig = await ApiTestSite.open()
  for (const [name, file, text] of [
    ['console', 'index.html', '<!doctype html><title>Trunkline</title>'],
    ['sdk', 'index.js', 'export {}'],
  ] as const) {
    mkdirSync(join(rig.folder, name))
    writeFileSync(join(rig.folder, name, file), text)
  }
  servers = rig.servers()
  site = await servers.site()
})
beforeEach(() => {
  // The counts of all attempts have expired.
  rig.clock.advance(3_600_000)
  rig.reasons = []
  rig.lines.length = 0
})
afterEach(() => servers.close())
afterAll(async () => {
  await site.close()
  await rig.close()
})

const signIn = (email: string, password: string, remoteAddress = '192.0.2.1') =>
  site.inject({ method: 'POST', url: '/api/console/session', payload: { email, password }, remoteAddress })

const get = async (url: string, token?: string) =>
  site.inject({
    url,
    headers: { authorization: `Bearer ${token ?? (await rig.tokenOf('alice@example.test'))}` },
  })

describe('signing in', () => {
  it('returns a token that the API accepts', async () => {
    const reply = await signIn('alice@example.test', 'wonder')
    expect(reply.statusCode).toBe(200)
    expect(reply.json()).toMatchObject({
      expires_at: rig.clock.now() / 1000 + 24 * 3600,
      subscriber: { email: 'alice@example.test', display_name: 'Alice', address: '/public/alice' },
    })
    expect((await get('/api/fabric/subscriber/info', reply.json().token)).statusCode).toBe(200)
  })

  it('answers the same for an unknown e-mail and a wrong password', async () => {
    const wrong = await signIn('alice@example.test', 'nope')
    const unknown = await signIn('unknown@example.test', 'nope')
    expect(wrong.statusCode).toBe(401)
    expect(wrong.json()).toEqual(unknown.json())
    expect(wrong.json().errors[0]).toMatchObject({ type: 'authentication_error', code: 'unauthorized' })
  })

  it('limits attempts of a network on an e-mail to a number a minute', async () => {
    for (let i = 0; i < 10; i++) await signIn('alice@example.test', 'nope', '192.0.2.99')
    const refused = await signIn('alice@example.test', 'wonder', '192.0.2.99')
    expect(refused.statusCode).toBe(429)
    expect(refused.headers['retry-after']).toBe('60')
    rig.clock.advance(60_000)
    expect((await signIn('alice@example.test', 'wonder', '192.0.2.99')).statusCode).toBe(200)
  })

  it('limits attempts of one network address on any e-mail', async () => {
    for (let i = 0; i < 30; i++) await signIn(`x${i}@example.test`, 'nope')
    expect((await signIn('alice@example.test', 'wonder')).statusCode).toBe(429)
    expect((await signIn('alice@example.test', 'wonder', '192.0.2.2')).statusCode).toBe(200)
  })

  it('does not count rejected attempts of a network address against the e-mail', async () => {
    for (let i = 0; i < 30; i++) await signIn(`x${i}@example.test`, 'nope')
    for (let i = 0; i < 10; i++) await signIn('alice@example.test', 'nope')
    expect((await signIn('alice@example.test', 'wonder', '192.0.2.2')).statusCode).toBe(200)
  })

  it('counts all addresses of an IPv6 /64 as one', async () => {
    for (let i = 0; i < 30; i++) await signIn(`x${i}@example.test`, 'nope', `2001:db8::${i + 1}`)
    expect((await signIn('alice@example.test', 'wonder', '2001:db8::ffff')).statusCode).toBe(429)
    expect((await signIn('alice@example.test', 'wonder', '2001:db8:0:1::1')).statusCode).toBe(200)
  })

  it('names the missing field', async () => {
    const reply = await site.inject({ method: 'POST', url: '/api/console/session', payload: { email: 'a' } })
    expect(reply.statusCode).toBe(422)
    expect(reply.json().errors[0]).toMatchObject({ type: 'validation_error', attribute: 'password' })
  })

  it('is open to the softphone and to configured origins alone, also in the preflight', async () => {
    const from = async (origin: string, method: 'POST' | 'OPTIONS', on = site) =>
      on.inject({
        method,
        url: '/api/console/session',
        headers: { origin, host: 'gw.example.test', 'access-control-request-method': 'POST' },
        ...(method === 'POST' && { payload: { email: 'alice@example.test', password: 'wonder' } }),
      })
    expect((await from('https://gw.example.test', 'POST')).statusCode).toBe(200)
    for (const method of ['POST', 'OPTIONS'] as const)
      expect((await from('https://evil.test', method)).headers['access-control-allow-origin']).toBeUndefined()
    const refused = await from('https://evil.test', 'POST')
    expect(refused.statusCode).toBe(403)
    expect(refused.json().errors[0].code).toBe('not_permitted')
    const named = await rig.servers({ origins: ['*', 'https://app.example.test'] }).site()
    expect((await from('https://evil.test', 'POST', named)).statusCode).toBe(403)
    expect((await from('https://app.example.test', 'POST', named)).statusCode).toBe(200)
    expect(
      (await from('https://app.example.test', 'OPTIONS', named)).headers['access-control-allow-origin'],
    ).toBe('https://app.example.test')
    await named.close()
  })

  it('logs neither password nor token', async () => {
    const reply = await signIn('alice@example.test', 'wonder')
    await get(`/api/fabric/subscriber/info?token=${reply.json().token}`, reply.json().token)
    expect(rig.lines.join('')).toContain('/api/console/session')
    expect(rig.lines.join('')).not.toContain('wonder')
    expect(rig.lines.join('')).not.toContain(reply.json().token)
  })
})

describe('the API', () => {
  it('returns the subscriber of the token', async () => {
    const body = (await get('/api/fabric/subscriber/info')).json()
    expect(body).toMatchObject({
      email: 'alice@example.test',
      first_name: 'Alice',
      app_settings: { scopes: [] },
      fabric_addresses: [
        { name: 'alice', type: 'subscriber', channels: { audio: '/public/alice?channel=audio' } },
      ],
    })
  })

  it('rejects missing, wrong and expired tokens with 401', async () => {
    const token = await rig.tokenOf('alice@example.test')
    const none = await site.inject({ url: '/api/fabric/subscriber/info' })
    expect(none.statusCode).toBe(401)
    expect(none.headers['www-authenticate']).toBe('Bearer')
    const wrong = await get('/api/fabric/addresses', 'nonsense')
    expect([wrong.statusCode, wrong.headers['www-authenticate']]).toEqual([
      401,
      'Bearer error="invalid_token"',
    ])
    rig.clock.advance(601_000)
    const expired = await get('/api/fabric/subscriber/info', token)
    expect(expired.statusCode).toBe(401)
    expect(expired.json().errors[0].message).toContain('expired')
  })

  it('lists addresses in pages with links', async () => {
    const first = (await get('/api/fabric/addresses?page_size=2&sort_order=desc')).json()
    expect(first.data.map((a: { name: string }) => a.name)).toEqual(['phone', 'help'])
    expect(first.links.prev).toBeUndefined()
    const second = (await get(first.links.next)).json()
    expect(second.data.map((a: { name: string }) => a.name)).toEqual(['desk', 'alice'])
    expect(second.links.next).toBeUndefined()
    expect((await get(second.links.prev)).json().data).toEqual(first.data)
  })

  it('finds addresses by name, full name, type and display name', async () => {
    const names = async (query: string) =>
      (await get(`/api/fabric/addresses?${query}`)).json().data.map((a: { name: string }) => a.name)
    expect(await names('name=help')).toEqual(['help'])
    expect(await names(`name=${encodeURIComponent('/private/desk')}`)).toEqual(['desk'])
    expect(await names('name=/private/desk')).toEqual(['desk'])
    expect(await names('type=subscriber')).toEqual(['alice'])
    expect(await names('type=call')).toEqual(['phone'])
    expect((await get('/api/fabric/addresses?type=endpoint')).statusCode).toBe(422)
    expect(await names('display_name=he')).toEqual(['help'])
    expect(await names('name=none')).toEqual([])
  })

  it('returns an address by its id, and 404 for others', async () => {
    const { id } = rig.directory.resources.findByAddress('p1', 'public', 'help')!.address
    expect((await get(`/api/fabric/addresses/${id}`)).json()).toMatchObject({ id })
    const missing = await get('/api/fabric/addresses/none')
    expect(missing.statusCode).toBe(404)
    expect(missing.json().errors[0].code).toBe('unknown_address')
  })

  it('answers unknown paths with a JSON 404', async () => {
    const reply = await get('/api/none?x=1')
    expect(reply.statusCode).toBe(404)
    expect(reply.json().errors[0]).toMatchObject({
      code: 'not_found',
      message: 'No route for GET /api/none.',
    })
  })

  it('rejects a page size that is not a number', async () => {
    expect((await get('/api/fabric/addresses?page_size=x')).json().errors[0]).toMatchObject({
      attribute: 'page_size',
    })
  })
})

describe('cross-origin requests', () => {
  const preflight = (origin: string, on = site) =>
    on.inject({
      method: 'OPTIONS',
      url: '/api/fabric/subscriber/info',
      headers: {
        origin,
        host: 'gw.example.test',
        'access-control-request-method': 'DELETE',
        'access-control-request-headers': 'authorization,content-type',
      },
    })

  it('pass the preflight with their headers and methods', async () => {
    const reply = await preflight('https://app.example.test')
    expect(reply.statusCode).toBe(204)
    expect(reply.headers['access-control-allow-origin']).toBe('https://app.example.test')
    expect(reply.headers['access-control-allow-methods']).toContain('DELETE')
    expect(reply.headers['access-control-allow-headers']).toContain('authorization')
  })

  it('may send an idempotency key, and can read the rate limit headers', async () => {
    const reply = await preflight('https://app.example.test')
    expect(reply.headers['access-control-allow-headers']).toContain('idempotency-key')
    const got = await site.inject({
      url: '/api/fabric/addresses',
      headers: {
        origin: 'https://app.example.test',
        host: 'fabric.example.test',
        authorization: `Bearer ${await rig.tokenOf('alice@example.test')}`,
      },
    })
    expect(got.statusCode).toBe(200)
    expect(got.headers['access-control-expose-headers']).toContain('ratelimit-remaining')
    expect(got.headers['ratelimit-remaining']).toMatch(/^\d+$/)
  })

  it('carry the header on errors too, so that the page can read the status', async () => {
    const reply = await site.inject({
      url: '/api/fabric/subscriber/info',
      headers: { origin: 'https://a.test' },
    })
    expect(reply.statusCode).toBe(401)
    expect(reply.headers['access-control-allow-origin']).toBe('https://a.test')
  })

  it('are rejected for origins outside a configured list', async () => {
    const strict = await rig.servers({ origins: ['https://app.example.test'] }).site()
    expect(
      (await preflight('https://evil.test', strict)).headers['access-control-allow-origin'],
    ).toBeUndefined()
    expect((await preflight('https://app.example.test', strict)).headers['access-control-allow-origin']).toBe(
      'https://app.example.test',
    )
    await strict.close()
  })
})

describe('operators', () => {
  it('see health, readiness with reasons, and metrics', async () => {
    expect((await site.inject('/healthz')).statusCode).toBe(200)
    expect((await site.inject('/readyz')).json()).toEqual({ status: 'ready', reasons: [] })
    rig.reasons = ['draining']
    const draining = await site.inject('/readyz')
    expect(draining.statusCode).toBe(503)
    expect(draining.json().reasons).toEqual(['draining'])
    const metrics = await site.inject('/metrics')
    expect(metrics.headers['content-type']).toContain('text/plain')
    expect(metrics.body).toContain('trunkline_rejections_total')
  })

  it.each([
    ['127.0.0.1', 200],
    ['127.3.2.1', 200],
    ['::1', 200],
    ['0.0.0.0', 404],
    ['::', 404],
    ['192.0.2.1', 404],
  ])('have no metrics on a public plain listener: %s is %i', async (address, status) => {
    const open = await rig.servers({ plain: { address, port: 0 } }).site()
    expect((await open.inject('/metrics')).statusCode).toBe(status)
    expect((await open.inject('/healthz')).statusCode).toBe(200)
    await open.close()
  })

  it('have a listener of their own if one is configured', async () => {
    servers = rig.servers({ metrics: { address: '127.0.0.1', port: 0 } })
    await servers.listen()
    const { plain, metrics } = servers.addresses
    expect((await fetch(`http://127.0.0.1:${plain!.port}/metrics`)).status).toBe(404)
    expect((await fetch(`http://127.0.0.1:${metrics!.port}/metrics`)).status).toBe(200)
    expect((await fetch(`http://127.0.0.1:${metrics!.port}/config.json`)).status).toBe(404)
    expect(servers.upgradable).toHaveLength(1)
  })
})

describe('the pages', () => {
  it('come with a policy that lets them reach their own WebSocket and nothing else', async () => {
    const reply = await site.inject({ url: '/', headers: { host: 'localhost:8080' } })
    expect(reply.body).toContain('Trunkline')
    const policy = String(reply.headers['content-security-policy'])
    expect(policy).toContain("connect-src 'self' ws://localhost:8080 wss://localhost:8080;")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("worker-src 'self'")
    expect(reply.headers['x-content-type-options']).toBe('nosniff')
  })

  it('do not use a forged Host header in the policy', async () => {
    const reply = await site.inject({ url: '/', headers: { host: "x; script-src 'unsafe-inline'" } })
    expect(reply.headers['content-security-policy']).not.toContain('unsafe')
  })

  it('serve the SDK to every page, and no parent folder', async () => {
    const reply = await site.inject('/sdk/index.js')
    expect(reply.statusCode).toBe(200)
    expect(reply.headers['cross-origin-resource-policy']).toBe('cross-origin')
    expect((await site.inject('/sdk/../console/index.html')).statusCode).not.toBe(200)
    expect((await site.inject('/sdk/%2e%2e/console/index.html')).statusCode).not.toBe(200)
  })

  it('serve the settings of the page', async () => {
    expect((await site.inject('/config.json')).json()).toMatchObject({
      name: 'Trunkline',
      websocket_path: '/',
      push: null,
    })
  })

  it('serve the key of push notifications if they are set up', async () => {
    const pushing = await rig.servers({}, undefined, 'BP4z').site()
    expect((await pushing.inject('/config.json')).json().push).toEqual({ application_server_key: 'BP4z' })
    await pushing.close()
  })

  it('answer 404 if they are not built', async () => {
    rmSync(join(rig.folder, 'console'), { recursive: true })
    const bare = await rig.servers().site()
    expect((await bare.inject('/')).statusCode).toBe(404)
    await bare.close()
    expect(rig.lines.join('')).toContain('not built')
  })
})

describe('the listeners', () => {
  it('serve the same routes over TLS, except the metrics', async () => {
    const certificate = await loadCertificate(
      { hosts: ['localhost'], dataDir: rig.folder },
      { now: () => Date.parse('2030-01-01') },
      { info: () => {}, warn: () => {} },
    )
    servers = rig.servers({ plain: false, tls: { address: '127.0.0.1', port: 0, hosts: [] } }, certificate)
    await servers.listen()
    const port = servers.addresses.tls!.port
    const status = (path: string) => {
      const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
      httpsRequest({ host: '127.0.0.1', port, path, rejectUnauthorized: false }, (reply) => {
        reply.resume()
        resolve(reply.statusCode)
      })
        .on('error', reject)
        .end()
      return promise
    }
    expect(await status('/healthz')).toBe(200)
    expect(await status('/readyz')).toBe(200)
    // A public port must not serve metrics.
    expect(await status('/metrics')).toBe(404)
  })

  it('send Strict-Transport-Security on every response if the operator has configured a certificate', async () => {
    const { certificate: cert, key } = await (await makeAuthority()).issue({ common: 'gw' })
    const header = async (certificate?: string, path = '/healthz') => {
      const tls = {
        address: '127.0.0.1',
        port: 0,
        hosts: [],
        ...(certificate && { certificate, key: 'k.pem' }),
      }
      const secure = await rig.servers({ tls }, { cert, key }).site({ cert, key })
      const { headers } = await secure.inject(path)
      await secure.close()
      return headers['strict-transport-security']
    }
    for (const path of ['/healthz', '/nothing', '/'])
      expect(await header('c.pem', path)).toBe('max-age=15552000')
    expect(await header()).toBeUndefined()
    expect((await site.inject('/healthz')).headers['strict-transport-security']).toBeUndefined()
  })

  it('use another certificate without a restart', async () => {
    const authority = await makeAuthority()
    const issue = async (common: string) => {
      const { certificate: cert, key } = await authority.issue({ common })
      return { cert, key }
    }
    servers = rig.servers(
      { plain: false, tls: { address: '127.0.0.1', port: 0, hosts: [] } },
      await issue('first'),
    )
    await servers.listen()
    const port = servers.addresses.tls!.port
    const shown = async () => {
      const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
      await once(socket, 'secureConnect')
      const { subject } = socket.getPeerCertificate()
      socket.destroy()
      return subject.CN
    }
    expect(await shown()).toBe('first')
    servers.renew(await issue('second'))
    expect(await shown()).toBe('second')
  })

  it('report the address that is in use, and close every listener', async () => {
    servers = rig.servers()
    await servers.listen()
    const { port } = servers.addresses.plain!
    const second = rig.servers({ plain: { address: '127.0.0.1', port } })
    await expect(second.listen()).rejects.toThrow(
      `http.plain: cannot listen on tcp 127.0.0.1:${port}: the port is taken`,
    )
    expect(second.upgradable).toHaveLength(0)
    await second.close()
  })
})

describe('errors', () => {
  it('link to a page that explains their code', async () => {
    const wrong = await rig.ask('POST', '/api/fabric/subscribers', {})
    const [fault] = wrong.json().errors
    expect(fault.url).toBe('http://localhost:80/docs/errors/missing_required_parameter')
    const page = await site.inject(new URL(fault.url).pathname)
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.body).toContain('A field is missing.')
    const compat = await rig.ask('GET', '/api/laml/2010-04-01/Accounts/p1/Nothing')
    expect((await site.inject(new URL(compat.json().more_info).pathname)).statusCode).toBe(200)
    for (const code of Object.keys(catalogue))
      expect((await site.inject(`/docs/errors/${code}`)).body).toContain(`<code>${code}</code>`)
    expect((await site.inject('/docs/errors')).body).toContain('/docs/errors/invalid_field')
    expect((await site.inject('/docs/errors/none')).statusCode).toBe(404)
    const strange = await site.inject({ url: '/api/none', headers: { host: '"><script>' } })
    expect(strange.json().errors[0].url).toBe('/docs/errors/not_found')
  })

  it('report a fault once, and show no regular expression', async () => {
    const form = async (body: string) => {
      const url = '/api/laml/2010-04-01/Accounts/p1/Calls.json'
      const headers = { ...asProject(), 'content-type': 'application/x-www-form-urlencoded' }
      return (await site.inject({ method: 'POST', url, headers, payload: body })).json().message
    }
    expect(await form('From=%2B15550100&To=x%0Ay&Url=http://a.example/x')).toMatch(
      /^To does not have the expected form/,
    )
    expect(await form('From=%2B15550100&Url=http://a.example/x')).toBe('To is missing.')
    expect(await form('From=%2B15550100&To=%2B15550101')).not.toContain('A field is missing.')
    const name = await rig.ask('POST', '/api/fabric/resources/swml_scripts', {
      name: 'a',
      address: 'no path',
    })
    for (const { message } of name.json().errors) expect(message).not.toMatch(/[\^\\]|pattern/)
    const token = (
      await rig.make('/api/fabric/guests/tokens', {
        allowed_addresses: [rig.directory.resources.findByAddress('p1', 'public', 'help')!.address.id],
      })
    ).token
    const payload = { device_type: 'Desktop', device_token: 'x' }
    const refused = await rig.askAs({ method: 'POST', url: '/subscriber/devices', token, payload })
    expect(refused.json().errors[0].message).toBe('Only a subscriber’s own token permits this.')
  })
})
