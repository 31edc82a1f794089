import { describe, expect, it } from 'vitest'
import { DocumentInvalid } from '../../handler.ts'
import { FakeCall } from '../../testing/fake-call.ts'
import { fieldsOf, root, runXml } from '../../testing/run-xml.ts'
import type { CollectOptions, CollectResult } from '../../verbs.ts'
import { readXmlDocument } from '../document.ts'

const run = (body: string, laid?: CollectResult, at?: string) => {
  const call = new FakeCall()
  if (laid) call.collects.push(laid)
  return runXml(body, { call, at })
}

/** Returns the options of `collect`, and the warnings. */
const collectOf = async (body: string, at?: string) => {
  const { call, context } = await run(body, undefined, at)
  return { options: call.verbs.find(([name]) => name === 'collect')?.[1], warnings: context.warnings }
}

const action = `action="${root}/next"`

describe('Gather', () => {
  it('has the defaults of the family: any number of digits, ended by # or 5 s', async () => {
    const { options } = await collectOf(`<Gather ${action}/>`)
    expect(options).toEqual({
      maxDigits: 128,
      terminators: '#',
      initialTimeoutMs: 5000,
      interDigitTimeoutMs: 5000,
    })
  })

  it('takes numDigits, finishOnKey and timeout, and stops its prompt at a digit', async () => {
    const attributes = 'numDigits="4" finishOnKey="" timeout="9" method="GET" actionOnEmptyResult="true"'
    const { options, warnings } = await collectOf(
      `<Gather ${attributes} ${action}><Say loop="2">Pin</Say><Pause length="2"/><Play>b.wav</Play></Gather>`,
      '/voice/start',
    )
    const pin = { kind: 'speech', text: 'Pin' }
    const audio = { kind: 'audio', url: `${root}/voice/b.wav` }
    expect(options).toEqual({
      prompt: { sounds: [pin, pin, { kind: 'silence', ms: 2000 }, audio] },
      maxDigits: 4,
      terminators: '',
      initialTimeoutMs: 9000,
      interDigitTimeoutMs: 9000,
    })
    expect(warnings).toEqual([])
  })

  it('posts the digits to the action, whose document replaces the remaining verbs', async () => {
    const { call, context } = await run(`<Gather ${action}/><Say>never</Say>`, {
      reason: 'complete',
      digits: '42',
    })
    expect(call.names).toEqual(['answer', 'collect', 'hangup'])
    expect(context.requests).toMatchObject([{ url: `${root}/next`, method: 'POST' }])
    expect(context.fields(0)).toMatchObject({ Digits: '42', CallStatus: 'in-progress' })
  })

  it('requests its action by its method', async () => {
    const { context } = await run(`<Gather ${action} method="GET"/>`, { reason: 'complete', digits: '4' })
    expect(context.requests).toMatchObject([{ method: 'GET' }])
    expect(context.fields(0)).toMatchObject({ Digits: '4' })
  })

  it('requests the document itself without an action', async () => {
    const call = new FakeCall()
    call.collects.push({ reason: 'terminator', digits: '1', terminator: '#' })
    const { context } = await runXml('<Gather/>', { call, at: '/self' })
    expect(context.requests.map(({ url }) => url)).toEqual([`${root}/self`, `${root}/self`])
  })

  it('requires an action in an inline document', () => {
    const invalid = () => readXmlDocument({ text: '<Response>\n\n  <Gather/></Response>' })
    expect(invalid).toThrow(DocumentInvalid)
    const fault = { code: '11100', path: '/Response/Gather[1]', line: 3, column: 3 }
    expect(invalid).toThrow(expect.objectContaining({ faults: [expect.objectContaining(fault)] }))
  })

  it('continues with the next verb without input, unless actionOnEmptyResult', async () => {
    const { call } = await run(`<Gather ${action}/><Say>Nothing</Say>`)
    expect(call.names).toEqual(['answer', 'collect', 'play'])
    const { context } = await run(`<Gather actionOnEmptyResult="true" ${action}/>`)
    expect(context.fields(0)).toMatchObject({ Digits: '' })
  })

  it('warns of elements that cannot be nested in it', async () => {
    const { warnings } = await collectOf(`<Gather ${action}><Dial>1</Dial><Play digits="1"/></Gather>`)
    expect(warnings).toMatchObject([
      { code: '12200', path: '/Response/Gather[1]/Dial[1]' },
      { code: '13222', path: '/Response/Gather[1]/Play[1]/@digits' },
    ])
  })

  it('sends no request after the caller hung up', async () => {
    const call = new FakeCall()
    call.endsDuring = 'collect'
    const { context } = await runXml(`<Gather ${action}/>`, { call })
    expect([...context.requests, ...context.callbacks]).toEqual([])
  })
})

describe('Gather with speech', () => {
  it('collects speech alone, with language, hints and speechTimeout', async () => {
    const attributes = 'language="de-AT" hints="ja, nein,,  vielleicht " speechTimeout="3"'
    const { options } = await collectOf(`<Gather input="speech" ${attributes} ${action}/>`)
    expect(options).toMatchObject({
      speech: { language: 'de-AT', hints: ['ja', 'nein', 'vielleicht'], endSilenceMs: 3000 },
      digits: false,
    })
  })

  it('collects digits and speech together', async () => {
    const { options } = await collectOf(`<Gather input="dtmf speech" speechTimeout="auto" ${action}/>`)
    expect(options).toMatchObject({ speech: {}, terminators: '#' })
    expect(options).not.toHaveProperty('digits')
  })

  it('sends the recognised text and its confidence to its action', async () => {
    const speech = { text: 'sales please', confidence: 0.912_345 }
    const laid = { reason: 'speech', digits: '', speech } as const
    const { context } = await run(`<Gather input="speech dtmf" ${action}/>`, laid)
    expect(context.fields(0)).toMatchObject({ SpeechResult: 'sales please', Confidence: '0.9123' })
    expect(context.fields(0)).not.toHaveProperty('Digits')
  })

  it('continues if no speech was recognised, for any reason', async () => {
    for (const reason of ['error', 'no-input'] as const) {
      const { call } = await run(`<Gather input="speech" ${action}/><Say>Sorry</Say>`, { reason, digits: '' })
      expect(call.names).toEqual(['answer', 'collect', 'play'])
    }
  })

  it('sends partial results to its partialResultCallback in order', async () => {
    const call = new FakeCall()
    call.during.set('collect', ({ speech }: CollectOptions) => {
      speech?.onPartial?.('sal')
      speech?.onPartial?.('sales')
    })
    const partial = `partialResultCallback="${root}/partial" partialResultCallbackMethod="GET"`
    const { context } = await runXml(`<Gather input="speech" ${partial} ${action}/>`, { call })
    expect(context.callbacks).toMatchObject([
      { kind: 'speech-partial', method: 'GET' },
      { kind: 'speech-partial', method: 'GET' },
    ])
    expect(context.callbacks.map(fieldsOf)).toMatchObject([
      { CallSid: 'c-1', SequenceNumber: '0', UnstableSpeechResult: 'sal' },
      { CallSid: 'c-1', SequenceNumber: '1', UnstableSpeechResult: 'sales' },
    ])
  })

  it('warns of an invalid speechTimeout, and of unsupported attributes', async () => {
    const { warnings } = await collectOf(
      `<Gather input="speech" speechTimeout="0" enhanced="true" ${action}/>`,
    )
    expect(warnings.map(({ path }) => path)).toEqual([
      '/Response/Gather[1]/@enhanced',
      '/Response/Gather[1]/@speechTimeout',
    ])
  })
})
