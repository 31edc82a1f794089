import { describe, expect, it } from 'vitest'
import { FakeCall, testCallee } from '../common/fake-call.ts'
import { FakeContext } from '../common/fake-context.ts'
import type { DocumentSource } from '../handler.ts'
import { DocumentInvalid, DocumentUnreachable } from '../handler.ts'
import { VerbFailed } from '../verbs.ts'
import { createXmlHandler } from './handler.ts'

const handler = createXmlHandler()
const inline = (body: string): DocumentSource => ({
  kind: 'inline',
  text: `<Response>${body}</Response>`,
  name: 'test',
})
const at = (url: string, more: object = {}): DocumentSource => ({ kind: 'url', url, ...more })
const root = 'https://app.example'

const run = async (body: string, call = new FakeCall(), context = new FakeContext()) => {
  await handler.run(call, inline(body), context)
  return call.verbs
}

describe('verbs', () => {
  it('answers and ends on an empty document', async () => {
    expect(await run('')).toEqual([['answer']])
  })

  it('plays, and leaves the end to the gateway after the last verb', async () => {
    const sounds = [{ kind: 'speech', text: 'Hi' }]
    expect(await run('<Say>Hi</Say>')).toEqual([['play', { sounds, loop: 1 }]])
  })

  it('does not answer for a pause in front', async () => {
    expect(await run('<Pause length="2"/><Play digits="1"/>')).toEqual([
      ['sleep', 2000],
      ['answer'],
      ['sendDigits', '1'],
    ])
  })

  it('answers before it hangs up', async () => {
    expect(await run('<Hangup/><Say>never</Say>')).toEqual([['answer'], ['hangup', 'hangup']])
  })

  it('rejects without an answer', async () => {
    expect(await run('<Reject reason="busy"/>')).toEqual([['hangup', 'busy']])
    expect(await run('<Reject/>')).toEqual([['hangup', 'decline']])
  })

  it('only hangs up when it rejects a call that was answered', async () => {
    expect((await run('<Say>a</Say><Reject/>')).at(-1)).toEqual(['hangup', 'hangup'])
  })

  it('goes on with the next verb when one cannot do its work', async () => {
    const call = new FakeCall()
    const context = new FakeContext()
    call.failing.set('play', new VerbFailed('document_unreachable', 'no audio'))
    await run('<Play>https://x.example/a.wav</Play><Pause/>', call, context)
    expect(call.names).toEqual(['play', 'sleep', 'answer'])
    expect(context.warnings).toMatchObject([{ code: 'document_unreachable', path: '/Response/Play[1]' }])
  })

  it('stops quietly when the caller hangs up in the middle', async () => {
    const call = new FakeCall()
    call.endsDuring = 'play'
    await run('<Say>a</Say><Say>b</Say>', call)
    expect(call.names).toEqual(['play'])
  })

  it('lets any other error of a verb through', async () => {
    const call = new FakeCall()
    call.play = async () => {
      throw new TypeError('broken')
    }
    await expect(run('<Say>a</Say>', call)).rejects.toThrow(TypeError)
  })
})

describe('Gather', () => {
  const gather = `<Gather numDigits="2" finishOnKey="*" timeout="3" action="${root}/menu"><Say>Pick</Say></Gather><Say>Nothing</Say>`

  it('passes prompt, digits and time-outs, so that a digit stops the prompt', async () => {
    expect(await run(gather)).toEqual([
      ['answer'],
      [
        'collect',
        {
          prompt: { sounds: [{ kind: 'speech', text: 'Pick' }] },
          maxDigits: 2,
          terminators: '*',
          initialTimeoutMs: 3000,
          interDigitTimeoutMs: 3000,
        },
      ],
      ['play', { sounds: [{ kind: 'speech', text: 'Nothing' }], loop: 1 }],
    ])
  })

  it('posts the digits to the action, whose document replaces the rest', async () => {
    const call = new FakeCall()
    call.collects.push({ reason: 'complete', digits: '42' })
    const context = new FakeContext({ [`${root}/menu`]: '<Response><Hangup/></Response>' })
    await run(gather, call, context)
    expect(call.names).toEqual(['answer', 'collect', 'hangup'])
    expect(context.requests).toMatchObject([{ url: `${root}/menu`, method: 'POST' }])
    expect(context.fields(0)).toMatchObject({ Digits: '42', CallStatus: 'in-progress' })
  })

  it('asks the action without digits only when it is told to', async () => {
    const context = new FakeContext({ [`${root}/menu`]: '<Response/>' })
    await run(`<Gather actionOnEmptyResult="true" action="${root}/menu"/>`, new FakeCall(), context)
    expect(context.fields(0)).toMatchObject({ Digits: '' })
  })
})

