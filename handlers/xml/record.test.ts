import { describe, expect, it } from 'vitest'
import { FakeCall } from '../common/fake-call.ts'
import { FakeContext } from '../common/fake-context.ts'
import { DocumentInvalid, type DocumentSource } from '../handler.ts'
import type { RecordResult } from '../verbs.ts'
import { readXmlDocument } from './document.ts'
import { createXmlHandler } from './handler.ts'

const root = 'https://app.example'
const read = (body: string, url?: string) =>
  readXmlDocument({ text: `<Response>${body}</Response>`, ...(url && { url }) })

const run = async (body: string, result: Partial<RecordResult> = {}, inline = true) => {
  const call = new FakeCall()
  call.recordings.push(result)
  const hangUp = '<Response><Hangup/></Response>'
  const context = new FakeContext({ [`${root}/voicemail`]: hangUp, [`${root}/next`]: hangUp })
  const text = `<Response>${body}</Response>`
  const source: DocumentSource = inline
    ? { kind: 'inline', text, name: 'test' }
    : { kind: 'url', url: `${root}/first` }
  if (!inline) context.documents[`${root}/first`] = text
  await createXmlHandler().run(call, source, context)
  return { call, context }
}

describe('Record', () => {
  it('has the defaults of the language', () => {
    expect(read('<Record/>')).toEqual({
      warnings: [],
      verbs: [
        {
          ...{ kind: 'record', path: '/Response/Record[1]', action: undefined },
          record: {
            ...{ terminators: '0123456789*#', beep: true, trim: true },
            ...{ endSilenceMs: 5000, maxMs: 3_600_000 },
          },
        },
      ],
    })
    expect(read('<Record/>', `${root}/me`).verbs[0]).toMatchObject({
      action: { url: `${root}/me`, method: 'POST' },
    })
  })

  it('takes all that the verb has', () => {
    const attributes =
      'timeout="9" finishOnKey="#" maxLength="30" playBeep="false" trim="do-not-trim" action="/next" method="GET"'
    expect(read(`<Record ${attributes} transcribe="false"/>`, root)).toMatchObject({
      warnings: [],
      verbs: [
        {
          record: { terminators: '#', beep: false, trim: false, endSilenceMs: 9000, maxMs: 30_000 },
          action: { url: `${root}/next`, method: 'GET' },
        },
      ],
    })
    expect(read('<Record maxLength="0"/>').verbs[0]).toMatchObject({ record: { maxMs: 3_600_000 } })
  })

  it.each([
    'recordingStatusCallback="https://x.example"',
    'recordingStatusCallbackEvent="completed"',
    'transcribe="true"',
    'transcribeCallback="https://x.example"',
    'storageUrl="https://x.example"',
  ])('refuses the document for %s, which is not there yet', (attribute) => {
    const refused = () => read(`<Record ${attribute}/>`)
    expect(refused).toThrow(DocumentInvalid)
    const [name] = attribute.split('=')
    expect(refused).toThrow(
      expect.objectContaining({
        faults: [expect.objectContaining({ path: `/Response/Record[1]/@${name}` })],
      }),
    )
  })

  it('tells its action where the recording is, how long it is, and the key that ended it', async () => {
    const result = { reason: 'terminator', terminator: '#', durationMs: 2600 } as const
    const { call, context } = await run(`<Record action="${root}/next"/><Say>never</Say>`, result)
    expect(context.fields(0)).toMatchObject({
      ...{ RecordingSid: 'r-1', RecordingUrl: 'https://gw.example/r-1', RecordingDuration: '3', Digits: '#' },
    })
    expect(call.names).toEqual(['record', 'hangup'])
  })

  it('tells of no URL where there is no sound', async () => {
    const { context } = await run(`<Record action="${root}/next"/>`, {
      reason: 'no-input',
      bytes: 0,
      durationMs: 0,
    })
    expect(context.fields(0)).toMatchObject({ RecordingDuration: '0', Digits: '' })
    expect(context.fields(0)).not.toHaveProperty('RecordingUrl')
  })

  it('tells its action also when the caller has hung up, and runs nothing more', async () => {
    const { call, context } = await run(`<Record action="${root}/next"/>`, { reason: 'hangup' })
    expect(context.fields(0)).toMatchObject({
      ...{ Digits: 'hangup', RecordingUrl: 'https://gw.example/r-1', CallStatus: 'completed' },
    })
    expect(call.names).toEqual(['record'])
  })

  it('goes on with the next verb where a document in place has no action', async () => {
    const { call } = await run('<Record/><Say>Thanks</Say>')
    expect(call.names).toEqual(['record', 'play'])
  })
})
