import { afterAll, describe, expect, it } from 'vitest'
import type { HttpResponse } from '../../handler.ts'
import { FakeContext } from '../../testing/fake-context.ts'
import { faultsOf, TestScripts } from '../../testing/test-scripts.ts'

const scripts = new TestScripts()
afterAll(() => scripts.close())

const url = 'https://api.example/customers'

/** Sends a request. Returns it, with the text as replaced by its variables. */
const sendRequest = async (request: object, answer: HttpResponse | undefined, text = '') => {
  const context = new FakeContext()
  if (answer) context.answers.push(answer)
  const said = await scripts.say(
    `${text}.`,
    [{ set: { id: 7 } }, { request: { url, method: 'GET', ...request } }],
    { context },
  )
  return { sent: context.outside[0], said, context }
}

const fine: HttpResponse = {
  status: 200,
  headers: { 'content-type': 'application/json', 'x-a': '1' },
  text: '{"name":"Ann","age":3}',
}

describe('request', () => {
  it('sends headers and a body, with time-outs', async () => {
    const request = {
      url: `${url}/%{id}`,
      method: 'put',
      timeout: 5,
      connect_timeout: '1.5',
      body: { id: '%{id}', list: [1] },
      headers: { 'X-Key': '%{call.call_id}', Accept: 'a/b' },
    }
    expect((await sendRequest(request, fine)).sent).toEqual({
      url: `${url}/7`,
      method: 'PUT',
      headers: { 'x-key': 'c-1', accept: 'a/b' },
      body: { contentType: 'application/json', text: '{"id":7,"list":[1]}' },
      timeoutMs: 5000,
      connectTimeoutMs: 1500,
    })
    expect((await sendRequest({ method: 'POST', body: 'a %{id}' }, fine)).sent).toEqual({
      url,
      method: 'POST',
      body: { contentType: 'text/plain', text: 'a 7' },
    })
    const typed = {
      method: 'POST',
      body: 'a=1',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    }
    expect((await sendRequest(typed, fine)).sent?.body?.contentType).toBe('application/x-www-form-urlencoded')
    expect((await sendRequest({ timeout: 0, connect_timeout: 0 }, fine)).sent).toEqual({ url, method: 'GET' })
  })

  const variables = '%{request_url} %{request_result} %{return_value} %{request_response_code}'

  it('sets its variables', async () => {
    const text = `${variables} %{request_response_headers.x-a}%{request_response_headers.x-none} %{request_response_body}`
    expect((await sendRequest({}, fine, text)).said).toBe(
      `${url} success success 200 1 {"name":"Ann","age":3}.`,
    )
    expect((await sendRequest({}, { ...fine, status: 404 }, variables)).said).toBe(
      `${url} failed failed 404.`,
    )
    expect((await sendRequest({}, fine, '%{request_response.name}')).said).toBe('.')
  })

  it('keeps the fields of a JSON answer if save_variables is set', async () => {
    const text = '%{request_response.name} %{request_response.age + 1}'
    expect((await sendRequest({ save_variables: true }, fine, text)).said).toBe('Ann 4.')
    const none = await sendRequest(
      { save_variables: true },
      { ...fine, text: 'no JSON' },
      '%{request_response.name}',
    )
    expect(none.said).toBe('.')
  })

  it('fails and continues without an answer, and clears the previous answer', async () => {
    const context = new FakeContext()
    context.answers.push(fine)
    const request = { request: { url, method: 'GET', save_variables: true } }
    const text = `${variables}|%{request_response_body}|%{request_response.name}`
    expect(await scripts.say(text, [request, request], { context })).toBe(`${url} failed failed ||`)
    expect(context.warnings).toMatchObject([
      { code: 'relay_script_method_execute_failed', path: '/sections/main/1/request' },
    ])
  })

  it.each([
    ['a line break in a header', { headers: { 'x-a': '%{call.headers[0].value}%{"\\r\\n"}' } }],
    ['a header of the connection', { headers: { Host: 'x' } }],
    ['a name that is none', { headers: { 'a b': 'x' } }],
    ['a URL that is none', { url: '%{id}' }],
    ['a URL that is empty', { url: '%{vars.none}' }],
  ])('rejects %s', async (_what, request) => {
    const { sent, context } = await sendRequest(request, fine)
    expect([sent, context.warnings.length]).toEqual([undefined, 1])
  })

  it('is checked before it runs', () => {
    expect(faultsOf([{ request: { url, method: 'BREW' } }])).toEqual([
      '/0/request/method method_parameter_invalid_value',
    ])
    expect(faultsOf([{ request: { url: 'ftp://x', method: 'GET' } }])).toEqual([
      '/0/request/url method_parameter_invalid_value',
    ])
    expect(faultsOf([{ request: { url } }])).toEqual(['/0/request method_parameter_missing'])
  })
})

