import { describe, expect, it } from 'vitest'
import type { DocumentSource } from '../handler.ts'
import { DocumentInvalid, DocumentUnreachable } from '../handler.ts'
import { FakeCall } from '../testing/fake-call.ts'
import { FakeContext } from '../testing/fake-context.ts'
import { inline, nothingMore, root, runXml } from '../testing/run-xml.ts'
import { VerbFailed } from '../verbs.ts'
import { createXmlHandler } from './handler.ts'

const handler = createXmlHandler()
const at = (url: string, more: object = {}): DocumentSource => ({ kind: 'url', url, ...more })

describe('a document', () => {
  it('answers and hangs up if empty', async () => {
    expect((await runXml('')).call.verbs).toEqual([['answer']])
  })

  it('neither answers nor hangs up after the last verb', async () => {
    expect((await runXml('<Say>Hi</Say>')).call.names).toEqual(['play'])
  })

  it('reports the start of each verb', async () => {
    const { context } = await runXml('<Say>Hi</Say><Pause/>')
    expect(context.steps).toEqual([
      { path: '/Response/Say[1]', method: 'Say' },
      { path: '/Response/Pause[1]', method: 'Pause' },
    ])
  })

  it('continues with the next verb if a verb fails', async () => {
    const call = new FakeCall()
    call.failing.set('play', new VerbFailed('document_unreachable', 'no audio'))
    const { context } = await runXml('<Play>https://x.example/a.wav</Play><Pause/>', { call })
    expect(call.names).toEqual(['play', 'sleep', 'answer'])
    expect(context.warnings).toMatchObject([{ code: 'document_unreachable', path: '/Response/Play[1]' }])
  })

  it('stops without an error when the caller hangs up', async () => {
    const call = new FakeCall()
    call.endsDuring = 'play'
    await runXml('<Say>a</Say><Say>b</Say>', { call })
    expect(call.names).toEqual(['play'])
  })

  it('passes on any other error of a verb', async () => {
    const call = new FakeCall()
    call.play = async () => {
      throw new TypeError('broken')
    }
    await expect(runXml('<Say>a</Say>', { call })).rejects.toThrow(TypeError)
  })
})

