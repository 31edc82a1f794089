import { Readable } from 'node:stream'
import { pino } from 'pino'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import { Metrics } from '../core/metrics.ts'
import { newSite } from './http-site.ts'

const schema = {
  params: { type: 'object', properties: { id: { type: 'string', format: 'uuid' } } },
  querystring: { type: 'object', properties: { size: { type: 'integer', maximum: 10 } } },
  body: {
    type: 'object',
    required: ['name', 'kind'],
    additionalProperties: false,
    properties: {
      name: { type: 'string', maxLength: 5 },
      kind: { enum: ['a', 'b'] },
      deep: { type: 'object', properties: { port: { type: 'integer' } } },
    },
  },
} as const
const id = '0d6f3d3c-5f0b-4f6f-9d2c-0a1b2c3d4e5f'
const good = { name: 'x', kind: 'a' }

let lines: string[]

const open = async () => {
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) })
  const site = newSite({ metrics: new Metrics(), clock: new FakeClock(), log })
  onTestFinished(() => site.close())
  for (const base of ['/api/things', '/api/relay/rest/things', '/api/laml/2010-04-01/things']) {
    site.put(`${base}/:id`, { schema }, async ({ body }) => ({ body }))
    site.get(`${base}/:id`, async () => ({ found: true }))
    site.get(`${base}/failing`, async () => {
      throw new Error('a private matter')
    })
    site.get(`${base}/refused`, async () => {
      throw new TrunklineError('invalid_field', 'It is not a valid name.', { attribute: 'name' })
    })
  }
  site.get('/page', async () => ({}))
  const put = (payload: unknown, path = `/api/things/${id}`, headers = {}) =>
    site.inject({
      method: 'PUT',
      url: path,
      headers: { 'content-type': 'application/json', ...headers },
      payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    })
  return { site, put }
}

beforeEach(() => {
  lines = []
})

it('names every missing, wrong and unknown field, and converts no value', async () => {
  const { put } = await open()
  expect((await put(good)).json()).toEqual({ body: good })
  const reply = await put({ name: 'too long', extra: 1, deep: { port: '5060' } })
  expect(reply.statusCode).toBe(422)
  expect(reply.json().errors.map((e: Record<string, unknown>) => [e.code, e.attribute])).toEqual([
    ['missing_required_parameter', 'kind'],
    ['unknown_parameter', 'extra'],
    ['invalid_field', 'name'],
    ['invalid_field', 'deep.port'],
  ])
  expect(reply.json().errors[0]).toEqual({
    type: 'validation_error',
    code: 'missing_required_parameter',
    message: 'kind is missing.',
    attribute: 'kind',
    url: 'http://localhost:80/docs/errors/missing_required_parameter',
  })
  expect((await put({ name: 'x', kind: 'c' })).json().errors[0].message).toContain('a, b')
  expect((await put(good, `/api/things/${id}?size=11`)).json().errors[0]).toMatchObject({
    attribute: 'size',
  })
})

it('reports at most twenty faults', async () => {
  const { put } = await open()
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`field${i}`, i]))
  expect((await put(many)).json().errors).toHaveLength(20)
})

it('reports faults in the form of each family', async () => {
  const { put } = await open()
  expect((await put({ name: 'x' }, `/api/relay/rest/things/${id}`)).json()).toEqual({
    errors: [
      {
        detail: 'kind is missing.',
        status: '422',
        title: 'A field is missing.',
        code: 'missing_required_parameter',
      },
    ],
  })
  const compat = await put({ name: 'x' }, `/2010-04-01/things/${id}`)
  expect(compat.statusCode).toBe(400)
  expect(compat.json()).toEqual({
    code: expect.any(Number),
    message: 'kind is missing.',
    more_info: 'http://localhost:80/docs/errors/missing_required_parameter',
    status: 400,
  })
})

it('answers 404 for a malformed id', async () => {
  const { put } = await open()
  const reply = await put(good, '/api/things/not-an-id')
  expect([reply.statusCode, reply.json().errors[0].code]).toEqual([404, 'unknown_resource'])
})

it('names the field of an error that a route throws', async () => {
  const { site } = await open()
  const reply = await site.inject('/api/things/refused')
  expect(reply.statusCode).toBe(422)
  expect(reply.json().errors[0]).toMatchObject({ code: 'invalid_field', attribute: 'name' })
})

it('shows the cause of an internal error in the log alone', async () => {
  const { site } = await open()
  for (const base of ['/api/things', '/api/relay/rest/things', '/2010-04-01/things']) {
    const reply = await site.inject(`${base}/failing`)
    expect(reply.statusCode).toBe(500)
    expect(reply.body).not.toContain('private')
  }
  expect(lines.join('')).toContain('a private matter')
})

it.each([
  ['{"name":', 'is cut off'],
  ['[]]', 'is no JSON'],
  ['{"name":"x","kind":"a","__proto__":{"admin":true}}', 'reaches prototypes'],
  ['{"name":"x","kind":"a","deep":{"constructor":{"prototype":{"a":1}}}}', 'reaches prototypes within'],
  [`${'['.repeat(101)}${']'.repeat(101)}`, 'is too deep'],
  [`${'{"deep":'.repeat(800)}1${'}'.repeat(800)}`, 'is far too deep'],
])('rejects the body %.20s…, which %s', async (payload) => {
  const { put } = await open()
  const reply = await put(payload)
  expect([reply.statusCode, reply.json().errors[0].code]).toEqual([400, 'bad_request'])
})

