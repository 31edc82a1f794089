import { describe, expect, it } from 'vitest'
import { FakeCall } from '../common/fake-call.ts'
import { FakeContext } from '../common/fake-context.ts'
import { DocumentInvalid } from '../handler.ts'
import type { CollectResult, StreamEnd } from '../verbs.ts'
import { VerbFailed } from '../verbs.ts'
import { readXmlDocument } from './document.ts'
import { createXmlHandler } from './handler.ts'

const root = 'https://app.example'
const read = (body: string) => readXmlDocument({ text: `<Response>${body}</Response>`, url: root })

const run = async (body: string, laid: { collect?: CollectResult; ends?: StreamEnd[] } = {}) => {
  const call = new FakeCall()
  if (laid.collect) call.collects.push(laid.collect)
  call.streamEnds.push(...(laid.ends ?? []))
  const context = new FakeContext({ [`${root}/next`]: '<Response><Hangup/></Response>' })
  await createXmlHandler().run(
    call,
    { kind: 'inline', text: `<Response>${body}</Response>`, name: 't' },
    context,
  )
  return { call, context }
}

describe('Gather with speech', () => {
  it('collects speech alone, or digits too, as its attributes say', () => {
    const gather = 'language="de-AT" hints="ja, nein,,  vielleicht " speechTimeout="3"'
    const speech = { language: 'de-AT', hints: ['ja', 'nein', 'vielleicht'], endSilenceMs: 3000 }
    const alone = read(`<Gather input="speech" ${gather}/>`)
    expect(alone).toMatchObject({ warnings: [], verbs: [{ kind: 'gather', speech, digits: false }] })
    const both = read('<Gather input="dtmf speech" speechTimeout="auto"/>').verbs[0]
    expect(both).toMatchObject({ speech: {} })
    expect(both).not.toHaveProperty('digits')
  })

  it('warns of what has no effect', () => {
    expect(read('<Gather language="de"/>').warnings).toMatchObject([
      { path: '/Response/Gather[1]/@language' },
    ])
    const { verbs, warnings } = read('<Gather input="speech" speechTimeout="0" enhanced="true"/>')
    expect(warnings.map(({ path }) => path)).toEqual([
      '/Response/Gather[1]/@speechTimeout',
      '/Response/Gather[1]/@enhanced',
    ])
    expect(verbs[0]).toMatchObject({ speech: {} })
  })

  it('tells its action what was said, and how sure that is', async () => {
    const speech = { text: 'sales please', confidence: 0.912_345 }
    const gather = `<Gather input="speech dtmf" action="${root}/next"/>`
    const { call, context } = await run(gather, { collect: { reason: 'speech', digits: '', speech } })
    expect(call.verbs[1]?.[1]).toMatchObject({ speech: {}, terminators: '#' })
    expect(call.verbs[1]?.[1]).not.toHaveProperty('digits')
    expect(context.fields(0)).toMatchObject({ SpeechResult: 'sales please', Confidence: '0.9123' })
    expect(context.fields(0)).not.toHaveProperty('Digits')
  })

  it('goes on where nothing was understood, whatever the reason', async () => {
    const gather = `<Gather input="speech" action="${root}/next"/><Say>Sorry</Say>`
    for (const reason of ['error', 'no-input'] as const) {
      const { call } = await run(gather, { collect: { reason, digits: '' } })
      expect(call.names).toEqual(['answer', 'collect', 'play'])
      expect(call.verbs[1]?.[1]).toMatchObject({ digits: false })
    }
  })
})

describe('Stream', () => {
  it('of Start begins, and does not keep the next verb waiting', async () => {
    const body =
      '<Start><Stream url="wss://ai.example/in" name="a" track="both_tracks" codec="L16@8000h" authBearerToken="t">' +
      '<Parameter name="who" value="Ann"/><Parameter name="__proto__" value="x"/></Stream></Start><Say>Hi</Say><Stop><Stream name="a"/></Stop>'
    const { call } = await run(body)
    expect(call.names).toEqual(['answer', 'startStream', 'play', 'stopStream'])
    expect(call.verbs[1]?.[1]).toEqual({
      ...{ url: 'wss://ai.example/in', name: 'a', tracks: 'both', codec: 'L16', sampleRate: 8000 },
      ...{ bearerToken: 't', parameters: { who: 'Ann', ['__proto__']: 'x' } },
    })
    expect(call.verbs[3]).toEqual(['stopStream', 'a'])
  })

  it('of Connect goes both ways, and the next verb waits for its end', async () => {
    const { call } = await run('<Connect><Stream url="wss://ai.example"/></Connect><Say>Bye</Say>', {
      ends: [{ kind: 'closed' }],
    })
    expect(call.names).toEqual(['answer', 'startStream', 'play'])
    expect(call.verbs[1]?.[1]).toEqual({
      ...{ url: 'wss://ai.example', tracks: 'inbound', codec: 'PCMU', bidirectional: true },
    })
  })

  it('of Connect asks its action, also when it failed, which is a warning', async () => {
    const body = `<Connect action="${root}/next"><Stream url="wss://ai.example"/></Connect><Say>never</Say>`
    const { call, context } = await run(body, { ends: [{ kind: 'failed', reason: 'ECONNREFUSED' }] })
    expect(call.names).toEqual(['answer', 'startStream', 'hangup'])
    expect(context.warnings).toMatchObject([{ code: '31920', message: 'The stream failed: ECONNREFUSED.' }])
  })

  it('that cannot begin is noted, and the next verb has its turn', async () => {
    const call = new FakeCall()
    call.failing.set('startStream', new VerbFailed('bad_stream', 'no'))
    const context = new FakeContext()
    const text = '<Response><Start><Stream url="ws://ai.example"/></Start><Say>Hi</Say></Response>'
    await createXmlHandler().run(call, { kind: 'inline', text, name: 't' }, context)
    expect(call.names).toEqual(['answer', 'startStream', 'play'])
    expect(context.warnings).toMatchObject([{ code: 'bad_stream', path: '/Response/Start[1]/Stream[1]' }])
  })

  it.each(['', 'url="https://ai.example"', 'url="/relative"', 'url="rtp://192.0.2.1:4000"'])(
    'needs the URL of a WebSocket: %s',
    (attributes) => {
      const invalid = () => read(`<Connect><Stream ${attributes}/></Connect>`)
      expect(invalid).toThrow(DocumentInvalid)
      expect(invalid).toThrow('wss: or ws:')
    },
  )

  it('warns of what has no effect', () => {
    const paths = (body: string) => read(body).warnings.map(({ path }) => path)
    const stream = '<Stream url="wss://a.example"/>'
    expect(paths(`<Connect>${stream}${stream}</Connect>`)).toEqual(['/Response/Connect[1]/Stream[2]'])
    expect(paths('<Start><Siprec/></Start>')).toEqual(['/Response/Start[1]/Siprec[1]'])
    expect(paths('<Stop><Stream/></Stop>')).toEqual(['/Response/Stop[1]/Stream[1]'])
    expect(paths('<Start><Stream url="wss://a.example" codec="opus"><Say/></Stream></Start>')).toEqual([
      '/Response/Start[1]/Stream[1]/@codec',
      '/Response/Start[1]/Stream[1]/Say[1]',
    ])
  })
})
