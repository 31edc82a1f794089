import { afterAll, describe, expect, it } from 'vitest'
import type { DocumentSource } from '../handler.ts'
import { DocumentInvalid, DocumentUnreachable } from '../handler.ts'
import { FakeCall } from '../testing/fake-call.ts'
import { FakeContext } from '../testing/fake-context.ts'
import { eventsOf, TestScripts } from '../testing/test-scripts.ts'
import { CallEnded } from '../verbs.ts'

const scripts = new TestScripts()
afterAll(() => scripts.close())
const { handler } = scripts
const inline = (...main: unknown[]): DocumentSource => ({
  kind: 'inline',
  text: JSON.stringify({ version: '1.0.0', sections: { main } }),
  name: 'test',
})

describe('variables', () => {
  it('read the call, with or without its prefix, in both spellings', async () => {
    const text = `%{call.from_number} \${to_number} %{call.headers[0].value} %{call.sip_data.sip_from_host}`
    expect(await scripts.say(text)).toBe('+15550001 +15550002 %2B42 carrier.example')
  })

  it('are looked up in vars, then in envs, then in call', async () => {
    const context = new FakeContext()
    context.envs = { from_name: 'env', key: 'env', type: 'env' }
    const steps = [{ set: { type: 'var' } }]
    const text = '%{type} %{key} %{from_name} %{direction} %{call.type} %{envs.type} %{vars.type}'
    expect(await scripts.say(text, steps, { context })).toBe('var env env inbound sip env var')
    expect(await scripts.say('%{type + key + direction}', steps, { context })).toBe('varenvinbound')
  })

  it('are empty if unset, and resolve own properties only', async () => {
    expect(await scripts.say('[%{vars.none}%{call.constructor}%{toString}%{call.headers[9].value}]')).toBe(
      '[]',
    )
  })

  it('hold the variables of the calling page as data', async () => {
    const userVariables = { order: 7, who: '%{call.from}', list: [{ a: 1 }] }
    const call = () => new FakeCall({ type: 'webrtc', userVariables })
    const text = '%{vars.userVariables.order} %{userVariables.who} %{vars.userVariables.list[0].a}'
    expect(await scripts.say(text, [], { call: call() })).toBe('7 %{call.from} 1')
    expect(await scripts.say('%{vars.userVariables.order + 1}', [], { call: call() })).toBe('8')
    const url = 'https://x.example/script'
    const context = new FakeContext({ [url]: '{"sections":{"main":[]}}' })
    await handler.run(call(), { kind: 'url', url }, context)
    expect(JSON.parse(context.requests[0]?.body?.text ?? '')).toMatchObject({ vars: { userVariables } })
  })

  it('are JavaScript unless they form a path', async () => {
    expect(
      await scripts.say(`%{call.from_number.slice(-4)} \${call.headers.map((h) => h.name).join()}`),
    ).toBe('0001 X-Order')
    expect(await scripts.say('%{vars.n-1}', [{ set: { n: 5 } }])).toBe('4')
    expect(await scripts.say('%{a-b}', [{ set: { 'a-b': 'dash', a: 1 } }])).toBe('dash')
  })

  it('that cannot be evaluated fail their step with a warning', async () => {
    const { names, warnings } = await scripts.run([{ play: { url: 'say:%{nobody.knows()}' } }, { sleep: 1 }])
    expect([names, warnings]).toEqual([['sleep'], ['/sections/main/0/play js_eval_error']])
    expect(
      await scripts.say('%{script_error} %{play_result}', [{ play: { url: 'say:%{nobody.knows()}' } }]),
    ).toBe('relay_script_js_eval_error failed')
  })

  it('cannot be changed by an expression', async () => {
    expect(
      await scripts.say('%{(vars.a = 2, call.type = 1, vars.a)} %{a} %{call.type}', [{ set: { a: 1 } }]),
    ).toBe('2 1 sip')
  })

  it('are abandoned after a time limit', async () => {
    const { names, warnings } = await scripts.run([{ sleep: '%{(() => { for (;;); })()}' }, { sleep: 1 }])
    expect([names, warnings]).toEqual([['sleep'], ['/sections/main/0/sleep js_eval_error']])
  })
})