it('does not count brackets in strings as depth', async () => {
  const { put } = await open()
  const reply = await put({ name: 'x', kind: 'a', deep: { text: `\\"${'[{'.repeat(200)}` } })
  expect(reply.statusCode).toBe(200)
})

it('rejects bodies of other types and bodies that are too large', async () => {
  const { put } = await open()
  for (const type of ['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'nonsense']) {
    const reply = await put('x', undefined, { 'content-type': type })
    expect([type, reply.statusCode, reply.json().errors[0].code]).toEqual([
      type,
      415,
      'unsupported_media_type',
    ])
    expect(reply.json().errors[0].message).toContain('application/json')
  }
  const large = await put({ ...good, deep: { text: 'x'.repeat(64 << 10) } })
  expect([large.statusCode, large.json().errors[0].code]).toEqual([413, 'body_too_large'])
})

it('names the allowed methods of a path in a 405', async () => {
  const { site } = await open()
  const reply = await site.inject({ method: 'DELETE', url: `/api/things/${id}?x=1` })
  expect([reply.statusCode, reply.headers.allow]).toEqual([405, 'GET, HEAD, PUT'])
  expect(reply.json().errors[0].code).toBe('method_not_allowed')
  expect((await site.inject({ method: 'DELETE', url: '/api/others' })).statusCode).toBe(404)
})

it('reads the method from the request line alone', async () => {
  const { site } = await open()
  const headers = { 'x-http-method-override': 'PUT', 'x-method-override': 'PUT', 'x-http-method': 'PUT' }
  const reply = await site.inject({
    method: 'POST',
    url: `/api/things/${id}?_method=PUT`,
    headers,
    payload: good,
  })
  expect(reply.statusCode).toBe(405)
})

it('answers HEAD like GET without a body, and accepts a trailing slash', async () => {
  const { site } = await open()
  const head = await site.inject({ method: 'HEAD', url: `/api/things/${id}` })
  expect([head.statusCode, head.body, head.headers['content-length']]).toEqual([200, '', '14'])
  expect((await site.inject(`/api/things/${id}/`)).statusCode).toBe(200)
})

it('answers malformed paths with an error of the API', async () => {
  const { site } = await open()
  for (const url of ['/api/things/%zz', `/api/things/${'x'.repeat(500)}`]) {
    const reply = await site.inject(url)
    expect(reply.statusCode).toBeGreaterThanOrEqual(400)
    expect(reply.statusCode).toBeLessThan(500)
    expect(reply.json().errors[0]).toMatchObject({ code: expect.any(String) })
    expect(reply.headers['x-request-id']).toMatch(/^[\da-f-]{36}$/)
  }
})

it('forbids caches to store responses of the API, and gives each an id', async () => {
  const { site } = await open()
  for (const url of [`/api/things/${id}`, '/2010-04-01/things/x', '/api/none']) {
    const { headers } = await site.inject(url)
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    expect(headers['x-request-id']).toMatch(/^[\da-f-]{36}$/)
  }
  expect((await site.inject('/page')).headers['cache-control']).toBeUndefined()
})

it('logs each request without its query, body and credentials', async () => {
  const { put } = await open()
  const reply = await put({ ...good, name: 'hush1' }, `/api/things/${id}?token=hush2`, {
    authorization: 'Bearer hush3',
  })
  const line = JSON.parse(lines.at(-1)!)
  expect(line).toMatchObject({ method: 'PUT', path: `/api/things/${id}`, status: 200 })
  expect(line.request).toBe(reply.headers['x-request-id'])
  expect(lines.join('')).not.toContain('hush')
})

/** Bodies over this size may be sent with credentials alone. */
const anonymousBytes = 8 << 10

describe('a body of a request without credentials', () => {
  it('has at most 8 KB, whatever its Content-Length says', async () => {
    const { put } = await open()
    const padded = (bytes: number) => JSON.stringify(good).padEnd(bytes, ' ')
    expect((await put(padded(anonymousBytes))).statusCode).toBe(200)
    const reply = await put(padded(anonymousBytes + 1))
    expect(reply.statusCode).toBe(413)
    expect(reply.json().errors[0].code).toBe('body_too_large')
    const { site } = await open()
    const chunked = await site.inject({
      method: 'PUT',
      url: `/api/things/${id}`,
      headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
      payload: Readable.from([padded(anonymousBytes), ' ']),
    })
    expect(chunked.statusCode).toBe(413)
  })

  it.each([
    ['/api/nothing', 'not_found'],
    [`/api/things/${id}`, 'method_not_allowed'],
    ['/nothing', 'not_found'],
  ])('is not read if no route accepts it: POST %s is %s', async (url, code) => {
    const { site } = await open()
    let reads = 0
    const payload = new Readable({ read: () => reads++ })
    const headers = { 'content-type': 'application/json' }
    // A body that never ends: an answer to it can only come before it is read.
    const reply = await site.inject({ method: 'POST', url, headers, payload })
    expect(reply.json().errors[0].code).toBe(code)
  })
})
