import { describe, expect, it } from 'vitest'
import { FakeCall, testCallee } from '../common/fake-call.ts'
import { FakeContext } from '../common/fake-context.ts'
import type { DocumentSource } from '../handler.ts'
import { DocumentInvalid, DocumentUnreachable } from '../handler.ts'
import { VerbFailed } from '../verbs.ts'
import { createScriptHandler } from './handler.ts'

const handler = createScriptHandler({ nodeId: 'n-1', spaceId: 's-1' })
const inline = (...main: unknown[]): DocumentSource => ({
  kind: 'inline',
  text: JSON.stringify({ version: '1.0.0', sections: { main } }),
  name: 'test',
})

const run = async (steps: unknown[], call = new FakeCall(), context = new FakeContext()) => {
  await handler.run(call, inline(...steps), context)
  return call.verbs
}

/** What a text with placeholders was spoken as, after the given steps. */
const spoken = async (text: string, steps: unknown[] = [], call = new FakeCall()) => {
  const verbs = await run([...steps, { play: { url: `say:${text}` } }], call)
  const [, options] = verbs.findLast(([name]) => name === 'play') ?? []
  return (options as { sounds: { text: string }[] }).sounds[0]?.text
}

describe('methods', () => {
  it('neither answers nor hangs up at the end, which is left to the gateway', async () => {
    expect(await run([])).toEqual([])
  })

  it('answers once', async () => {
    expect(await run(['answer', { answer: { max_duration: 60 } }])).toEqual([['answer', {}]])
    expect(await run([{ answer: { max_duration: '60' } }])).toEqual([['answer', { maxDurationMs: 60_000 }]])
  })

  it('hangs up with a reason, and runs nothing after', async () => {
    expect(await run([{ hangup: { reason: 'busy' } }, 'answer'])).toEqual([['hangup', 'busy']])
    expect(await run(['hangup'])).toEqual([['hangup', 'hangup']])
  })

  it('plays every kind of sound with volume, voice and early media', async () => {
    const files = ['https://u:p@x.example/a.wav', 'file:de/welcome.mp3']
    const urls = ['say: Hello ', 'silence:1.5', 'ring:de', 'ring:3:us-old', ...files]
    expect(
      await run([{ play: { urls, volume: -3, say_voice: 'slt', say_language: 'en', auto_answer: false } }]),
    ).toEqual([
      [
        'play',
        {
          sounds: [
            { kind: 'speech', text: 'Hello', voice: 'slt', language: 'en' },
            { kind: 'silence', ms: 1500 },
            { kind: 'ringtone', country: 'de' },
            { kind: 'ringtone', country: 'us-old', ms: 3000 },
            { kind: 'audio', url: 'https://u:p@x.example/a.wav' },
            { kind: 'audio', url: 'file:de/welcome.mp3' },
          ],
          volumeDb: -3,
          autoAnswer: false,
        },
      ],
    ])
  })

  it('sleeps for milliseconds, written short or long', async () => {
    expect(await run([{ sleep: 250 }, { sleep: { duration: '300' } }])).toEqual([
      ['sleep', 250],
      ['sleep', 300],
    ])
  })

  it('sleeps for ever until the call ends', async () => {
    const call = new FakeCall()
    const naps: number[] = []
    call.sleep = async (ms) => {
      naps.push(ms)
      if (naps.length === 3) call.end()
      call.signal.throwIfAborted()
    }
    await run([{ sleep: -1 }, 'answer'], call)
    expect(naps).toEqual([86_400_000, 86_400_000, 86_400_000])
    expect(call.verbs).toEqual([])
  })

  it('sends digits', async () => {
    expect(await run([{ send_digits: { digits: '1W#' } }])).toEqual([['sendDigits', '1W#']])
  })

  it('prompts with the defaults of the language', async () => {
    expect((await run([{ prompt: { play: 'say:Pin' } }]))[0]).toEqual([
      'collect',
      { prompt: { sounds: [{ kind: 'speech', text: 'Pin' }] }, maxDigits: 1 },
    ])
  })

  it('prompts for speech alone, or for both, as its parameters say', async () => {
    const prompt = {
      play: 'say:Well?',
      speech_language: 'de',
      speech_hints: ['ja', '%{vars.none}'],
      speech_end_timeout: 1.5,
      speech_timeout: '20',
    }
    const speech = { language: 'de', hints: ['ja'], endSilenceMs: 1500, maxSpeechMs: 20_000 }
    expect((await run([{ prompt }]))[0]?.[1]).toMatchObject({ speech, digits: false })
    const both = await run([{ prompt: { play: 'say:Well?', speech_timeout: 9, max_digits: 2 } }])
    expect(both[0]?.[1]).toMatchObject({ speech: { maxSpeechMs: 9000 }, digits: true, maxDigits: 2 })
  })

  it('passes every option of a prompt', async () => {
    const prompt = {
      play: ['say:A', 'silence:1'],
      volume: 3,
      max_digits: 4,
      terminators: '#*',
      digit_timeout: 2.5,
      initial_timeout: '10',
    }
    expect((await run([{ prompt }]))[0]).toEqual([
      'collect',
      {
        prompt: {
          sounds: [
            { kind: 'speech', text: 'A' },
            { kind: 'silence', ms: 1000 },
          ],
          volumeDb: 3,
        },
        maxDigits: 4,
        terminators: '#*',
        initialTimeoutMs: 10_000,
        interDigitTimeoutMs: 2500,
      },
    ])
  })
})