describe('Dial', () => {
  const dial = (attributes = '') => `<Dial ${attributes}><Sip>sip:a@b.example</Sip></Dial>`

  it('goes on with the next verb when there is no action', async () => {
    expect((await run(`${dial()}<Say>Bye</Say>`)).map(([name]) => name)).toEqual(['connect', 'play'])
  })

  it('tells the action how it went, and runs its document', async () => {
    const context = new FakeContext({ [`${root}/done`]: '<Response><Pause/></Response>' })
    const call = new FakeCall()
    await run(dial(`action="${root}/done" method="GET"`), call, context)
    expect(call.names).toEqual(['connect', 'sleep'])
    expect(context.requests[0]).toMatchObject({ method: 'GET' })
    expect(context.requests[0]?.body).toBeUndefined()
    expect(context.fields(0)).toMatchObject({
      DialCallStatus: 'completed',
      DialCallSid: 'c-2',
      DialCallDuration: '61',
      DialSipResponseCode: '200',
      CallSid: 'c-1',
    })
  })

  it.each([
    ['busy', 'busy'],
    ['declined', 'busy'],
    ['no-answer', 'no-answer'],
    ['unreachable', 'failed'],
    ['error', 'failed'],
  ] as const)('calls %s %s', async (reason, status) => {
    const call = new FakeCall()
    call.connects.push({ kind: 'failed', reason, code: reason, sipStatus: 486 })
    const context = new FakeContext({ [`${root}/done`]: '<Response/>' })
    await run(dial(`action="${root}/done"`), call, context)
    expect(context.fields(0)).toMatchObject({ DialCallStatus: status, DialSipResponseCode: '486' })
  })

  it('tells the action of a caller who hung up, and runs nothing more', async () => {
    const call = new FakeCall()
    call.connects.push({ kind: 'connected', endedBy: 'caller', durationMs: 1000, callee: testCallee })
    const context = new FakeContext({ [`${root}/done`]: '<Response><Say>never</Say></Response>' })
    await run(dial(`action="${root}/done"`), call, context)
    expect(call.names).toEqual(['connect'])
    expect(context.fields(0)).toMatchObject({ CallStatus: 'completed', DialCallStatus: 'completed' })
  })

  it('leaves a caller whom it never answered to be refused for what made it fail', async () => {
    const call = new FakeCall()
    call.connects.push({ kind: 'failed', reason: 'error', code: 'too_many_hops' })
    expect(await run(dial('answerOnBridge="true"'), call)).toMatchObject([['connect', {}]])
  })
})

