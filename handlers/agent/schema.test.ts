import { existsSync, readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readAgent } from './document.ts'
import { agentProperties, agentSchema } from './schema.ts'
import { contextsDemo, infoGatherer, skills } from './testing/documents.ts'

const accepts = new Ajv({ strict: true, allowUnionTypes: true }).compile(agentSchema)

describe('the schema of an agent', () => {
  it.each([
    ['prefab', infoGatherer],
    ['skills', skills],
    ['contexts', contextsDemo],
    ['texts', { prompt: 'Be kind.', post_prompt: null, hints: 'a,b', params: { ai_volume: '5', x: {} } }],
    ['placeholders', { prompt: { text: 'x' }, params: '%{vars.params}', SWAIG: '%{vars.swaig}' }],
  ])('accepts a document with %s', (_name, document) => {
    expect(accepts(document), JSON.stringify(accepts.errors)).toBe(true)
  })

  it.each([
    [{}],
    [{ prompt: 5 }],
    [{ prompt: 'x', params: [] }],
    [{ prompt: 'x', SWAIG: 'x' }],
    [{ prompt: 'x', languages: {} }],
    [{ prompt: { contexts: { default: {} } } }],
    [{ prompt: { contexts: { default: { steps: [] } } } }],
  ])('rejects %j, like the reader', (document) => {
    expect(accepts(document)).toBe(false)
    expect(readAgent(document).faults).not.toEqual([])
  })

  it('describes each of its keys', () => {
    const walk = (properties: object, path: string): void => {
      for (const [key, schema] of Object.entries(properties)) {
        expect(schema.title, `${path}/${key}`).toBeTypeOf('string')
        expect(schema.description, `${path}/${key}`).toMatch(/\.$/)
        for (const inner of [schema, schema.items, schema.additionalProperties])
          if (inner?.properties) walk(inner.properties, `${path}/${key}`)
      }
    }
    walk(agentProperties, '')
  })

  it('names every key that the reader knows', () => {
    const known = (schema: object): object =>
      (schema as { properties?: object }).properties ?? (schema as { items?: object }).items ?? {}
    const params = known(agentProperties.params ?? {})
    const { warnings } = readAgent({
      prompt: 'x',
      params: Object.fromEntries(Object.keys(params).map((key) => [key, null])),
      ...Object.fromEntries(
        Object.keys(agentProperties)
          .slice(2)
          .map((key) => [key, null]),
      ),
    })
    expect(warnings).toEqual([])
  })

  it('accepts whatever the reader accepts', () => {
    const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom('%{x}', 'true', '5', {}, []))
    const step = fc.record({ name: fc.string(), text: value, gather_info: value }, { requiredKeys: [] })
    const contexts = fc.dictionary(fc.constantFrom('default', 'a'), fc.record({ steps: fc.array(step) }))
    const prompt = fc.record(
      { text: value, pom: value, contexts: fc.oneof(contexts, value) },
      { requiredKeys: [] },
    )
    const keys = Object.keys(agentProperties).filter((key) => key !== 'prompt')
    const rest = Object.fromEntries(keys.map((key) => [key, value]))
    const document = fc.record({ prompt: fc.oneof(prompt, fc.constant('x')), ...rest }, { requiredKeys: [] })
    fc.assert(
      fc.property(document, (each) => {
        if (readAgent(each).document) expect(accepts(each), JSON.stringify(accepts.errors)).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })
})

/** Schema of the vendor, which is not part of the project. */
const vendorSchema = new URL('../../../shared/data/swml/SWMLObject.json', import.meta.url)

describe.skipIf(!existsSync(vendorSchema))('the vendor schema (skipped: shared/data/swml is absent)', () => {
  it('accepts the documents of these tests', () => {
    const vendor = JSON.parse(readFileSync(vendorSchema, 'utf8'))
    const valid = new Ajv({ strict: false, allErrors: true }).compile(vendor)
    for (const ai of [infoGatherer, contextsDemo])
      expect(valid({ version: '1.0.0', sections: { main: [{ ai }] } }), JSON.stringify(valid.errors)).toBe(
        true,
      )
  })
})
