import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { configSchema } from './config-schema.ts'
import { fitsSchema } from './fits-schema.ts'
import { formats } from './formats.ts'

const ajv = new Ajv({
  useDefaults: true,
  allowUnionTypes: true,
  strictTypes: false,
  formats: Object.fromEntries(Object.entries(formats).map(([name, { validate }]) => [name, validate])),
})
const accepts = ajv.compile(configSchema)
const example = parse(readFileSync(join(import.meta.dirname, '..', 'example.yaml'), 'utf8')) as object
const withoutVariables = JSON.parse(
  JSON.stringify(example)
    .replaceAll(/\$\{[^}]*:-([^}]*)\}/g, '$1')
    .replace('"pretty":"false"', '"pretty":false'),
) as object
const carrier = { name: 'acme', targets: ['sip:gw.acme.example'], identity: { from: { user: 'x' } } }

/** Result and defaults of both ways for the same value. */
const both = (value: unknown) => {
  const read = structuredClone(value)
  const compiled = structuredClone(value)
  return [
    { isValid: fitsSchema(read, configSchema), ...(accepts(compiled) && { value: read }) },
    { isValid: accepts(compiled), ...(accepts(compiled) && { value: compiled }) },
  ]
}

it('accepts the example, and adds the same defaults as the compiled validator', () => {
  for (const value of [{}, withoutVariables, { carriers: [carrier] }]) {
    const [read, compiled] = both(value)
    expect(read?.isValid).toBe(true)
    expect(read).toEqual(compiled)
  }
})

it('refuses what the compiled validator refuses', () => {
  const other = fc.oneof(
    fc.constantFrom(null, true, '', '1s', '10.0.0.0/8', 'x', -1, 0, 0.5, 70_000, 1e9, Number.NaN, [], {}, [
      'x',
    ]),
    fc.jsonValue({ maxDepth: 2 }),
  )
  const places = placesOf({ ...withoutVariables, carriers: [carrier] })
  fc.assert(
    fc.property(fc.constantFrom(...places), other, fc.boolean(), (place, value, isRemoved) => {
      const changed = structuredClone({ ...withoutVariables, carriers: [carrier] })
      change(changed, place, value, isRemoved)
      const [read, compiled] = both(changed)
      expect(read).toEqual(compiled)
    }),
    { numRuns: 1500 },
  )
})

type Path = readonly (string | number)[]

/** Paths of all values, and of an unknown key of each group. */
const placesOf = (value: unknown, path: Path = []): Path[] => {
  if (typeof value !== 'object' || value === null) return [path]
  const list = Array.isArray(value)
  const inner = Object.entries(value).flatMap(([key, each]) =>
    placesOf(each, [...path, list ? Number(key) : key]),
  )
  return [...(path.length > 0 ? [path] : []), ...inner, ...(list ? [] : [[...path, 'unknown']])]
}

const change = (root: object, path: Path, value: unknown, isRemoved: boolean): void => {
  const parent = path.slice(0, -1).reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], root)
  const last = path.at(-1) ?? ''
  if (isRemoved && !Array.isArray(parent)) delete (parent as Record<string, unknown>)[last]
  else (parent as Record<string, unknown>)[last] = value
}
