import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import pino from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { Metrics } from '../../core/metrics.ts'
import { newSite } from '../http-site.ts'

const open = async () => {
  const site = newSite({
    metrics: new Metrics(),
    clock: new FakeClock(),
    log: pino({ level: 'silent' }),
  })
  onTestFinished(() => site.close())
  site.get('/api/things', async ({ url }) => ({ url }))
  await site.listen({ host: '127.0.0.1', port: 0 })
  const { port } = site.server.address() as AddressInfo
  return async (path: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof answerOf>>>()
    const sent = request({ port, path, headers: { connection: 'close' } }, (answer) =>
      answerOf(answer).then(resolve, reject),
    )
    sent.on('error', reject).end()
    return promise
  }
}

const answerOf = async (answer: Parameters<typeof text>[0] & { statusCode?: number; headers: object }) => ({
  status: answer.statusCode,
  headers: answer.headers,
  body: await text(answer),
})

it.each([
  '/api/things?at=%61',
  '/%61pi/thing%73?at=%61',
  'http://somewhere.example/api/things?at=%61',
  'HTTPS://somewhere.example:8443/%61%70%69/things?at=%61',
])('recognises %s', async (target) => {
  const get = await open()
  const { status, headers, body } = await get(target)
  expect(status).toBe(200)
  expect(JSON.parse(body)).toEqual({ url: '/api/things?at=%61' })
  // Rules for paths cannot be bypassed.
  expect(headers).toMatchObject({ 'cache-control': 'no-store' })
})

it.each(['/api%2Fthings', 'http://somewhere.example', 'http://somewhere.example?at=/api/things', '/%zz'])(
  'finds nothing at %s',
  async (target) => {
    const get = await open()
    expect((await get(target)).status).toBeGreaterThanOrEqual(400)
  },
)