describe('documents', () => {
  it('are requested with the form fields of the family', async () => {
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

  it('are requested with the variables of the calling page, each under its own name', async () => {
    const context = new FakeContext({ [`${root}/a`]: '<Response/>' })
    const userVariables = { order: 7, From: '<Say>', tags: ['a', { b: null }] }
    await handler.run(new FakeCall({ type: 'webrtc', userVariables }), at(`${root}/a`), context)
    expect(context.fields(0)).toMatchObject({
      From: 'sip:+15550001@carrier.example',
      UserVariable_order: '7',
      UserVariable_From: '<Say>',
      UserVariable_tags: '["a",{"b":null}]',
    })
  })

  it('are requested by GET with the fields in the query, which relative URLs do not inherit', async () => {
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
  ])('that only lead to one another %s are stopped', async (_how, before) => {
    const context = new FakeContext({ [`${root}/a`]: `<Response>${before}<Redirect>a</Redirect></Response>` })
    const running = handler.run(new FakeCall(), at(`${root}/a`), context)
    await expect(running).rejects.toMatchObject({ faults: [{ code: '11215' }] })
    expect(context.requests).toHaveLength(33)
  })

  it('that cannot be fetched throw DocumentUnreachable before any verb, without the secrets of the URL', async () => {
    const call = new FakeCall()
    const running = handler.run(call, at('https://me:pa55@app.example/no?key=k1'), new FakeContext())
    await expect(running).rejects.toBeInstanceOf(DocumentUnreachable)
    await expect(running).rejects.toMatchObject({ url: 'https://app.example/no' })
    expect(call.verbs).toEqual([])
  })

  it('that are invalid throw DocumentInvalid before any verb', async () => {
    const call = new FakeCall()
    await expect(handler.run(call, inline('<Say>a</Say><Play/>'), new FakeContext())).rejects.toBeInstanceOf(
      DocumentInvalid,
    )
    expect(call.verbs).toEqual([])
  })

  it.each([
    ['is unreachable', {}, '11200'],
    ['is invalid', { [`${root}/a`]: '<Response>' }, '12100'],
  ])(
    'that %s are replaced by the fallback, which receives the reason',
    async (_what, documents, ErrorCode) => {
      const context = new FakeContext({ ...documents, [`${root}/fb`]: '<Response><Reject/></Response>' })
      const call = new FakeCall()
      await handler.run(call, at(`${root}/a`, { fallbackUrl: `${root}/fb` }), context)
      expect(call.verbs).toEqual([['hangup', 'decline']])
      expect(context.fields(1)).toMatchObject({ ErrorCode, ErrorUrl: `${root}/a` })
      expect(context.warnings).toMatchObject([{ code: ErrorCode }])
    },
  )

  it('are requested by the method of the fallback, also those that it leads to', async () => {
    const fb = `${root}/fb`
    const context = new FakeContext({ [fb]: '<Response><Redirect>/c</Redirect></Response>' })
    const source = at(`${root}/a`, { method: 'GET', fallbackUrl: fb, fallbackMethod: 'POST' })
    await handler.run(new FakeCall(), source, context).catch(() => {})
    const asked = context.requests.map(({ url, method }) => `${method} ${url.split('?')[0]}`)
    expect(asked.slice(0, 4)).toEqual([`GET ${root}/a`, `POST ${fb}`, `POST ${root}/c`, `POST ${fb}`])
  })

  it('are named in their faults, without possible secrets', async () => {
    const context = new FakeContext({
      'https://u:p@app.example/a': '<Response><Foo/><Redirect>/b?token=1</Redirect></Response>',
      [`${root}/b`]: '<Response>\n<Say</Response>',
      [`${root}/fb`]: '<Response><Bar/></Response>',
    })
    context.documents['https://u:p@app.example/b'] = context.documents[`${root}/b`]!
    const source = at('https://u:p@app.example/a?token=1', { fallbackUrl: `${root}/fb` })
    await handler.run(new FakeCall(), source, context)
    expect(context.warnings).toMatchObject([
      { code: '12200', document: `${root}/a`, line: 1, column: 11 },
      { code: '12100', document: `${root}/b`, line: expect.any(Number) },
      { code: '12200', document: `${root}/fb`, line: 1, column: 11 },
    ])
  })

  it.each([
    ['timeout', '11200'],
    ['dns', '11210'],
    ['redirects', '11215'],
    ['status', '11217'],
    ['tls', '11220'],
    ['too-large', '11750'],
  ])('that failed for %s are reported to the fallback as %s', async (reason, ErrorCode) => {
    const failure = Object.assign(new Error('no'), { facts: { reason } })
    const context = new FakeContext({ [`${root}/a`]: failure, [`${root}/fb`]: '<Response/>' })
    await handler.run(new FakeCall(), at(`${root}/a`, { fallbackUrl: `${root}/fb` }), context)
    expect(context.fields(1)).toMatchObject({ ErrorCode, ErrorUrl: `${root}/a` })
  })

  it('are retried with the overrides in the fragment of their URL, which relative URLs do not inherit', async () => {
    const next = '<Response><Redirect method="GET">b</Redirect></Response>'
    const context = new FakeContext({
      [`${root}/a`]: '<Response><Gather/></Response>',
      [`${root}/b`]: nothingMore,
    })
    const call = new FakeCall()
    call.collects.push({ reason: 'complete', digits: '1' })
    call.during.set('collect', () => {
      context.documents[`${root}/a`] = next
    })
    context.fetchDocument = async (request) => {
      context.requests.push(request)
      const { pathname } = new URL(request.url)
      return { url: request.url, contentType: '', text: String(context.documents[`${root}${pathname}`]) }
    }
    await handler.run(call, at(`${root}/a#rc=2&rt=5000`), context)
    const asked = context.requests.map(({ url }) => url)
    expect(asked.slice(0, 2)).toEqual([`${root}/a#rc=2&rt=5000`, `${root}/a#rc=2&rt=5000`])
    expect(new URL(asked[2]!)).toMatchObject({ pathname: '/b', hash: '' })
  })

  it('keep the overrides in the fragments of their URLs', async () => {
    const context = new FakeContext()
    context.fetchDocument = async (request) => {
      context.requests.push(request)
      return { url: request.url, contentType: '', text: nothingMore }
    }
    await runXml(`<Redirect method="GET">${root}/b#tt=1000</Redirect>`, { context })
    expect(new URL(context.requests[0]!.url)).toMatchObject({ pathname: '/b', hash: '#tt=1000' })
    expect(context.fields(0)).toMatchObject({ CallSid: 'c-1' })
  })

  it('report their warnings to the context', async () => {
    const context = new FakeContext()
    await runXml('<Nonsense/>', { context })
    expect(context.warnings).toMatchObject([{ code: '12200', path: '/Response/Nonsense[1]' }])
  })

  it('that are abandoned because the call ended cause no failure', async () => {
    const call = new FakeCall()
    const context = new FakeContext()
    context.fetchDocument = async () => {
      call.end()
      throw new Error('aborted')
    }
    await expect(handler.run(call, at(`${root}/a`), context)).resolves.toBeUndefined()
  })
})