describe('connect', () => {
  it('calls one destination with headers, decoded once, and credentials', async () => {
    const connect = {
      to: 'sip:100@carrier.example;transport=tcp',
      from: '+15551234',
      from_name: 'Bob',
      headers: [{ name: 'x-id', value: '%2B1%2525 %{call.headers[0].value}' }],
      username: 'u',
      password: 'p',
      timeout: 20,
      max_duration: 600,
      answer_on_bridge: 'true',
      ringback: ['ring:uk'],
    }
    expect(await run([{ connect }, 'answer'])).toEqual([
      [
        'connect',
        {
          steps: [
            [
              {
                to: 'sip:100@carrier.example;transport=tcp',
                from: '+15551234',
                fromName: 'Bob',
                headers: [{ name: 'x-id', value: '+1%25 %2B42' }],
                username: 'u',
                password: 'p',
              },
            ],
          ],
          timeoutMs: 20_000,
          maxDurationMs: 600_000,
          answerOnBridge: true,
          ringback: [{ kind: 'ringtone', country: 'uk' }],
        },
      ],
    ])
  })

  it.each([
    ['serial', [{ to: '/public/a' }, { to: '+1 555' }], [[{ to: '/public/a' }], [{ to: '+1555' }]]],
    ['parallel', [{ to: '/public/a' }, { to: '+1' }], [[{ to: '/public/a' }, { to: '+1' }]]],
    [
      'serial_parallel',
      [[{ to: '+1' }, { to: '+2' }], [{ to: '+3' }]],
      [[{ to: '+1' }, { to: '+2' }], [{ to: '+3' }]],
    ],
  ])('arranges %s', async (name, destinations, steps) => {
    expect((await run([{ connect: { [name]: destinations } }]))[0]).toEqual([
      'connect',
      { steps, answerOnBridge: false },
    ])
  })

  it('lets a destination overrule what the method says for all', async () => {
    const connect = { from: '+1', timeout: 30, serial: [{ to: '+2' }, { to: '+3', from: '+4', timeout: 5 }] }
    expect((await run([{ connect }]))[0]).toMatchObject([
      'connect',
      {
        timeoutMs: 30_000,
        steps: [[{ to: '+2', from: '+1' }], [{ to: '+3', from: '+4', timeoutMs: 5000 }]],
      },
    ])
  })

  it('asks for codecs, of all destinations or of one', async () => {
    const connect = { codecs: 'OPUS, PCMU', serial: [{ to: '+2' }, { to: '+3', codecs: 'G722,G729' }] }
    expect((await run([{ connect }]))[0]).toMatchObject([
      'connect',
      { steps: [[{ to: '+2', codecs: ['opus', 'PCMU'] }], [{ to: '+3', codecs: ['G722'] }]] },
    ])
  })

  it('goes on with the next step when the callee hung up or nobody could be had', async () => {
    const call = new FakeCall()
    call.connects.push({ kind: 'failed', reason: 'no-answer', code: 'no_answer' })
    expect(
      await spoken('%{connect_result}/%{connect_failed_reason}', [{ connect: { to: '+1' } }], call),
    ).toBe('failed/no_answer')
    expect(await spoken('%{connect_result}/%{connect_failed_reason}', [{ connect: { to: '+1' } }])).toBe(
      'connected/',
    )
  })

  it('ends when the caller hung up', async () => {
    const call = new FakeCall()
    call.connects.push({ kind: 'connected', endedBy: 'caller', durationMs: 1, callee: testCallee })
    expect((await run([{ connect: { to: '+1' } }, 'answer'], call)).map(([name]) => name)).toEqual([
      'connect',
    ])
  })

  it('leaves a caller whom nobody answered to be refused for what made connect fail', async () => {
    const call = new FakeCall()
    call.connects.push({ kind: 'failed', reason: 'error', code: 'too_many_hops' })
    expect((await run([{ connect: { to: '+1', answer_on_bridge: true } }], call)).at(-1)?.[0]).toBe('connect')
  })

  it.each([
    ['a destination', { to: '%{call.from_name}' }],
    [
      'a header with a line break',
      { to: '+1', headers: [{ name: 'x-a', value: '%{call.headers[1].value}' }] },
    ],
    ['a header of the gateway', { to: '+1', headers: [{ name: '%{call.headers[1].name}', value: 'a' }] }],
    ['a time', { to: '+1', timeout: '%{call.from}' }],
    ['a truth', { to: '+1', answer_on_bridge: '%{call.from}' }],
  ])('fails and goes on when a variable does not make %s', async (_what, connect) => {
    const call = new FakeCall({
      headers: [
        { name: 'X-A', value: '1' },
        { name: 'Via', value: 'a\r\nb' },
      ],
    })
    const context = new FakeContext()
    await run([{ connect }, { sleep: 1 }], call, context)
    expect(call.names).toEqual(['sleep'])
    expect(context.warnings).toMatchObject([
      { code: 'relay_script_method_parameter_invalid_value', path: '/sections/main/0/connect' },
    ])
  })
})

