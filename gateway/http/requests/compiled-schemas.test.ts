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

it('checks and writes from the first request on, whether or not everything was made before', async () => {
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

it('says which schema is wrong', async () => {
  const wrong = { type: 'object', properties: { name: { type: 'nothing' } } }
  await expect((await open({ body: wrong })).compiled.all()).rejects.toThrow(/schema is invalid/)
  await expect((await open({ response: { 200: wrong } })).compiled.all()).rejects.toThrow(/schema is invalid/)
})

it('makes nothing twice, and nothing any more when it is stopped', async () => {
  const compiled = new CompiledSchemas()
  const same = () => structuredClone(named)
  expect(compiled.writer(named)).toBe(compiled.writer(same()))
  expect(compiled.check('body', named)).toBe(compiled.check('body', same()))
  expect(compiled.check('body', named)).not.toBe(compiled.check('text', named))
  compiled.check('body', { type: 'nothing' })
  compiled.stop()
  await compiled.all()
})

it('reads texts as what the schema says, and bodies as they are', () => {
  const schema = { type: 'object', properties: { size: { type: 'integer' } } }
  const compiled = new CompiledSchemas()
  const text = { size: '7' }
  const body = { size: '7' }
  expect([compiled.check('text', schema)(text), compiled.check('body', schema)(body)]).toEqual([true, false])
  expect([text.size, body.size]).toEqual([7, '7'])
})
