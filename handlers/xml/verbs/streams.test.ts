import { describe, expect, it } from 'vitest'
import { DocumentInvalid } from '../../handler.ts'
import { FakeCall } from '../../testing/fake-call.ts'
import { fieldsOf, root, runXml } from '../../testing/run-xml.ts'
import type { StreamEnd } from '../../verbs.ts'
import { VerbFailed } from '../../verbs.ts'
import { readXmlDocument } from '../document.ts'

const run = (body: string, ...ends: StreamEnd[]) => {
  const call = new FakeCall()
  call.streamEnds.push(...ends)
  return runXml(body, { call })
}

describe('Start', () => {
  it('starts its streams without delaying the next verb', async () => {
    const body =
      '<Start><Stream url="wss://ai.example/in" name="a" track="both_tracks" codec="L16@24000h@40i" authBearerToken="t">' +
      '<Parameter name="who" value="Ann"/><Parameter name="__proto__" value="x"/></Stream></Start><Say>Hi</Say>'
    const { call } = await run(body)
    expect(call.names).toEqual(['answer', 'startStream', 'play'])
    expect(call.verbs[1]?.[1]).toEqual({
      url: 'wss://ai.example/in',
      name: 'a',
      tracks: 'both',
      codec: 'L16',
      sampleRate: 24_000,
      packetMs: 40,
      bearerToken: 't',
      parameters: { who: 'Ann', ['__proto__']: 'x' },
    })
  })

  it('warns of a stream that cannot start, and starts the others', async () => {
    const call = new FakeCall()
    call.failing.set('startStream', new VerbFailed('bad_stream', 'no'))
    const stream = '<Stream url="ws://ai.example"/>'
    const { context } = await runXml(`<Start>${stream}${stream}</Start><Say>Hi</Say>`, { call })
    expect(call.names).toEqual(['answer', 'startStream', 'startStream', 'play'])
    expect(context.warnings).toMatchObject(Array(2).fill({ code: 'bad_stream', path: '/Response/Start[1]' }))
  })
})

describe('Stop', () => {
  it('ends the stream of each name', async () => {
    const { call } = await run('<Stop><Stream name="a"/><Stream name="b"/></Stop>')
    expect(call.verbs.slice(0, 2)).toEqual([
      ['stopStream', 'a'],
      ['stopStream', 'b'],
    ])
  })
})

describe('Stream', () => {
  it.each(['', 'url="https://ai.example"', 'url="/relative"', 'url="rtp://192.0.2.1:4000"'])(
    'rejects the document without a WebSocket URL: %s',
    (attributes) => {
      const text = `<Response><Connect><Stream ${attributes}/></Connect></Response>`
      const invalid = () => readXmlDocument({ text, url: root })
      expect(invalid).toThrow(DocumentInvalid)
      expect(invalid).toThrow('wss: or ws:')
    },
  )

  it.each([
    [{ kind: 'closed' } as const, 'stream-stopped', undefined],
    [{ kind: 'failed', reason: 'ECONNRESET' } as const, 'stream-error', 'ECONNRESET'],
  ])('sends its start and end to its statusCallback: %j', async (end, StreamEvent, StreamError) => {
    const callback = `statusCallback="${root}/status" statusCallbackMethod="GET"`
    const { context } = await run(
      `<Connect><Stream url="wss://a.example" name="n" ${callback}/></Connect>`,
      end,
    )
    expect(context.callbacks).toMatchObject([
      { kind: 'stream', method: 'GET' },
      { kind: 'stream', method: 'GET' },
    ])
    const common = { AccountSid: 'demo', CallSid: 'c-1', StreamSid: 's-1', StreamName: 'n' }
    expect(context.callbacks.map(fieldsOf)).toEqual([
      { ...common, StreamEvent: 'stream-started' },
      { ...common, StreamEvent, ...(StreamError && { StreamError }) },
    ])
  })

  it('warns of attributes without an effect', () => {
    const paths = (body: string) =>
      readXmlDocument({ text: `<Response>${body}</Response>`, url: root }).warnings.map(({ path }) => path)
    expect(paths('<Start><Siprec/></Start>')).toEqual(['/Response/Start[1]/Siprec[1]'])
    expect(paths('<Stop><Stream/></Stop>')).toEqual(['/Response/Stop[1]/Stream[1]'])
    expect(paths('<Start><Stream url="wss://a.example" codec="opus"><Say/></Stream></Start>')).toEqual([
      '/Response/Start[1]/Stream[1]/Say[1]',
      '/Response/Start[1]/Stream[1]/@codec',
    ])
    expect(paths('<Start><Stream url="wss://a.example" codec=" PCMA@40i "/></Start>')).toEqual([])
  })
})
