import { describe, expect, it } from 'vitest'
import type { HttpRequest, HttpResponse } from '../handler.ts'
import type { Json, McpServer } from './document-types.ts'
import { McpFailed, openMcp } from './mcp.ts'

const server: McpServer = {
  url: 'https://mcp.example/mcp',
  headers: { authorization: 'Bearer x' },
  resources: false,
  resourceVars: {},
}

type Answer = (params: Json, message: Json) => unknown

const standard: Readonly<Record<string, Answer>> = {
  initialize: () => ({ protocolVersion: '2025-03-26', capabilities: { tools: {} } }),
  'tools/list': ({ cursor }) =>
    cursor === undefined
      ? {
          tools: [
            { name: 'add', description: 'Adds', inputSchema: { type: 'object', properties: { a: {} } } },
          ],
          nextCursor: '2',
        }
      : { tools: [{ name: 'sub' }, { name: 'not a name' }, 5] },
  'tools/call': ({ name, arguments: args }) => ({
    content: [{ type: 'text', text: `${name} ${JSON.stringify(args)}` }, { type: 'image' }],
    isError: name === 'sub',
  }),
  'resources/list': () => ({ resources: [{ uri: 'file://a', name: 'a' }] }),
  'resources/templates/list': () => ({
    resourceTemplates: [
      { uriTemplate: 'crm://{customer}', name: 'crm' },
      { uriTemplate: 'x://{none}', name: 'x' },
    ],
  }),
  'resources/read': ({ uri }) => ({
    contents: [{ uri, text: uri === 'file://a' ? '{"k":1}' : `text of ${uri}` }],
  }),
}

/** Server that answers as events or as JSON, and the requests that it received. */
const serve = (answers: Readonly<Record<string, Answer>> = standard, asEvents = false) => {
  const requests: HttpRequest[] = []
  const send = async (request: HttpRequest): Promise<HttpResponse> => {
    requests.push(request)
    const message = JSON.parse(request.body?.text ?? '{}') as Json
    const headers = {
      'mcp-session-id': 's1',
      'content-type': asEvents ? 'text/event-stream' : 'application/json',
    }
    const answer = answers[String(message.method)]
    if (message.id === undefined || !answer)
      return { status: message.id === undefined ? 202 : 404, headers, text: '' }
    const result = answer((message.params ?? {}) as Json, message)
    const text =
      typeof result === 'string' ? result : JSON.stringify({ jsonrpc: '2.0', id: message.id, result })
    const progress = { jsonrpc: '2.0', method: 'notifications/progress' }
    return {
      status: 200,
      headers,
      text: asEvents
        ? `event: message\r\ndata: ${JSON.stringify(progress)}\r\n\r\nid: 5\ndata: ${text}\n\n`
        : text,
    }
  }
  return { requests, send }
}

describe('a server of the Model Context Protocol', () => {
  it.each([false, true])('gives its tools as functions (as events: %s)', async (asEvents) => {
    const { send, requests } = serve(standard, asEvents)
    const { functions, warnings, call, close, resources } = await openMcp(server, send)
    expect(functions).toMatchObject([
      { name: 'add', description: 'Adds', parameters: { properties: { a: {} } } },
      { name: 'sub', description: 'sub' },
    ])
    expect(resources).toEqual({})
    expect(warnings.map(({ path }) => path)).toEqual(['/tools/2/function'])
    expect(await call('add', { a: 1 })).toEqual({ text: 'add {"a":1}', isError: false })
    expect(await call('sub', {})).toEqual({ text: 'sub {}', isError: true })
    await close()
    expect(requests[0]?.headers).toEqual({
      authorization: 'Bearer x',
      accept: 'application/json, text/event-stream',
    })
    expect(requests.at(-1)).toMatchObject({
      method: 'DELETE',
      headers: { 'mcp-session-id': 's1', 'mcp-protocol-version': '2025-03-26' },
    })
    expect(requests.map(({ body }) => JSON.parse(body?.text ?? '{}').method)).toEqual([
      'initialize',
      'notifications/initialized',
      'tools/list',
      'tools/list',
      'tools/call',
      'tools/call',
      undefined,
    ])
  })

  it('gives its resources if the document asks for them', async () => {
    const { send } = serve()
    const options = { ...server, resources: true, resourceVars: { customer: 'a b' } }
    const { resources, warnings } = await openMcp(options, send)
    expect(warnings).toHaveLength(1)
    expect(resources).toEqual({ a: { k: 1 }, crm: 'text of crm://a%20b' })
  })

  it.each<[string, Readonly<Record<string, Answer>>, string]>([
    ['an unknown method', {}, 'initialize: status 404'],
    [
      'no JSON',
      { initialize: () => '<html>' },
      'initialize: the response is not valid, or longer than 64 kB',
    ],
    ['an error', { initialize: () => '{"id":1,"error":{"message":"no"}}' }, 'initialize: no'],
    ['no result', { initialize: () => '{"id":1,"result":5}' }, 'initialize: the response has no result'],
    [
      'too deep a result',
      { initialize: () => `{"id":1,"result":{"a":${'['.repeat(100)}${']'.repeat(100)}}}` },
      'initialize: the response has more than 64 levels',
    ],
    ['no tools', { initialize: standard.initialize! }, 'tools/list: status 404'],
  ])('that answers with %s has a warning and no functions', async (_what, answers, message) => {
    const { functions, warnings } = await openMcp(server, serve(answers).send)
    expect(functions).toEqual([])
    expect(warnings).toEqual([{ path: '', message }])
  })

  it('that does not answer has a warning, and its calls fail', async () => {
    const send = async (): Promise<HttpResponse> => {
      throw new Error('no route')
    }
    const { warnings, call, close } = await openMcp(server, send)
    expect(warnings).toEqual([{ path: '', message: 'no route' }])
    await expect(call('add', {})).rejects.toThrow(McpFailed)
    await close()
  })
})
