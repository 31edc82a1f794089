import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { generate } from 'selfsigned'
import { afterEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import type { Resolve } from './guarded-lookup.ts'
import { closeAll, failureOf, make, reasonOf, serve, servers } from './testing/customer-servers.ts'

afterEach(closeAll)

const get = (url: string) => ({ url, method: 'GET' as const })

/** A resolver that knows what a test tells it, and counts how often it is asked. */
const resolver = (answers: Record<string, readonly string[]>) => {
  const asked: string[] = []
  const resolve: Resolve = (hostname, done) => {
    asked.push(hostname)
    const addresses = answers[hostname]
    if (!addresses) return done(Object.assign(new Error('none'), { code: 'ENOTFOUND' }), [])
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
  return { resolve, asked }
}

describe('a document', () => {
  it('is posted for with body and content type, and comes back with its own', async () => {
    const server = await serve((_request, response) => {
      response.setHeader('content-type', 'text/xml; charset=iso-8859-1')
      response.end(Buffer.from([0x3c, 0xe9, 0x3e]))
    })
    const body = { contentType: 'application/x-www-form-urlencoded', text: 'a=1' }
    const document = await make().document({ url: `${server.url}/x?y=1#ot=100`, method: 'POST', body }, 'p')
    expect(document).toEqual({
      url: `${server.url}/x?y=1#ot=100`,
      contentType: 'text/xml; charset=iso-8859-1',
      text: '<é>',
    })
    expect(server.seen).toMatchObject([{ body: 'a=1', request: { method: 'POST', url: '/x?y=1' } }])
    expect(server.seen[0]?.request.headers).toMatchObject({
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': 'Trunkline',
      host: `127.0.0.1:${server.port}`,
    })
    expect(server.seen[0]?.request.headers.authorization).toBeUndefined()
  })

  it('is asked for with Basic authentication when the URL has credentials', async () => {
    const server = await serve((_request, response) => response.end('ok'))
    await make().document(get(server.url.replace('//', '//me:p%40ss@')), 'p')
    const { authorization } = server.seen[0]?.request.headers ?? {}
    expect(authorization).toBe(`Basic ${Buffer.from('me:p@ss').toString('base64')}`)
  })

  it.each([304, 404, 500])(
    'that is answered with %i is a failure, without the secrets of its URL',
    async (status) => {
      const server = await serve((_request, response) => response.writeHead(status).end('no'))
      const error = await failureOf(
        make().document(get(`${server.url.replace('//', '//me:pa55@')}/x?key=pa55#pa55`), 'p'),
      )
      expect(error.facts).toEqual({ url: `${server.url}/x`, reason: 'status', status })
      expect(`${error.message}${error.stack}${JSON.stringify(error.facts)}`).not.toContain('pa55')
    },
  )

  it.each(['ftp://127.0.0.1/', 'file:///etc/passwd', 'not a url', ''])(
    'is not fetched from %j',
    async (url) => {
      expect(await reasonOf(make().document(get(url), 'p'))).toBe('scheme')
    },
  )

  it('is a failure without a listener', async () => {
    const server = await serve((_request, response) => response.end())
    servers.splice(0)[0]?.close()
    expect(await reasonOf(make().document(get(server.url), 'p'))).toBe('connect')
  })

  it('is a failure when it is compressed without a request for that', async () => {
    const server = await serve((_request, response) => {
      response.setHeader('content-encoding', 'gzip')
      response.end('x')
    })
    expect(await reasonOf(make().document(get(server.url), 'p'))).toBe('encoding')
  })
})

describe('addresses', () => {
  it.each([
    'http://127.0.0.2:1/',
    'http://127.1:1/',
    'http://0x7f000002:1/',
    'http://2130706434:1/',
    'http://[::1]:1/',
    'http://[::ffff:127.0.0.2]:1/',
    'http://10.0.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://0.0.0.0:1/',
  ])('are refused when they are not public: %s', async (url) => {
    const allowedNetworks = url.includes('127.1:') ? [] : ['127.0.0.1/32']
    expect(await reasonOf(make({ allowedNetworks }).document(get(url), 'p'))).toBe('address-refused')
  })

  it('are refused when any address of a name is not public', async () => {
    const { resolve } = resolver({ 'app.example': ['127.0.0.1', '10.0.0.1'] })
    const error = await failureOf(make({ resolve }).document(get('http://app.example:1/'), 'p'))
    expect(error.facts).toMatchObject({ reason: 'address-refused', address: '10.0.0.1' })
  })

  it('are refused for localhost by the system resolver when loopback is not allowed', async () => {
    const server = await serve((_request, response) => response.end('secret'))
    const client = make({ allowedNetworks: [] })
    expect(await reasonOf(client.document(get(`http://localhost:${server.port}/`), 'p'))).toBe(
      'address-refused',
    )
    expect(server.seen).toHaveLength(0)
  })

  it('are refused as soon as their network is no longer allowed, also over a connection that is open', async () => {
    const server = await serve((_request, response) => response.end('here'))
    const client = make()
    const settings = { timeoutMs: 5_000, cacheBytes: 0 }
    const url = `http://localhost:${server.port}/`
    expect((await client.document(get(url), 'p')).text).toBe('here')
    client.change({ ...settings, allowedNetworks: [] })
    expect(await reasonOf(client.document(get(url), 'p'))).toBe('address-refused')
    client.change({ ...settings, allowedNetworks: ['127.0.0.0/8', '::1/128'] })
    expect((await client.document(get(url), 'p')).text).toBe('here')
  })

  it('of a name are resolved once, checked, and are what is connected to', async () => {
    const server = await serve((_request, response) => response.end('pinned'))
    // The second answer would be another one, as in a rebinding attack.
    const answers = { 'app.example': ['127.0.0.1'] }
    const { resolve, asked } = resolver(answers)
    const changing: Resolve = (hostname, done) => {
      resolve(hostname, done)
      answers['app.example'] = ['127.0.0.3']
    }
    const client = make({ resolve: changing })
    const document = await client.document(get(`http://app.example:${server.port}/`), 'p')
    expect(document.text).toBe('pinned')
    expect(asked).toEqual(['app.example'])
    expect(server.seen[0]?.request.headers.host).toBe(`app.example:${server.port}`)
    expect(server.seen[0]?.request.socket.localAddress).toBe('127.0.0.1')
  })

  it('do not take the place of the name in TLS, and a certificate of an unknown authority is refused', async () => {
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'app.example' }])
    const names: string[] = []
    const SNICallback = (name: string, done: (error: null) => void) => {
      names.push(name)
      done(null)
    }
    const server = createTlsServer({ key, cert, SNICallback }, (_request, response) => response.end('secret'))
    servers.push(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { resolve } = resolver({ 'app.example': ['127.0.0.1'] })
    const { port } = server.address() as AddressInfo
    const error = await failureOf(make({ resolve }).document(get(`https://app.example:${port}/`), 'p'))
    expect(error.message).toContain('DEPTH_ZERO_SELF_SIGNED_CERT')
    expect(error.facts.reason).toBe('tls')
    expect(names).toEqual(['app.example'])
  })

  it('are a failure when a name has none', async () => {
    const { resolve } = resolver({ 'empty.example': [] })
    expect(await reasonOf(make({ resolve }).document(get('http://none.example/'), 'p'))).toBe('dns')
    expect(await reasonOf(make({ resolve }).document(get('http://empty.example/'), 'p'))).toBe('connect')
  })
})