describe('documents', () => {
  const url = 'https://app.example/script'
  const at = (more: object = {}): DocumentSource => ({ kind: 'url', url, ...more })

  it('are requested by POST with the call as JSON', async () => {
    const context = new FakeContext({ [url]: 'sections:\n  main: [hangup]\n' })
    context.envs = { region: 'eu' }
    await handler.run(new FakeCall(), at(), context)
    expect(context.requests).toMatchObject([
      { url, method: 'POST', body: { contentType: 'application/json' } },
    ])
    expect(JSON.parse(context.requests[0]?.body?.text ?? '')).toEqual({
      call: {
        call_id: 'c-1',
        node_id: 'n-1',
        segment_id: 'c-1',
        call_state: 'created',
        direction: 'inbound',
        type: 'sip',
        from: 'sip:+15550001@carrier.example',
        to: 'sip:+15550002@demo.localhost',
        from_number: '+15550001',
        to_number: '+15550002',
        from_name: 'Ann',
        headers: [{ name: 'X-Order', value: '%2B42' }],
        sip_data: {
          sip_req_uri: 'sip:+15550002@demo.localhost',
          sip_req_user: '+15550002',
          sip_req_host: 'demo.localhost',
          sip_from_uri: 'sip:+15550001@carrier.example',
          sip_from_user: '+15550001',
          sip_from_host: 'carrier.example',
          sip_to_uri: 'sip:+15550002@demo.localhost',
          sip_to_user: '+15550002',
          sip_to_host: 'demo.localhost',
        },
        project_id: 'demo',
        space_id: 's-1',
      },
      vars: {},
      envs: { region: 'eu' },
      params: {},
    })
  })

  it('are requested by GET if the source says so', async () => {
    const context = new FakeContext({ [url]: '{"sections":{"main":[]}}' })
    await handler.run(new FakeCall(), at({ method: 'GET' }), context)
    expect(context.requests).toEqual([{ url: `${url}?call_id=c-1`, method: 'GET' }])
  })

  it('that cannot be fetched or are invalid throw before any verb', async () => {
    const call = new FakeCall()
    await expect(handler.run(call, at(), new FakeContext())).rejects.toBeInstanceOf(DocumentUnreachable)
    await expect(handler.run(call, inline('answer', 'dance'), new FakeContext())).rejects.toBeInstanceOf(
      DocumentInvalid,
    )
    expect(call.verbs).toEqual([])
  })

  it('are replaced by the fallback', async () => {
    const fallbackUrl = 'https://app.example/fallback'
    const context = new FakeContext({ [url]: '{}', [fallbackUrl]: '{"sections":{"main":["answer"]}}' })
    const call = new FakeCall()
    await handler.run(call, at({ fallbackUrl }), context)
    expect(call.names).toEqual(['answer'])
    expect(context.warnings).toMatchObject([{ code: 'relay_script_sections_missing' }])
    expect(JSON.parse(context.requests[1]?.body?.text ?? '')).toMatchObject({
      ErrorCode: 'relay_script_sections_missing',
      ErrorUrl: url,
      call: {},
      params: {},
    })
    expect(JSON.parse(context.requests[0]?.body?.text ?? '')).not.toHaveProperty('ErrorCode')
  })

  it('are replaced by the fallback, which receives the reason in the query of a GET', async () => {
    const fallbackUrl = 'https://app.example/fallback'
    const context = new FakeContext({ [fallbackUrl]: '{"sections":{"main":["answer"]}}' })
    await handler.run(new FakeCall(), at({ fallbackUrl, method: 'GET' }), context)
    const query = new URL(context.requests[1]?.url ?? '').searchParams
    expect(query.get('ErrorCode')).toBe('relay_script_fetch_failed')
    expect(query.get('ErrorUrl')).toBe(url)
  })

  it('are abandoned when the call ends, without a fallback or a fault', async () => {
    const fallbackUrl = 'https://app.example/fallback'
    const next = 'https://app.example/next'
    const first = new FakeContext({
      [url]: new CallEnded(),
      [fallbackUrl]: '{"sections":{"main":["answer"]}}',
    })
    const second = new FakeContext({
      [url]: `{"sections":{"main":[{"transfer":{"dest":"${next}"}}]}}`,
      [next]: new CallEnded(),
    })
    for (const context of [first, second]) {
      const call = new FakeCall()
      await handler.run(call, at({ fallbackUrl }), context).catch((error) => {
        if (!(error instanceof CallEnded)) throw error
      })
      expect(call.verbs).toEqual([])
      expect(context.warnings).toEqual([])
    }
    expect(first.requests.map((request) => request.url)).toEqual([url])
  })

  it('are named in their faults, before and during the run', async () => {
    const next = 'https://app.example/next'
    const context = new FakeContext({
      [url]: `{"sections":{"main":[{"answer":{"username":"x"}},"stop_tap",{"transfer":{"dest":"${next}"}}]}}`,
      [next]: '{"sections":{"main":["stop_tap",{"transfer":{"dest":"https://u:p@app.example/bad?a=1"}}]}}',
      'https://u:p@app.example/bad': '{"sections":{"main":["dance"]}}',
    })
    await handler.run(new FakeCall(), at(), context)
    const bad = 'https://app.example/bad'
    expect(
      context.warnings.map(({ code, document }) => [code.replace('relay_script_', ''), document]),
    ).toEqual([
      ['method_parameter_undefined', url],
      ['method_execute_failed', url],
      ['method_execute_failed', next],
      ['method_undefined', bad],
      ['method_undefined', next],
    ])
  })

  it('report their warnings to the context', async () => {
    const { warnings } = await scripts.run([{ answer: { username: 'x' } }])
    expect(warnings).toEqual(['/sections/main/0/answer/username method_parameter_undefined'])
  })

  it('neither answer nor hang up at their end', async () => {
    expect((await scripts.run([])).verbs).toEqual([])
  })

  it('yield to other calls between steps that do not wait', async () => {
    const call = new FakeCall()
    const context = new FakeContext()
    setImmediate(() => call.end())
    await scripts.run(Array<object>(100).fill({ set: { a: '%{call.from}' } }), { call, context })
    expect(context.steps.length).toBeLessThan(2)
  })

  it('have at most 2048 placeholders in a step', async () => {
    const steps = (count: number) => [{ set: { a: '%{b}'.repeat(count) } }]
    expect((await scripts.run(steps(2048))).warnings).toEqual([])
    expect((await scripts.run(steps(2049))).warnings).toEqual(['/sections/main/0/set method_execute_failed'])
  })

  it('stop without an error when the call ends during a step', async () => {
    const call = new FakeCall()
    call.endsDuring = 'play'
    expect((await scripts.run([{ play: { url: 'say:a' } }, 'answer'], { call })).names).toEqual(['play'])
  })
})

