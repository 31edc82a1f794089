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

/** Paths that need no authentication. */
const open = ['/api/console/session', '/api/fabric/embeds/tokens']

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

  it('has only schemas that compile', async () => {
    await rig.site.compiled.all()
  })

  it('describes the errors of each operation', () => {
    expect(without(({ responses }) => responses['429']?.content?.['application/json']?.schema)).toEqual([])
  })
})
