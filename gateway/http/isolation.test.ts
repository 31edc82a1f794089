import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiTestSite, asProject, ours, type TestProject, theirs } from './testing/api-test-site.ts'
import { type Operation, operationsOf } from './testing/openapi-operations.ts'
import { bodiesOf, makeSampleResources, pathOf, type SampleResources } from './testing/sample-resources.ts'

let rig: ApiTestSite
let operations: Operation[]
let own: SampleResources
let foreign: SampleResources
let bearers: ReadonlyMap<TestProject, string>

beforeAll(async () => {
  rig = await ApiTestSite.open()
  operations = operationsOf((await rig.site.inject('/openapi.json')).json())
  own = await makeSampleResources(rig, ours)
  foreign = await makeSampleResources(rig, theirs)
  bearers = new Map([
    [ours, await rig.tokenOf('alice@example.test', ours)],
    [theirs, await rig.tokenOf('alice@example.test', theirs)],
  ])
})
afterAll(() => rig.close())

const asked = ({ security = [] }: Operation, project: TestProject) =>
  security.some((one) => 'project' in one)
    ? asProject(project)
    : { authorization: `Bearer ${bearers.get(project)}` }

const isForm = ({ path }: Operation): boolean => path.includes('/Accounts/')

/** Fields with which each request that changes something is not refused for its body. */
const bodyFor = ({ path, method }: Operation): object | undefined => {
  if (method === 'GET' || method === 'DELETE') return undefined
  const collection = path.replace(/\/\{\w+\}$/, '')
  const made = bodiesOf('x')[method === 'POST' ? path : collection]
  return { ...made, ...further[path] }
}

const streamServer = 'rtmp://live.example/app/key'

const further: Readonly<Record<string, object>> = {
  '/api/fabric/resources/ai_agents/{id}/versions': { document_version: 1 },
  '/api/fabric/resources/{id}/domain_applications': { domain_application_id: crypto.randomUUID() },
  '/api/fabric/resources/{id}/sip_endpoints': { sip_endpoint_id: crypto.randomUUID() },
  '/api/fabric/resources/subscribers/{id}/sip_endpoints': { username: 'four-x', password: 'long enough' },
  '/api/laml/2010-04-01/Accounts/{account}/Calls/{sid}': { Status: 'completed' },
  '/api/laml/2010-04-01/Accounts/{account}/Calls/{sid}/Recordings/{part}': { Status: 'stopped' },
  '/api/laml/2010-04-01/Accounts/{account}/Calls/{sid}/Streams': { Url: 'wss://customer.example/' },
  '/api/laml/2010-04-01/Accounts/{account}/Calls/{sid}/Streams/{part}': { Status: 'stopped' },
  '/api/laml/2010-04-01/Accounts/{account}/Conferences/{sid}': { Status: 'completed' },
  '/api/laml/2010-04-01/Accounts/{account}/Conferences/{sid}/Participants/{part}': { Muted: 'true' },
  '/api/video/conferences/{id}/streams': { url: streamServer },
  '/api/video/room_sessions/{id}': { locked: true },
  '/api/video/room_sessions/{id}/streams': { url: streamServer },
  '/api/video/rooms/{id}/streams': { url: streamServer },
  '/api/video/streams/{id}': { url: streamServer },
  '/api/video/room_sessions/{id}/members/{member_id}': { audio_muted: true },
  '/api/laml/2010-04-01/Accounts/{account}/Queues/{sid}/Members/{part}': { Url: 'https://customer.example/' },
}

const ask = (operation: Operation, path: string, project: TestProject, body = bodyFor(operation)) =>
  rig.site.inject({
    method: operation.method as 'GET',
    url: path,
    headers: {
      ...asked(operation, project),
      ...(body && {
        'content-type': isForm(operation) ? 'application/x-www-form-urlencoded' : 'application/json',
      }),
    },
    ...(body && {
      payload: isForm(operation)
        ? new URLSearchParams(body as Record<string, string>).toString()
        : JSON.stringify(body),
    }),
  })

const nameOf = ({ method, path }: Operation): string => `${method} ${path}`
const named = () => operations.filter(({ path }) => path.includes('{'))

/** Ids that other projects must not see: all except those of the projects. */
const idsOf = (things: SampleResources): string[] =>
  [...things.values()].filter((id) => id !== ours.id && id !== theirs.id)

/** Returns the paths of a foreign object: below the account of its project, and below the asking one. */
const foreignPaths = (path: string): string[] => {
  const theirsWhole = pathOf(foreign, path)
  if (!path.includes('{account}')) return [theirsWhole]
  const account = '/api/laml/2010-04-01/Accounts/{account}'
  const below = new Map(foreign).set(account, ours.id)
  return path === account ? [theirsWhole] : [theirsWhole, pathOf(below, path)]
}

const answersOf = async (things: SampleResources, project: TestProject) =>
  Promise.all(
    named()
      .filter(({ method, path }) => method === 'GET' && !path.endsWith('/audio'))
      .map(async (operation) => {
        const { statusCode, body } = await ask(operation, pathOf(things, operation.path), project)
        return [nameOf(operation), statusCode, body.replaceAll(/"url":"[^"]*signature=[^"]*"/g, '')] as const
      }),
  )

