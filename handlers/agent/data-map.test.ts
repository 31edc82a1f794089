import { afterAll, describe, expect, it } from 'vitest'
import { Sandbox } from '../script/sandbox/sandbox.ts'
import { FakeContext } from '../testing/fake-context.ts'
import { type DataMapEvent, dataMapFailure, runDataMap } from './data-map.ts'
import type { Json } from './document-types.ts'
import { matchPattern } from './patterns.ts'
import { jokeMap, weatherMap } from './testing/documents.ts'

const sandbox = new Sandbox({ after: () => ({ cancel: () => {} }) })
afterAll(() => sandbox.close())

interface Answer {
  readonly status?: number
  readonly text?: string
  readonly json?: unknown
}

/** Runs a data map against answers in order, and returns its result, requests and events. */
const run = async (map: Json, args: Json = {}, answers: readonly Answer[] = []) => {
  const context = new FakeContext()
  for (const { status = 200, text, json } of answers)
    context.answers.push({ status, headers: {}, text: text ?? JSON.stringify(json) })
  const events: DataMapEvent[] = []
  const values = { args, global_data: { name: 'Ada' }, meta_data: { k: 'v' }, call_id: 'c1' }
  const result = await runDataMap(map, values, {
    request: (request) => context.request(request),
    matches: (pattern, ignoreCase, text) =>
      matchPattern(
        (expression, all) => sandbox.evaluate(expression, all),
        { source: pattern, ignoreCase },
        text,
      ),
    now: () => context.now(),
    onEvent: (event) => events.push(event),
  })
  return { ...result, requests: context.outside, events }
}

describe('expressions of a data map', () => {
  const map = {
    expressions: [
      {
        string: '%{lc:args.command}',
        pattern: '/^(play|start)/i',
        output: { response: 'playing %{args.file}' },
      },
      {
        string: '%{args.command}',
        pattern: '(?i)stop',
        output: { response: 'off', action: [{ stop: true }] },
      },
      {
        string: '%{args.command}',
        pattern: 'x',
        output: { response: 'x' },
        'nomatch-output': { response: 'no' },
      },
    ],
  }

  it.each([
    ['START it', 'playing a.mp3', []],
    ['please Stop', 'off', [{ kind: 'stop' }]],
    ['else', 'no', []],
  ])('%s yields %s', async (command, response, effects) => {
    const { reply } = await run(map, { command, file: 'a.mp3' })
    expect(reply).toMatchObject({ response, effects })
  })

  it('that cannot be evaluated are passed over', async () => {
    const faulty = { string: 'a', pattern: '(', output: { response: 'x' } }
    const { reply, events } = await run({ expressions: [faulty], output: { response: 'last' } })
    expect(reply.response).toBe('last')
    expect(events[1]).toMatchObject({ kind: 'expression-fail' })
  })
})

