import { describe, expect, it } from 'vitest'
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

describe('Connect', () => {
  it('streams both ways, and delays the next verb until the stream ends', async () => {
    const { call } = await run('<Connect><Stream url="wss://ai.example"/></Connect><Say>Bye</Say>', {
      kind: 'closed',
    })
    expect(call.names).toEqual(['answer', 'startStream', 'play'])
    expect(call.verbs[1]?.[1]).toEqual({
      url: 'wss://ai.example',
      tracks: 'inbound',
      codec: 'PCMU',
      bidirectional: true,
    })
  })

  it('requests its action, also after a failed stream, with a warning', async () => {
    const connect = `<Connect action="${root}/next" method="GET">`
    const body = `${connect}<Stream url="wss://ai.example"/></Connect><Say>never</Say>`
    const { call, context } = await run(body, { kind: 'failed', reason: 'ECONNREFUSED' })
    expect(call.names).toEqual(['answer', 'startStream', 'hangup'])
    expect(context.requests).toMatchObject([{ method: 'GET' }])
    expect(context.warnings).toMatchObject([{ code: '31920', message: 'The stream failed: ECONNREFUSED.' }])
  })

  it('requests its action if the stream cannot start', async () => {
    const call = new FakeCall()
    call.failing.set('startStream', new VerbFailed('bad_stream', 'no'))
    const body = `<Connect action="${root}/next"><Stream url="wss://ai.example"/></Connect>`
    const { context } = await runXml(body, { call })
    expect(context.requests).toMatchObject([{ url: `${root}/next` }])
    expect(context.warnings).toMatchObject([{ code: 'bad_stream' }])
  })

  it('requests its action also after the caller has hung up', async () => {
    const call = new FakeCall()
    call.streamEnds.push({ kind: 'stopped' })
    call.during.set('startStream', () => call.end())
    const body = `<Connect action="${root}/next"><Stream url="wss://ai.example"/></Connect><Say>never</Say>`
    const { context } = await runXml(body, { call })
    expect(context.requests).toEqual([])
    expect(context.callbacks.map(fieldsOf)).toMatchObject([{ CallStatus: 'completed' }])
  })

  it('makes the caller a member of its room until the caller leaves', async () => {
    const call = new FakeCall()
    const { context } = await runXml(`<Connect action="${root}/next"><Room> north </Room></Connect>`, {
      call,
    })
    expect(call.verbs).toEqual([
      ['joinRoom', { name: 'north' }],
      ['hangup', 'hangup'],
    ])
    expect(context.requests).toMatchObject([{ url: `${root}/next` }])
  })

  it('continues if the room cannot be joined', async () => {
    const call = new FakeCall()
    call.failing.set('joinRoom', new VerbFailed('room_full', 'no'))
    const { context } = await runXml('<Connect><Room>/private/board</Room></Connect><Say>Hi</Say>', { call })
    expect(call.names).toEqual(['joinRoom', 'play'])
    expect(context.warnings).toMatchObject([{ code: 'room_full', path: '/Response/Connect[1]' }])
  })

  it('has no effect without a room, and accepts only one', () => {
    const paths = (body: string) =>
      readXmlDocument({ text: `<Response><Connect>${body}</Connect></Response>`, url: root }).warnings.map(
        ({ path }) => path.replace('/Response/Connect[1]', ''),
      )
    const stream = '<Stream url="wss://a.example"/>'
    expect(paths(stream + stream)).toEqual(['/Stream[2]'])
    expect(paths(`${stream}<Room>a</Room>`)).toEqual(['/Room[1]'])
    expect(paths('<Room>a b</Room>')).toEqual(['/Room[1]'])
    expect(paths('<Room/>')).toEqual(['/Room[1]'])
  })
})
