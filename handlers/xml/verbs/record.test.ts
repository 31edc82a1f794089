import { describe, expect, it } from 'vitest'
import { FakeCall } from '../../testing/fake-call.ts'
import { FakeContext } from '../../testing/fake-context.ts'
import { fieldsOf, nothingMore, root, runXml } from '../../testing/run-xml.ts'
import type { RecordResult } from '../../verbs.ts'
import { VerbFailed } from '../../verbs.ts'

const action = `action="${root}/next"`

const run = (body: string, result: Partial<RecordResult> = {}, at?: string) => {
  const call = new FakeCall()
  call.recordings.push({ reason: 'silence', ...result })
  return runXml(body, { call, at })
}

describe('Record', () => {
  it('has the defaults of the language', async () => {
    const { call } = await run('<Record/>')
    expect(call.verbs[0]).toEqual([
      'startRecording',
      {
        terminators: '0123456789*#',
        beep: true,
        trim: true,
        endSilenceMs: 5000,
        maxMs: 3_600_000,
        source: 'RecordVerb',
      },
    ])
  })

  it('takes timeout, finishOnKey, maxLength, playBeep and trim', async () => {
    const attributes = 'timeout="9" finishOnKey="#" maxLength="30" playBeep="false" trim="do-not-trim"'
    const { call, context } = await run(`<Record ${attributes}/>`)
    const wanted = { terminators: '#', beep: false, trim: false, endSilenceMs: 9000, maxMs: 30_000 }
    expect(call.verbs[0]).toEqual(['startRecording', { ...wanted, source: 'RecordVerb' }])
    expect(context.warnings).toEqual([])
    const { call: other } = await run('<Record maxLength="0"/>')
    expect(other.verbs[0]?.[1]).toMatchObject({ maxMs: 3_600_000 })
  })

  it('is reported once, also if the gateway dies', async () => {
    const attributes = `recordingStatusCallback="${root}/status" recordingStatusCallbackEvent="in-progress completed"`
    const { call, context } = await run(`<Record ${attributes}/>`)
    expect(call.verbs[0]?.[1]).toMatchObject({
      statusTarget: {
        dialect: 'form',
        url: `${root}/status`,
        method: 'POST',
        events: ['in-progress', 'completed'],
      },
    })
    expect(context.callbacks.map(({ ends }) => ends)).toEqual([undefined, 'r-1'])
  })

  it.each(['transcribe="true"', 'transcribeCallback="https://x.example"'])(
    'warns of %s, which has no effect',
    async (attribute) => {
      const { call, context } = await run(`<Record ${attribute}/>`)
      const path = `/Response/Record[1]/@${attribute.split('=')[0]}`
      expect(context.warnings).toMatchObject([{ code: '12200', path, line: 1, column: 19 }])
      expect(call.names).toContain('startRecording')
    },
  )

  it('sends the URL, the duration and the final key to its action', async () => {
    const result = { reason: 'terminator', terminator: '#', durationMs: 2600 } as const
    const { call, context } = await run(`<Record ${action} method="GET"/><Say>never</Say>`, result)
    expect(context.requests).toMatchObject([{ method: 'GET' }])
    expect(context.fields(0)).toMatchObject({
      RecordingSid: 'r-1',
      RecordingUrl: 'https://gw.example/r-1',
      RecordingDuration: '3',
      Digits: '#',
    })
    expect(call.names).toEqual(['startRecording', 'hangup'])
  })

  it('sends no URL without sound', async () => {
    const { context } = await run(`<Record ${action}/>`, { reason: 'no-input', bytes: 0, durationMs: 0 })
    expect(context.fields(0)).toMatchObject({ RecordingDuration: '0', Digits: '' })
    expect(context.fields(0)).not.toHaveProperty('RecordingUrl')
  })

  it('requests its action also after the caller hung up, and runs no further verb', async () => {
    const { call, context } = await run(`<Record ${action}/><Say>never</Say>`, { reason: 'hangup' })
    expect(context.requests).toEqual([])
    expect(context.callbacks).toMatchObject([{ kind: 'action', url: `${root}/next`, method: 'POST' }])
    expect(fieldsOf(context.callbacks[0])).toMatchObject({
      Digits: 'hangup',
      RecordingUrl: 'https://gw.example/r-1',
      CallStatus: 'completed',
    })
    expect(call.names).toEqual(['startRecording'])
  })

  it('requests the document itself without an action', async () => {
    const context = new FakeContext()
    const call = new FakeCall()
    call.recordings.push({ reason: 'silence' })
    call.during.set('startRecording', () => {
      context.documents[`${root}/self`] = nothingMore
    })
    await runXml('<Record/>', { call, context, at: '/self' })
    expect(context.requests.map(({ url }) => url)).toEqual([`${root}/self`, `${root}/self`])
  })

  it('continues with the next verb in an inline document without an action', async () => {
    const { call } = await run('<Record/><Say>Thanks</Say>')
    expect(call.names).toEqual(['startRecording', 'play'])
  })

  it('continues with the next verb if recording fails', async () => {
    const call = new FakeCall()
    call.failing.set('startRecording', new VerbFailed('recording_no_space', 'full'))
    const { context } = await runXml(`<Record ${action}/><Say>Sorry</Say>`, { call })
    expect(call.names).toEqual(['startRecording', 'play'])
    expect(context.warnings).toMatchObject([{ code: 'recording_no_space', path: '/Response/Record[1]' }])
  })

  it('sends the end to its recordingStatusCallback, with the fields in order', async () => {
    const { context } = await run(`<Record recordingStatusCallback="${root}/status"/>`, { durationMs: 2400 })
    expect(context.callbacks).toMatchObject([{ kind: 'recording', url: `${root}/status`, method: 'POST' }])
    expect(Object.entries(fieldsOf(context.callbacks[0]))).toEqual([
      ['AccountSid', 'demo'],
      ['CallSid', 'c-1'],
      ['RecordingSid', 'r-1'],
      ['RecordingUrl', 'https://gw.example/r-1'],
      ['RecordingStatus', 'completed'],
      ['RecordingDuration', '2'],
      ['RecordingChannels', '1'],
      ['RecordingSource', 'RecordVerb'],
    ])
  })

  it('sends the requested events to its recordingStatusCallback, by its method', async () => {
    const callback = `recordingStatusCallback="${root}/status" recordingStatusCallbackMethod="GET"`
    const events = 'recordingStatusCallbackEvent="in-progress absent"'
    const { context } = await run(`<Record ${callback} ${events}/>`, {
      reason: 'hangup',
      bytes: 0,
      durationMs: 0,
    })
    expect(context.callbacks).toMatchObject([{ method: 'GET' }, { method: 'GET' }])
    expect(context.callbacks.map(fieldsOf)).toMatchObject([
      { RecordingStatus: 'in-progress', RecordingSid: 'r-1' },
      { RecordingStatus: 'absent', RecordingDuration: '0' },
    ])
  })

  it('is sent by storageUrlMethod to storageUrl, which its recordingStatusCallback then receives', async () => {
    const call = new FakeCall()
    const { promise: stored, resolve } = Promise.withResolvers<string>()
    call.recordings.push({ reason: 'silence' })
    call.stored.push(stored)
    const storage = `storageUrl="https://me:pw@store.example/a.wav?sig=1" storageUrlMethod="POST"`
    const body = `<Record ${action} ${storage} recordingStatusCallback="${root}/status"/>`
    const { context } = await runXml(body, { call })
    expect(call.verbs[0]?.[1]).toMatchObject({
      storage: { url: 'https://me:pw@store.example/a.wav?sig=1', method: 'POST' },
    })
    expect(context.fields(0)).toMatchObject({ RecordingUrl: 'https://gw.example/r-1' })
    expect(context.callbacks).toEqual([])
    resolve('https://store.example/a.wav')
    await stored
    expect(context.callbacks.map(fieldsOf)).toMatchObject([
      { RecordingStatus: 'completed', RecordingUrl: 'https://store.example/a.wav' },
    ])
  })

  it('reports its local URL if the storage rejected it', async () => {
    const call = new FakeCall()
    call.recordings.push({ reason: 'silence' })
    const stored = Promise.resolve(undefined)
    call.stored.push(stored)
    const body = `<Record storageUrl="https://store.example/a" recordingStatusCallback="${root}/status"/>`
    const { context } = await runXml(body, { call })
    await stored
    expect(context.callbacks.map(fieldsOf)).toMatchObject([{ RecordingUrl: 'https://gw.example/r-1' }])
    expect(call.verbs[0]?.[1]).toMatchObject({ storage: { method: 'PUT' } })
  })

  it.each(['GET', 'put'])('is sent by PUT if storageUrlMethod is %s, with a warning', async (method) => {
    const { call, context } = await run(
      `<Record storageUrl="https://store.example/a" storageUrlMethod="${method}"/>`,
    )
    expect(call.verbs[0]?.[1]).toMatchObject({ storage: { method: 'PUT' } })
    expect(context.warnings).toMatchObject([{ code: '12200', path: '/Response/Record[1]/@storageUrlMethod' }])
  })

  it('reports a failure to its recordingStatusCallback', async () => {
    const { context } = await run(`<Record recordingStatusCallback="${root}/status"/>`, { reason: 'error' })
    expect(context.callbacks.map(fieldsOf)).toMatchObject([{ RecordingStatus: 'failed' }])
  })
})