describe('two projects', () => {
  it('see their own objects', async () => {
    for (const [things, project] of [
      [own, ours],
      [foreign, theirs],
    ] as const) {
      const missing = (await answersOf(things, project)).filter(([, status]) => status !== 200)
      expect(missing).toEqual([])
    }
  })

  it('neither see nor change an object of the other on any route with an id', async () => {
    const before = await answersOf(foreign, theirs)
    const wrong: string[] = []
    for (const operation of named()) {
      const paths = foreignPaths(operation.path)
      // A list under the account of the asking project is its own.
      const last = operation.path.endsWith('}') || /\{(id|sid)\}/.test(operation.path)
      for (const path of last ? paths : paths.slice(0, 1)) {
        const { statusCode, body } = await ask(operation, path, ours)
        const seen = idsOf(foreign).filter((id) => body.includes(id))
        if (statusCode !== 404 || seen.length > 0)
          wrong.push(`${nameOf(operation)} at ${path}: ${statusCode} ${body.slice(0, 200)}`)
      }
    }
    expect(wrong).toEqual([])
    expect(await answersOf(foreign, theirs)).toEqual(before)
  })

  it('find no object of the other in lists, also with links of the other', async () => {
    const wrong: string[] = []
    const lists = operations.filter(({ method, path }) => method === 'GET' && !/\{(id|sid)/.test(path))
    for (const operation of lists) {
      const reply = await ask(operation, pathOf(own, operation.path), ours)
      expect([nameOf(operation), reply.statusCode]).toEqual([nameOf(operation), 200])
      const link = linkOf(await ask(operation, pathOf(foreign, operation.path) + first(operation), theirs))
      const stolen = link && (await ask(operation, link.replace(`/${theirs.id}/`, `/${ours.id}/`), ours))
      for (const { body } of stolen ? [reply, stolen] : [reply])
        if (idsOf(foreign).some((id) => body.includes(id)))
          wrong.push(`${nameOf(operation)}: ${body.slice(0, 300)}`)
    }
    expect(wrong).toEqual([])
  })

  it('cannot refer to an object of the other in a body', async () => {
    const at = (path: string) => foreign.get(path)
    const script = at('/api/fabric/resources/swml_scripts/{id}')
    const flow = at('/api/fabric/resources/call_flows/{id}')
    const domain = { name: 'x', identifier: 'x-taking' }
    const endpoint = { username: 'taking', password: 'long enough' }
    const taking: readonly (readonly [string, object])[] = [
      ['/api/fabric/guests/tokens', { allowed_addresses: [at('/api/fabric/addresses/{id}')] }],
      ['/api/fabric/subscriber/invites', { address_id: at('/api/fabric/addresses/{id}') }],
      ['/api/relay/rest/domain_applications', { ...domain, calling_handler_resource_id: script }],
      ['/api/relay/rest/domain_applications', { ...domain, call_handler: 'call_flow', call_flow_id: flow }],
      [
        '/api/fabric/resources/sip_endpoints',
        { ...endpoint, call_handler: 'resource', calling_handler_resource_id: script },
      ],
      [
        `/api/fabric/resources/${own.get('/api/fabric/resources/swml_scripts/{id}')}/domain_applications`,
        { domain_application_id: at('/api/relay/rest/domain_applications/{id}') },
      ],
    ]
    for (const [url, payload] of taking) {
      const headers = url.includes('/subscriber/')
        ? { authorization: `Bearer ${bearers.get(ours)}` }
        : asProject(ours)
      const { statusCode } = await rig.site.inject({ method: 'POST', url, payload, headers })
      expect([url, [404, 422].includes(statusCode), statusCode]).toEqual([url, true, statusCode])
    }
  })
})

describe('fields that a project must not set', () => {
  const forced = { id: 'x', project_id: theirs.id, type: 'x', created_at: 1, updated_at: 1, managed_by: 'x' }
  const more = { password_hash: 'x', managed_by_file: false, projectId: theirs.id, hash: 'x', disabled: true }

  it('are rejected by name in every body', async () => {
    const wrong: string[] = []
    const changes = operations.filter(
      ({ method, path, requestBody }) =>
        ['POST', 'PUT', 'PATCH'].includes(method) && requestBody && !isForm({ path } as Operation),
    )
    expect(changes.length).toBeGreaterThan(40)
    for (const operation of changes) {
      const body = { ...bodyFor(operation), ...forced, ...more }
      const { statusCode, body: text } = await ask(operation, pathOf(own, operation.path), ours, body)
      if (statusCode !== 422 || !text.includes('project'))
        wrong.push(`${nameOf(operation)}: ${statusCode} ${text.slice(0, 200)}`)
    }
    expect(wrong).toEqual([])
  })
})

describe('credentials', () => {
  it('are required on every route except the sign-in of the softphone', async () => {
    const open = operations.filter(({ path }) => path !== '/api/console/session')
    for (const operation of open) {
      const { statusCode } = await rig.site.inject({
        method: operation.method as 'GET',
        url: pathOf(own, operation.path),
        ...(operation.requestBody && { payload: {} }),
      })
      expect([nameOf(operation), [401, 415, 422].includes(statusCode), statusCode]).toEqual([
        nameOf(operation),
        true,
        statusCode,
      ])
    }
  })

  it('of one kind are rejected where the other kind is required', async () => {
    for (const operation of operations.filter(({ security }) => security?.length === 1)) {
      const isProject = 'project' in operation.security![0]!
      const headers = isProject ? { authorization: `Bearer ${bearers.get(ours)}` } : asProject(ours)
      const { statusCode } = await rig.site.inject({
        method: operation.method as 'GET',
        url: pathOf(own, operation.path),
        headers,
        ...(operation.requestBody && { payload: {} }),
      })
      expect([nameOf(operation), [401, 415, 422].includes(statusCode), statusCode]).toEqual([
        nameOf(operation),
        true,
        statusCode,
      ])
    }
  })
})

const first = ({ path }: Operation): string =>
  isForm({ path } as Operation) ? '?PageSize=1' : '?page_size=1'

/** A link of a list to another page than the first. */
const linkOf = ({ body }: { readonly body: string }): string | undefined => {
  const { links, next_page_uri } = JSON.parse(body)
  return links?.next ?? next_page_uri ?? undefined
}