describe('webhooks of a data map', () => {
  it('of the joke skill yield the first joke', async () => {
    const { reply, requests, url } = await run(jokeMap, { type: 'jokes' }, [
      { json: [{ joke: 'Knock knock' }] },
    ])
    expect(requests).toEqual([
      { url: 'https://api.jokes.example/v1/jokes', method: 'GET', headers: { 'x-api-key': 'key-123' } },
    ])
    expect(reply).toMatchObject({
      response: 'Tell this joke: Knock knock',
      effects: [{ kind: 'set-global', data: { last_joke: 'Knock knock' } }],
    })
    expect(url).toBe('https://api.jokes.example/v1/jokes')
  })

  it('of the weather skill encode the place', async () => {
    const json = { current: { temp_c: 21.5, condition: { text: 'sunny' } } }
    const { reply, requests } = await run(weatherMap, { location: 'New York' }, [{ json }])
    expect(requests[0]?.url).toBe('https://api.weather.example/current.json?q=new%20york')
    expect(reply.response).toBe('It is 21.5 degrees, sunny.')
  })

  it.each<[string, Answer]>([
    ['an error key', { json: { error: { code: 1006 } } }],
    ['a status', { status: 500, json: {} }],
    ['no JSON', { text: '<html>' }],
  ])('that fail by %s leave the output', async (_why, answer) => {
    const { reply, events } = await run(weatherMap, { location: 'X' }, [answer])
    expect(reply.response).toBe('The weather cannot be found.')
    expect(events.some(({ kind }) => kind === 'fail' || kind === 'error-keys')).toBe(true)
  })

  it('are tried in order, and those without their arguments are skipped', async () => {
    const map = {
      webhooks: [
        { url: 'https://a.example', require_args: ['city'], output: { response: 'a' } },
        { url: 'https://b.example', required_args: 'zip', output: { response: 'b' } },
        { url: 'https://c.example', output: { response: 'c %{response.ok}' } },
      ],
    }
    const { reply, requests } = await run(map, { zip: '1' }, [
      { status: 404, text: '' },
      { json: { ok: true } },
    ])
    expect(requests.map(({ url }) => url)).toEqual(['https://b.example', 'https://c.example'])
    expect(reply.response).toBe('c true')
  })

  it('share the error keys of their map', async () => {
    const map = {
      webhooks: [{ url: 'https://a.example', output: 'a' }],
      error_keys: ['oops'],
      output: 'none',
    }
    expect((await run(map, {}, [{ json: { oops: 'x' } }])).reply.response).toBe('none')
    expect((await run(map, {}, [{ json: { oops: null } }])).reply.response).toBe('a')
  })

  it('send parameters as JSON, form or query', async () => {
    const webhook = { url: 'https://a.example/x', params: { q: '%{args.q}', n: '%{args.n}' }, output: {} }
    const send = async (more: Json) => {
      const { requests } = await run({ webhooks: [{ ...webhook, ...more }] }, { q: 'a b', n: 5 }, [
        { json: {} },
      ])
      return requests[0]
    }
    expect(await send({ headers: { Authorization: 'Bearer %{global_data.name}', Host: 'evil' } })).toEqual({
      url: 'https://a.example/x',
      method: 'POST',
      headers: { authorization: 'Bearer Ada' },
      body: { contentType: 'application/json', text: '{"q":"a b","n":5}' },
    })
    expect(await send({ method: 'put', form_param: 'data' })).toMatchObject({
      method: 'PUT',
      body: {
        contentType: 'application/x-www-form-urlencoded',
        text: 'data=%7B%22q%22%3A%22a+b%22%2C%22n%22%3A5%7D',
      },
    })
    expect(await send({ method: 'GET' })).toEqual({ url: 'https://a.example/x?q=a+b&n=5', method: 'GET' })
    expect(await send({ params: { x: 1 }, input_args_as_params: 'true' })).toMatchObject({
      body: { text: '{"q":"a b","n":5,"x":1}' },
    })
  })

  it('join the items of a list by foreach', async () => {
    const map = {
      webhooks: [
        {
          url: 'https://a.example',
          foreach: {
            input_key: 'results',
            output_key: 'lines',
            max: '2',
            append: '- %{this.title} (%{args.q})\n',
          },
          output: { response: 'Found:\n%{lines}' },
        },
      ],
    }
    const results = ['A', 'B', 'C'].map((title) => ({ title }))
    const { reply } = await run(map, { q: 'x' }, [{ json: { results, args: { q: 'forged' } } }])
    expect(reply.response).toBe('Found:\n- A (x)\n- B (x)\n')
  })

  it('fill all items of a foreach within one limit', async () => {
    const append = '@{expr 1}'.repeat(3000)
    const map = {
      webhooks: [
        {
          url: 'https://a.example',
          foreach: { input_key: 'results', output_key: 'lines', append },
          output: { response: '%{lines}' },
        },
      ],
    }
    const { reply } = await run(map, {}, [{ json: { results: new Array(500).fill(0) } }])
    expect(reply.response).toBe('1'.repeat(1024))
  })

  it('may decide by the response, and leave the last word to the output', async () => {
    const map = {
      webhooks: [
        {
          url: 'https://a.example',
          expressions: [{ string: '%{status}', pattern: '^ok$', output: { response: 'fine' } }],
        },
      ],
      output: { response: 'status %{status}' },
    }
    expect((await run(map, {}, [{ json: { status: 'ok' } }])).reply.response).toBe('fine')
    expect((await run(map, {}, [{ json: { status: 'bad' } }])).reply.response).toBe('status bad')
  })
})

describe('a data map', () => {
  it.each([
    [{}],
    [{ expressions: 5, webhooks: 'x' }],
    [{ webhooks: [{ url: 'file:///etc/passwd', output: {} }] }],
  ])('that yields nothing has a general error text (%j)', async (map) => {
    const { reply, requests } = await run(map)
    expect(reply).toEqual({ response: dataMapFailure, effects: [], postProcess: false, warnings: [] })
    expect(requests).toEqual([])
  })

  it('may have an output that is a text', async () => {
    expect((await run({ output: 'Hello %{global_data.name}' })).reply.response).toBe('Hello Ada')
  })

  it('reports its events without credentials', async () => {
    const map = { webhooks: [{ url: 'https://u:p@a.example/x?key=secret', output: { response: 'x' } }] }
    const { events } = await run(map, {}, [{ json: {} }])
    expect(events).toEqual([
      { kind: 'input', args: {} },
      { kind: 'webhook', method: 'GET', url: 'https://a.example/x' },
      { kind: 'reply', status: 200, text: '{}' },
      { kind: 'output', output: { response: 'x' } },
    ])
  })

  it('counts the requests that failed, and tells a faulty pattern from them', async () => {
    const failing = { url: 'https://a.example/x', output: {} }
    const map = {
      expressions: [{ string: 'a', pattern: '(', output: {} }],
      webhooks: [failing, failing, failing],
    }
    const { events } = await run(map, {}, [{ status: 503, text: '' }, { text: '<html>' }])
    expect(events.filter(({ kind }) => kind === 'fail' || kind === 'expression-fail')).toEqual([
      { kind: 'expression-fail', expression: '(', reason: expect.any(String) },
      { kind: 'fail', reason: 'status 503', attempts: 1, status: 503 },
      { kind: 'fail', reason: 'the response is not JSON', attempts: 2, status: 200 },
      { kind: 'fail', reason: 'no answer of https://a.example/x', attempts: 3 },
    ])
  })

  it('can calculate, and name the time', async () => {
    const map = { output: { response: '@{expr %{args.n} + 1} at @{strftime_tz UTC %H:%M}' } }
    expect((await run(map, { n: 2 })).reply.response).toBe('3 at 12:00')
  })

  it('sends nothing after its call has ended', async () => {
    const context = new FakeContext()
    const { reply } = await runDataMap(
      weatherMap,
      { args: { location: 'x' } },
      {
        request: (request) => context.request(request),
        matches: async () => false,
        now: () => 0,
        signal: AbortSignal.abort(),
      },
    )
    expect(context.outside).toEqual([])
    expect(reply.response).toBe('The weather cannot be found.')
  })
})
