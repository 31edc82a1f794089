import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { Metrics } from '../../core/metrics.ts'
import { newSite } from '../http-site.ts'
import { CompiledSchemas } from './compiled-schemas.ts'

const open = async (schema: object) => {
  const site = newSite({ metrics: new Metrics(), clock: new FakeClock(), log: pino({ level: 'silent' }) })
  onTestFinished(() => site.close())
  site.post('/api/things', { schema }, async () => ({ name: 'x', secret: 'y' }))
  await site.ready()
  return site
}

const named = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } }
const good = { body: named, response: { 200: named } }

it('validates and serializes from the first request on, with and without prior compilation', async () => {
  for (const isMade of [false, true]) {
    const site = await open(good)
    if (isMade) await site.compiled.all()
    const ask = (payload: object) => site.inject({ method: 'POST', url: '/api/things', payload })
    expect((await ask({ name: 'x' })).body).toBe('{"name":"x"}')
    const refused = await ask({ name: 1 })
    expect([refused.statusCode, refused.json().errors[0].attribute]).toEqual([422, 'name'])
    expect((await ask({})).json().errors[0].code).toBe('missing_required_parameter')
    expect((await ask({ name: 'x' })).statusCode).toBe(200)
  }
})

it('validates routes of a scope, also if the site gets further schemas after it', async () => {
  const site = newSite({ metrics: new Metrics(), clock: new FakeClock(), log: pino({ level: 'silent' }) })
  onTestFinished(() => site.close())
  await site.register(async (scope) => {
    scope.post('/api/things', { schema: good }, async () => ({ name: 'x', secret: 'y' }))
  })
  site.addSchema({ $id: 'Later', type: 'object' })
  const ask = (payload: object) => site.inject({ method: 'POST', url: '/api/things', payload })
  // Fastify's own compiler would convert the number.
  expect((await ask({ name: 1 })).statusCode).toBe(422)
  expect((await ask({ name: 'x' })).body).toBe('{"name":"x"}')
})

it('reports a schema that does not compile', async () => {
  const wrong = { type: 'object', properties: { name: { type: 'nothing' } } }
  await expect((await open({ body: wrong })).compiled.all()).rejects.toThrow(/schema is invalid/)
  await expect((await open({ response: { 200: wrong } })).compiled.all()).rejects.toThrow(/schema is invalid/)
})

it('compiles a schema once, and none after a stop', async () => {
  const compiled = new CompiledSchemas()
  const same = () => structuredClone(named)
  expect(compiled.writer(named)).toBe(compiled.writer(same()))
  expect(compiled.check('body', named)).toBe(compiled.check('body', same()))
  expect(compiled.check('body', named)).not.toBe(compiled.check('text', named))
  compiled.check('body', { type: 'nothing' })
  compiled.stop()
  await compiled.all()
})

it('converts query texts to the type of the schema, and leaves bodies unchanged', () => {
  const schema = { type: 'object', properties: { size: { type: 'integer' } } }
  const compiled = new CompiledSchemas()
  const text = { size: '7' }
  const body = { size: '7' }
  expect([compiled.check('text', schema)(text), compiled.check('body', schema)(body)]).toEqual([true, false])
  expect([text.size, body.size]).toEqual([7, '7'])
})