describe('documents', () => {
  it('are asked for with the form fields of the family', async () => {
    const context = new FakeContext({ [`${root}/a`]: '<Response/>' })
    await handler.run(new FakeCall(), at(`${root}/a`), context)
    expect(context.requests).toMatchObject([
      { method: 'POST', body: { contentType: 'application/x-www-form-urlencoded' } },
    ])
    expect(context.fields(0)).toEqual({
      CallSid: 'c-1',
      AccountSid: 'demo',
      ApiVersion: '2010-04-01',
      From: 'sip:+15550001@carrier.example',
      To: 'sip:+15550002@demo.localhost',
      CallStatus: 'ringing',
      Direction: 'inbound',
      Caller: 'sip:+15550001@carrier.example',
      Called: 'sip:+15550002@demo.localhost',
      CallerName: 'Ann',
      SipUser: '+15550002',
      SipDomain: 'demo.localhost',
      SipCallId: 'sip-1',
      'SipHeader_X-Order': '+42',
    })
  })

  it('come by GET with the fields in the query, which relative URLs do not inherit', async () => {
    const context = new FakeContext({
      [`${root}/a`]: '<Response><Gather/></Response>',
    })
    const call = new FakeCall()
    call.collects.push({ reason: 'terminator', digits: '1', terminator: '#' })
    await handler.run(call, at(`${root}/a?k=v`, { method: 'GET' }), context)
    expect(context.fields(0)).toMatchObject({ k: 'v', CallSid: 'c-1' })
    expect(context.requests[1]).toMatchObject({ method: 'POST', url: `${root}/a?k=v` })
  })

  it('are replaced by Redirect, with relative URLs', async () => {
    const context = new FakeContext({
      [`${root}/x/a`]: '<Response><Redirect method="GET">b</Redirect><Say>never</Say></Response>',
      [`${root}/x/b`]: '<Response><Reject/></Response>',
    })
    const call = new FakeCall()
    await handler.run(call, at(`${root}/x/a`), context)
    expect(call.verbs).toEqual([['hangup', 'decline']])
  })

  it.each([
    ['at once', ''],
    ['after a pause of nothing', '<Pause length="0"/>'],
  ])('that only lead to themselves %s are stopped', async (_how, before) => {
    const context = new FakeContext({ [`${root}/a`]: `<Response>${before}<Redirect>a</Redirect></Response>` })
    const running = handler.run(new FakeCall(), at(`${root}/a`), context)
    await expect(running).rejects.toMatchObject({ faults: [{ code: '11215' }] })
    expect(context.requests).toHaveLength(33)
  })

  it('that cannot be had throw DocumentUnreachable before any verb, without the secrets of the URL', async () => {
    const call = new FakeCall()
    const running = handler.run(call, at('https://me:pa55@app.example/no?key=k1'), new FakeContext())
    await expect(running).rejects.toBeInstanceOf(DocumentUnreachable)
    await expect(running).rejects.toMatchObject({ url: 'https://app.example/no' })
    expect(call.verbs).toEqual([])
  })

  it('that are invalid throw DocumentInvalid before any verb', async () => {
    const call = new FakeCall()
    await expect(handler.run(call, inline('<Say>a</Say><Dial/>'), new FakeContext())).rejects.toBeInstanceOf(
      DocumentInvalid,
    )
    expect(call.verbs).toEqual([])
  })

  it.each([
    ['is unreachable', {}, '11200'],
    ['is invalid', { [`${root}/a`]: '<Response>' }, '12100'],
  ])('that %s are replaced by the fallback, which hears why', async (_what, documents, ErrorCode) => {
    const context = new FakeContext({ ...documents, [`${root}/fb`]: '<Response><Reject/></Response>' })
    const call = new FakeCall()
    await handler.run(call, at(`${root}/a`, { fallbackUrl: `${root}/fb` }), context)
    expect(call.verbs).toEqual([['hangup', 'decline']])
    expect(context.fields(1)).toMatchObject({ ErrorCode, ErrorUrl: `${root}/a` })
    expect(context.warnings).toMatchObject([{ code: ErrorCode }])
  })

  it('bring their warnings to the context', async () => {
    const context = new FakeContext()
    await run('<Nonsense/>', new FakeCall(), context)
    expect(context.warnings).toMatchObject([{ code: '12200', path: '/Response/Nonsense[1]' }])
  })

  it('that are given up because the call ended are no failure', async () => {
    const call = new FakeCall()
    const context = new FakeContext()
    context.fetchDocument = async () => {
      call.end()
      throw new Error('aborted')
    }
    await expect(handler.run(call, at(`${root}/a`), context)).resolves.toBeUndefined()
  })
})