describe('variables', () => {
  it('look up the call, with or without its prefix, in both spellings', async () => {
    expect(
      await spoken(
        '%{call.from_number} %{to_number} %{call.headers[0].value} %{call.sip_data.sip_from_host}',
      ),
    ).toBe('+15550001 +15550002 %2B42 carrier.example')
  })

  it('are empty when nothing set them, and follow own properties only', async () => {
    expect(await spoken('[%{vars.none}%{call.constructor}%{toString}%{call.headers[9].value}]')).toBe('[]')
  })

  it('are set by a prompt', async () => {
    const call = new FakeCall()
    call.collects.push({ reason: 'terminator', digits: '42', terminator: '#' })
    const text = '%{prompt_result} %{vars.prompt_value} %{prompt_digit_terminator}'
    expect(await spoken(text, [{ prompt: { play: 'say:a' } }], call)).toBe('match_digits 42 #')
  })

  it('are set by a prompt for speech, also where it failed', async () => {
    const call = new FakeCall()
    const prompt = { prompt: { play: 'say:a', speech_language: 'en' } }
    const speech = { text: 'sales please', confidence: 0.75 }
    call.collects.push({ reason: 'speech', digits: '', speech })
    const text = '%{prompt_result} %{prompt_value} %{prompt_speech_confidence}'
    expect(await spoken(text, [prompt], call)).toBe('match_speech sales please 0.75')
    const failing = new FakeCall()
    failing.collects.push({ reason: 'error', digits: '' })
    expect(await spoken('%{prompt_result}', [prompt], failing)).toBe('failed')
  })

  it('tell a prompt that heard nothing', async () => {
    expect(await spoken('%{prompt_result}', [{ prompt: { play: 'say:a' } }])).toBe('no_input')
  })

  it.each([
    ['prompt', { prompt: { play: 'say:a' } }, 'collect'],
    ['connect', { connect: { to: '+1' } }, 'connect'],
    ['send_digits', { send_digits: { digits: '1' } }, 'sendDigits'],
  ])('tell that %s failed', async (method, step, verb) => {
    const call = new FakeCall()
    call.failing.set(verb, new VerbFailed('internal', 'broken'))
    expect(await spoken(`\${${method}_result}`, [step], call)).toBe('failed')
  })
})

describe('documents', () => {
  const url = 'https://app.example/script'
  const at = (more: object = {}): DocumentSource => ({ kind: 'url', url, ...more })

  it('are asked for by POST with the call in JSON', async () => {
    const context = new FakeContext({ [url]: 'sections:\n  main: [hangup]\n' })
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
      envs: {},
      params: {},
    })
  })

  it('come by GET where the source says so', async () => {
    const context = new FakeContext({ [url]: '{"sections":{"main":[]}}' })
    await handler.run(new FakeCall(), at({ method: 'GET' }), context)
    expect(context.requests).toEqual([{ url: `${url}?call_id=c-1`, method: 'GET' }])
  })

  it('that cannot be had or are invalid throw before any verb', async () => {
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
  })

  it('bring their warnings to the context', async () => {
    const context = new FakeContext()
    await run([{ play: { url: 'say:a', say_gender: 'female' } }], new FakeCall(), context)
    expect(context.warnings).toMatchObject([{ path: '/sections/main/0/play/say_gender' }])
  })

  it('stop quietly when the call ends in the middle', async () => {
    const call = new FakeCall()
    call.endsDuring = 'play'
    expect(await run([{ play: { url: 'say:a' } }, 'answer'], call)).toHaveLength(1)
  })
})