describe('redirects', () => {
  const redirecting =
    (status: number, location: string): RequestListener =>
    (request, response) => {
      if (request.url === '/end') response.end('there')
      else response.writeHead(status, { location }).end('moved')
    }

  it.each([
    [302, 'GET', ''],
    [303, 'GET', ''],
    [307, 'POST', 'a=1'],
    [308, 'POST', 'a=1'],
  ])('with %i are followed by %s', async (status, method, body) => {
    const server = await serve(redirecting(status, '/end'))
    const url = `${server.url.replace('//', '//me:pw@')}/start`
    const wanted = { url, method: 'POST', body: { contentType: 'text/plain', text: 'a=1' } } as const
    const document = await make().document(wanted, 'p')
    expect(document).toMatchObject({ text: 'there', url: `${server.url.replace('//', '//me:pw@')}/end` })
    expect(server.seen[1]).toMatchObject({ body, request: { method } })
    expect(server.seen[1]?.request.headers.authorization).toBe(server.seen[0]?.request.headers.authorization)
  })

  it('do not carry credentials to another server', async () => {
    const other = await serve((_request, response) => response.end('other'))
    const server = await serve(redirecting(302, `${other.url}/end`))
    await make().document(get(server.url.replace('//', '//me:pw@')), 'p')
    expect(other.seen[0]?.request.headers.authorization).toBeUndefined()
  })

  it('are followed three times and no more', async () => {
    const server = await serve((request, response) => {
      const left = Number(request.url?.slice(1))
      if (left === 0) response.end('there')
      else response.writeHead(302, { location: `/${left - 1}` }).end()
    })
    expect((await make().document(get(`${server.url}/3`), 'p')).text).toBe('there')
    expect(await reasonOf(make().document(get(`${server.url}/4`), 'p'))).toBe('redirects')
  })

  it.each(['http://127.0.0.2:1/', 'http://10.0.0.1/', 'http://[::1]:1/'])(
    'to the private address %s are refused',
    async (location) => {
      const server = await serve(redirecting(302, location))
      expect(await reasonOf(make().document(get(server.url), 'p'))).toBe('address-refused')
    },
  )

  it('to a name with a private address are refused', async () => {
    const { resolve } = resolver({ 'inside.example': ['192.168.0.1'] })
    const server = await serve(redirecting(302, 'http://inside.example/'))
    expect(await reasonOf(make({ resolve }).document(get(server.url), 'p'))).toBe('address-refused')
  })

  it('to another scheme are refused', async () => {
    const server = await serve(redirecting(302, 'file:///etc/passwd'))
    expect(await reasonOf(make().document(get(server.url), 'p'))).toBe('scheme')
  })
})

