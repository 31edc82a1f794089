import fc from 'fast-check'
import type { InjectOptions } from 'fastify'
import { hostileBody, hostileTexts, hostileValue } from './hostile-values.ts'
import { bodyOf, type Operation } from './openapi-operations.ts'
import { pathOf, type SampleResources } from './sample-resources.ts'
import { type Schema, valuesOf } from './schema-values.ts'

/** Sources of sample requests. */
export interface RequestsFrom {
  /** Ids of sample resources, for paths. */
  readonly things: SampleResources
  /** Values of `authorization` that are good, of projects and of subscribers. */
  readonly credentials: Readonly<Record<'project' | 'subscriber', string>>
}

/** A request as `inject` takes it. */
export type Request = InjectOptions & { readonly url: string }

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed())

/** Paths: mostly of existing resources, sometimes with an unknown or malformed id. */
const paths = ({ path }: Operation, things: SampleResources): fc.Arbitrary<string> => {
  const good = fc.constant(pathOf(things, path))
  // With an empty id, the path is that of the collection.
  const hostile = hostileTexts.filter((text) => text !== '')
  const ids = fc.oneof(fc.uuid(), fc.constantFrom(...hostile, ...things.values()))
  const other = fc
    .array(ids, { minLength: 4, maxLength: 4 })
    .map((values) => path.replaceAll(/\{\w+\}/g, () => encoded(values.pop() ?? '')))
  return path.includes('{') ? fc.oneof({ weight: 3, arbitrary: good }, other) : good
}

/** Query parameters, sometimes repeated, and sometimes with an unknown one. */
const queries = ({ parameters = [] }: Operation): fc.Arbitrary<string> => {
  const known = parameters.filter((one) => one.in === 'query')
  const one = (name: string, schema: Schema) =>
    fc
      .oneof({ weight: 4, arbitrary: valuesOf(schema) }, hostileValue)
      .map(
        (value) =>
          `${encoded(name)}=${encoded(typeof value === 'object' ? JSON.stringify(value) : String(value))}`,
      )
  const choices = known.map(({ name, schema }) => ({ weight: 3, arbitrary: one(name, schema) }))
  const unknown = fc.constantFrom(
    'x=1',
    '__proto__=1',
    'constructor[prototype]=1',
    '=',
    '&',
    '%',
    'page_token=%00',
  )
  return fc
    .array(fc.oneof(...choices, unknown), { maxLength: 4 })
    .map((all) => (all.length === 0 ? '' : `?${all.join('&')}`))
}

/** A body that fits, changed in one place. */
const changed = (schema: Schema): fc.Arbitrary<unknown> =>
  fc
    .tuple(valuesOf(schema), fc.nat(), hostileValue, fc.constantFrom('set', 'remove', 'add'))
    .chain(([body, at, value, how]) => {
      if (typeof body !== 'object' || body === null || Array.isArray(body)) return fc.constant(value)
      const keys = Object.keys(body)
      const key = how === 'add' || keys.length === 0 ? `extra${at % 10}` : (keys[at % keys.length] as string)
      const { [key]: _old, ...rest } = body as Record<string, unknown>
      return fc.constant(how === 'remove' ? rest : { ...rest, [key]: value })
    })

const asForm = (body: unknown): string => {
  if (typeof body !== 'object' || body === null) return String(body)
  const pairs = Object.entries(body).flatMap(([key, value]) =>
    [value]
      .flat()
      .map((one): [string, string] => [
        key,
        typeof one === 'string' ? one.toWellFormed() : (JSON.stringify(one) ?? ''),
      ]),
  )
  return new URLSearchParams(pairs).toString()
}

const bodies = (operation: Operation): fc.Arbitrary<Pick<InjectOptions, 'payload' | 'headers'>> => {
  const body = bodyOf(operation)
  if (!body) return fc.constant({})
  const { type, schema } = body
  const text = (value: unknown) => (type.includes('json') ? JSON.stringify(value) : asForm(value))
  const headers = { 'content-type': type }
  return fc.oneof(
    { weight: 5, arbitrary: valuesOf(schema).map((value) => ({ payload: text(value), headers })) },
    { weight: 4, arbitrary: changed(schema).map((value) => ({ payload: text(value) ?? '', headers })) },
    hostileBody.map((payload) => ({ payload, headers })),
    fc.constantFrom('text/plain', 'application/xml', 'nonsense').map((other) => ({
      payload: '{}',
      headers: { 'content-type': other },
    })),
  )
}

/** Requests of an operation: valid, almost valid, and hostile ones. */
export const requestsOf = (
  operation: Operation,
  { things, credentials }: RequestsFrom,
): fc.Arbitrary<Request> => {
  const kinds = (operation.security ?? []).flatMap((one) => Object.keys(one))
  const good = Object.entries(credentials).flatMap(([kind, text]) => (kinds.includes(kind) ? [text] : []))
  if (good.length === 0) good.push('Basic none')
  const authorization = fc.oneof(
    { weight: 40, arbitrary: fc.constantFrom(...good) },
    fc.constantFrom(
      undefined,
      '',
      'Basic',
      'Basic !!!',
      'Bearer',
      'Bearer a.b.c',
      'Digest x',
      `Basic ${'A'.repeat(9000)}`,
    ),
  )
  const key = fc.option(fc.constantFrom('k1', 'k2', 'x'.repeat(256)), { nil: undefined, freq: 4 })
  return fc
    .tuple(paths(operation, things), queries(operation), bodies(operation), authorization, key)
    .map(([path, query, { payload, headers }, authorized, idempotency]) => ({
      method: operation.method as 'GET',
      url: `${path}${query}`,
      headers: {
        ...headers,
        ...(authorized !== undefined && { authorization: authorized }),
        ...(operation.method === 'POST' && idempotency !== undefined && { 'idempotency-key': idempotency }),
      },
      ...(payload !== undefined && { payload }),
    }))
}
