import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { faultsOf } from '../testing/test-scripts.ts'
import { readScriptDocument } from './document.ts'
import { methods } from './methods/index.ts'
import { scriptSchema } from './schema.ts'

describe('the published schema', () => {
  const accepts = new Ajv({ allowUnionTypes: true }).compile(scriptSchema)
  const document = (...main: unknown[]) => ({ sections: { main } })

  it('describes every parameter', () => {
    for (const [name, spec] of methods) {
      for (const [key, schema] of Object.entries(spec.properties)) {
        expect(schema.description, `${name}.${key}`).toBeTypeOf('string')
      }
    }
  })

  it.each([
    ['answer'],
    [{ hangup: null }],
    [{ sleep: 5 }],
    [{ sleep: { duration: 5 } }],
    [{ play: { url: 'say:a' } }],
    [{ prompt: { play: ['say:a'], max_digits: '3' } }],
    [{ connect: { serial_parallel: [[{ to: '/public/alice' }]], answer_on_bridge: true } }],
  ])('accepts %j, like the reader', (step) => {
    expect(accepts(document(step))).toBe(true)
    expect(readScriptDocument({ text: JSON.stringify(document(step)) }).main.steps).toHaveLength(1)
  })

  it.each([
    ['dance'],
    ['play'],
    [{ play: {} }],
    [{ play: { url: 'say:a', urls: ['say:a'] } }],
    [{ sleep: 'x' }],
    [{ hangup: { reason: 'x' } }],
  ])('rejects %j, like the reader', (step) => {
    expect(accepts(document(step))).toBe(false)
    expect(faultsOf([step])).not.toEqual([])
  })
})

describe('the file of the schema', () => {
  it('matches the code', () => {
    const file = readFileSync(new URL('schema.json', import.meta.url), 'utf8')
    expect(JSON.parse(file), 'run node_modules/.bin/node handlers/script/write-schema.ts').toEqual(
      scriptSchema,
    )
  })

  it('contains no dangling reference', () => {
    const text = JSON.stringify(scriptSchema)
    const names = [...text.matchAll(/"\$ref":"#\/definitions\/(\w+)"/g)].map(([, name]) => name)
    expect([...new Set(names)].toSorted()).toEqual(Object.keys(scriptSchema.definitions as object).toSorted())
  })
})