describe('limits', () => {
  it('stop a body that says it is too large, and one that does not say so', async () => {
    const honest = await serve((_request, response) => response.end('x'.repeat(101)))
    expect(await reasonOf(make({ maxBytes: 100 }).document(get(honest.url), 'p'))).toBe('too-large')
    const endless = await serve((_request, response) => {
      const more = () => {
        while (response.write('x'.repeat(10_000))) {}
        response.once('drain', more)
      }
      more()
    })
    expect(await reasonOf(make({ maxBytes: 100_000 }).document(get(endless.url), 'p'))).toBe('too-large')
  })

  it('let a body of just the largest size pass', async () => {
    const server = await serve((_request, response) => {
      response.setHeader('content-type', 'audio/wav')
      response.end(Buffer.alloc(100, 7))
    })
    const { bytes, contentType } = await make().bytes(server.url, { maxBytes: 100 })
    expect([bytes.length, bytes[99], contentType]).toEqual([100, 7, 'audio/wav'])
    expect(await reasonOf(make().bytes(server.url, { maxBytes: 99 }))).toBe('too-large')
  })

  it('stop a server that does not answer', async () => {
    const clock = new FakeClock()
    const client = make({ clock })
    const server = await serve(() => clock.advance(5000))
    const running = client.document(get(server.url), 'p')
    expect(client.running).toBe(1)
    expect(await reasonOf(running)).toBe('timeout')
    expect([client.running, clock.running]).toEqual([0, 0])
  })

  it('stop a server whose body drips', async () => {
    const clock = new FakeClock()
    const server = await serve((_request, response) => {
      response.write('a', () => clock.advance(5000))
    })
    expect(await reasonOf(make({ clock }).document(get(server.url), 'p'))).toBe('timeout')
  })

  it('count redirects into the one time-out', async () => {
    const clock = new FakeClock()
    const server = await serve((request, response) => {
      clock.advance(2600)
      if (request.url === '/') response.writeHead(302, { location: '/b' }).end()
    })
    expect(await reasonOf(make({ clock }).document(get(server.url), 'p'))).toBe('timeout')
    expect(server.seen).toHaveLength(2)
  })
})

describe('closing', () => {
  it('gives up an aborted request', async () => {
    const clock = new FakeClock()
    const client = make({ clock })
    const controller = new AbortController()
    const server = await serve(() => controller.abort())
    const { signal } = controller
    expect(await reasonOf(client.bytes(server.url, { maxBytes: 10, signal }))).toBe('given-up')
    expect([client.running, clock.running]).toEqual([0, 0])
  })

  it('gives up what is on its way, refuses what comes later, and may happen twice', async () => {
    const clock = new FakeClock()
    const client = make({ clock })
    const server = await serve(() => client.close())
    expect(await reasonOf(client.document(get(server.url), 'p'))).toBe('closed')
    client.close()
    expect(await reasonOf(client.document(get(server.url), 'p'))).toBe('closed')
    expect([client.running, clock.running]).toEqual([0, 0])
  })
})