describe('set', () => {
  it('sets variables in order, so that later ones see earlier ones', async () => {
    expect(await scripts.say('%{b}', [{ set: { a: 2, b: '%{a * 3}' } }])).toBe('6')
    expect(
      await scripts.say('%{vars.a.b[1]} %{a.c}', [
        { set: { 'vars.a': { b: [1, '%{call.type}'], c: null } } },
      ]),
    ).toBe('sip')
  })

  it('keeps the type of a value that is exactly one placeholder', async () => {
    const steps = [{ set: { n: 5, list: [1], same: '%{list}', text: '%{n} ', one: '%{n}' } }]
    expect(await scripts.say('%{typeof one} %{typeof text} %{same.length} %{(same.length)}', steps)).toBe(
      'number string 1 1',
    )
  })

  it('changes the text of a path by functions', async () => {
    const set = { set: { city: 'New York', url: 'https://x.example/?q=%{lc:enc:url:vars.city}' } }
    expect(await scripts.say(`%{url} \${lc:city}%{lc:none}`, [set])).toBe(
      'https://x.example/?q=new%20york new york',
    )
  })

  it('may use any name', async () => {
    const steps = [{ set: JSON.parse('{"__proto__": 1, "constructor": 2, "toString": 3}') }]
    expect(await scripts.say('%{__proto__} %{vars.constructor} %{toString}', steps)).toBe('1 2 3')
    expect(({} as Record<string, unknown>).constructor).toBe(Object)
  })

  it('fails if variables exceed their maximum size in any way', async () => {
    const grow = { set: { a: '%{a}%{a}' } }
    const text = [
      { set: { a: 'x'.repeat(1000) } },
      { label: 'l' },
      grow,
      { sleep: 0 },
      { goto: { label: 'l', max: 20 } },
    ]
    const texts = await scripts.run(text)
    expect(texts.warnings[0]).toBe('/sections/main/2/set method_execute_failed')
    const nested = [
      { set: { a: ['x'.repeat(1000)] } },
      { label: 'l' },
      { set: { a: ['%{a}', '%{a}'] } },
      { sleep: 0 },
    ]
    const lists = await scripts.run([...nested, { goto: { label: 'l', max: 20 } }])
    expect(lists.warnings[0]).toBe('/sections/main/2/set method_execute_failed')
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`a${i}`, 'x'.repeat(1000)]))
    const wide = [{ set: many }, ...Array.from({ length: 8 }, (_, i) => ({ set: { [`b${i}`]: '%{vars}' } }))]
    expect((await scripts.run(wide)).warnings).toContain('/sections/main/5/set method_execute_failed')
  })
})

describe('unset', () => {
  it('removes one or several variables', async () => {
    const set = { set: { a: 1, b: 2, c: 3 } }
    expect(await scripts.say('[%{a}%{b}%{c}]', [set, { unset: 'a' }, { unset: ['vars.b', 'none'] }])).toBe(
      '[3]',
    )
    expect(faultsOf([{ unset: 5 }])).toEqual(['/0/unset method_parameter_invalid_value'])
  })

  it('frees the space of removed variables', async () => {
    const fill = { set: { a: '%{"x".repeat(60000)}', b: '%{a}', c: '%{a}', d: '%{a}' } }
    const { warnings } = await scripts.run([
      fill,
      { unset: 'a' },
      { set: { e: '%{b}' } },
      { set: { f: '%{b}' } },
    ])
    expect(warnings).toEqual(['/sections/main/3/set method_execute_failed'])
  })
})
