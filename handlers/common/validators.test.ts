import { expect, it } from 'vitest'
import { validators } from './validators.ts'

const even = { even: (text: string) => text.length % 2 === 0 }
const schema = {
  type: 'object',
  properties: { name: { type: 'string', format: 'even' }, size: { type: 'integer', default: 7 } },
}

it('returns the errors of a value with what describes them, and adds defaults', () => {
  const errorsOf = validators({ useDefaults: true }, even)(schema)
  const value = { name: 'abcd' }
  expect(errorsOf(value)).toEqual([])
  expect(value).toEqual({ name: 'abcd', size: 7 })
  expect(errorsOf({ name: 'abc', size: 'x' })).toMatchObject([
    { instancePath: '/name', keyword: 'format', data: 'abc', parentSchema: schema.properties.name },
    { instancePath: '/size', keyword: 'type', message: 'must be integer' },
  ])
  expect(errorsOf(value)).toEqual([])
})

it('compiles a schema with the first value, and the description of errors with the first error', () => {
  let reads = 0
  const get = () => {
    reads++
    return 'string'
  }
  const counted = Object.defineProperty({}, 'type', { enumerable: true, get })
  const errorsOf = validators({})(counted)
  expect(reads).toBe(0)
  errorsOf('a')
  const once = reads
  expect(once).toBeGreaterThan(0)
  errorsOf('b')
  expect(reads).toBe(once)
  errorsOf(1)
  expect(reads).toBeGreaterThan(once)
})
