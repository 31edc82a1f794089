import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiTestSite } from '../testing/api-test-site.ts'
import { type OpenApi, type Operation, operationsOf } from '../testing/openapi-operations.ts'
import { isApiPath } from './api-family.ts'
import type { ListedRoute } from './route-list.ts'

let rig: ApiTestSite
let document: OpenApi
let operations: Operation[]

beforeAll(async () => {
  rig = await ApiTestSite.open()
  document = (await rig.site.inject('/openapi.json')).json()
  operations = operationsOf(document)
})
afterAll(() => rig.close())

/** Operations of which something is missing. */
const without = (has: (operation: Operation) => unknown) =>
  operations.filter((one) => !has(one)).map(({ method, path }) => `${method} ${path}`)

/** Fields without a description, as `place.name`. */
const fieldsWithoutText = (part: unknown, place = ''): string[] => {
  if (typeof part !== 'object' || part === null) return []
  return Object.entries(part).flatMap(([key, value]) => {
    const here = key === 'properties' ? Object.entries(value as Record<string, object>) : []
    const missing = here.filter(([, schema]) => !('description' in schema || '$ref' in schema))
    return [...missing.map(([name]) => `${place}.${name}`), ...fieldsWithoutText(value, `${place}/${key}`)]
  })
}

/** Paths that need no authentication. */
const open = ['/api/console/session', '/api/fabric/embeds/tokens', '/api/video/conference_tokens/exchange']

describe('the OpenAPI document', () => {
  it('has version 3.1 and the two security schemes', () => {
    expect(document.openapi).toBe('3.1.0')
    expect(document.components).toMatchObject({
      securitySchemes: { project: { scheme: 'basic' }, subscriber: { scheme: 'bearer' } },
      schemas: { Errors: { required: ['errors'] }, RelayErrors: {}, CompatError: {} },
    })
  })

  it('describes every route of the API', () => {
    const described = new Set(operations.map(({ method, path }) => `${method} ${path}`))
    const routes = rig.site.routeList.all.filter(({ method, url }) => method !== 'HEAD' && isApiPath(url))
    expect(routes.length).toBeGreaterThan(50)
    const nameOf = ({ method, url }: ListedRoute) => `${method} ${url.replaceAll(/:(\w+)/g, '{$1}')}`
    const missing = routes.map(nameOf).filter((name) => !described.has(name))
    expect(missing).toEqual([])
  })

  it('gives each operation an id, a summary, tags, its security and its responses', () => {
    expect(without(({ operationId }) => operationId)).toEqual([])
    expect(without(({ summary }) => summary && !summary.endsWith('.'))).toEqual([])
    expect(without(({ tags = [] }) => tags.length > 0)).toEqual([])
    expect(without(({ security, path }) => (security?.length ?? 0) > 0 || open.includes(path))).toEqual([])
    expect(
      without(({ responses }) => Object.keys(responses).some((status) => status.startsWith('2'))),
    ).toEqual([])
    const ids = operations.map(({ operationId }) => operationId)
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
  })

  it('shows each operation once in the reference, and says of which path another one is an alias', () => {
    const paths = new Set(Object.keys(document.paths))
    const hidden = operations.filter((one) => one['x-scalar-ignore'])
    expect(hidden.length).toBeGreaterThan(20)
    for (const { method, description } of hidden) {
      const main = new RegExp(`^Same as \`${method} (/\\S+)\`\\.$`).exec(description ?? '')?.[1]
      expect(paths).toContain(main)
    }
  })

  it('has texts that say more than that the operation returns something', () => {
    const shown = operations.filter((one) => !one['x-scalar-ignore'])
    const uses = Map.groupBy(shown, ({ description }) => description)
    const frequent = [...uses].filter(([, all]) => all.length > 20).map(([text]) => text)
    expect(frequent).toEqual([])
  })

  it('describes each operation, parameter, field and response', () => {
    expect(without(({ description }) => description?.endsWith('.'))).toEqual([])
    const parameters = operations.flatMap(({ path, parameters: given = [] }) =>
      given.filter(({ description }) => !description).map(({ name }) => `${path} ${name}`),
    )
    expect(parameters).toEqual([])
    expect(fieldsWithoutText(document)).toEqual([])
    expect(
      without(({ responses }) =>
        Object.values(responses).every(({ description }) => description !== 'Default Response'),
      ),
    ).toEqual([])
  })

  it('has named schemas for the bodies of requests and of successful responses', () => {
    const bodies = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ operationId, requestBody, responses }) =>
        [requestBody, ...Object.values(responses)].flatMap((part) =>
          Object.values(part?.content ?? {}).map(({ schema }) => ({ operationId, schema })),
        ),
      ),
    )
    const unnamed = bodies.filter(({ schema = {} }) => 'properties' in schema)
    expect(unnamed.map(({ operationId }) => operationId)).toEqual([])
    expect(bodies.length).toBeGreaterThan(200)
    const names = Object.keys(document.components.schemas)
    expect(names).toEqual(expect.arrayContaining(['Subscriber', 'SubscriberCreate', 'CallPlay']))
    expect(names.filter((name) => !/^[A-Z][A-Za-z]*$/.test(name))).toEqual([])
  })

  it('has only schemas that compile', async () => {
    await rig.site.compiled.all()
  })

  it('describes the errors of each operation', () => {
    expect(without(({ responses }) => responses['429']?.content?.['application/json']?.schema)).toEqual([])
  })
})