describe('functions of templates', () => {
  it('format the time, calculate, split and repeat, with placeholders in their arguments', async () => {
    const set = { set: { zone: 'Europe/Berlin', n: 7, code: 'AB 12' } }
    const text = '@{strftime_tz %{zone} %H:%M} @{expr (%{n} + 1) * 2} @{separate %{code}} @{echo %{n > 6}}'
    expect(await scripts.say(text, [set])).toBe('13:00 16 A B 1 2 true')
    expect(await scripts.say('@{expr 100 / 8}')).toBe('12.5')
    expect(await scripts.say('@{expr 010 + 08 + 1.05 + 0.5 + 00}')).toBe('19.55')
  })

  it('fail their step for an invalid argument', async () => {
    const steps = [
      '@{strftime_tz Mars %H}',
      '@{expr call.from}',
      '@{expr 1 +}',
      '@{expr 2**9}',
      '@{expr}',
    ].map((text) => ({ play: { url: `say:${text}` } }))
    const { names, warnings } = await scripts.run(steps)
    expect(names).toEqual([])
    expect(warnings).toEqual(steps.map((_, i) => `/sections/main/${i}/play js_eval_error`))
  })

  it('name the cause for which a calculation fails', async () => {
    const context = new FakeContext()
    await scripts.run([{ play: { url: 'say:@{expr 1 / 0}' } }], { context })
    expect(context.warnings[0]?.message).toContain('expr must have a finite result')
  })

  it('that do not exist cause a warning and stay unchanged', async () => {
    const { verbs, warnings } = await scripts.run([{ play: { url: 'say:@{fmt_ph e164 5} @{other}' } }])
    expect(verbs[0]?.[1]).toMatchObject({ sounds: [{ text: '@{fmt_ph e164 5} @{other}' }] })
    expect(warnings).toEqual(['/sections/main/0/play/url js_eval_error'])
  })
})

describe('the faults of a script', () => {
  const status = { url: 'https://app.example/status', method: 'POST' } as const
  const contextWithStatus = (documents: Record<string, string | Error> = {}) =>
    Object.assign(new FakeContext(documents), { status })
  const faultsSent = (context: FakeContext) =>
    eventsOf(context).map(({ code, path }) => `${path} ${String(code).replace('relay_script_', '')}`)

  it('are sent to the call state URL while the script runs', async () => {
    const context = contextWithStatus()
    await scripts.run([{ answer: { username: 'a' } }, 'stop_tap'], { context })
    expect(faultsSent(context)).toEqual([
      '/sections/main/0/answer/username method_parameter_undefined',
      '/sections/main/1 method_execute_failed',
    ])
    const [first] = eventsOf(context)
    expect(first).toMatchObject({
      to: `POST ${status.url}`,
      event_type: 'calling.script.warning',
      message: expect.any(String),
    })
    expect(context.warnings).toHaveLength(2)
  })

  it('are sent if they prevent the run', async () => {
    const bad = contextWithStatus()
    await expect(handler.run(new FakeCall(), inline('dance', 'jump'), bad)).rejects.toThrow(DocumentInvalid)
    expect(faultsSent(bad)).toEqual([
      '/sections/main/0 method_undefined',
      '/sections/main/1 method_undefined',
    ])
    const away = contextWithStatus()
    const source: DocumentSource = { kind: 'url', url: 'https://app.example/none', method: 'POST' }
    await expect(handler.run(new FakeCall(), source, away)).rejects.toThrow(DocumentUnreachable)
    expect(faultsSent(away)).toEqual([' fetch_failed'])
  })

  it('are sent only with a call state URL, and at most 100 times', async () => {
    const silent = new FakeContext()
    await scripts.run(['stop_tap'], { context: silent })
    expect(silent.callbacks).toEqual([])
    const context = contextWithStatus()
    await scripts.run(Array<string>(120).fill('stop_tap'), { context })
    expect([context.callbacks.length, context.warnings.length]).toEqual([100, 120])
  })
})
