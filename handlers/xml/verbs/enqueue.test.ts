import { describe, expect, it } from 'vitest'
import { FakeCall } from '../../testing/fake-call.ts'
import { FakeContext } from '../../testing/fake-context.ts'
import { fieldsOf, root, runXml } from '../../testing/run-xml.ts'
import type { QueueOptions, QueueResult } from '../../verbs.ts'
import { VerbFailed } from '../../verbs.ts'

const action = `action="${root}/next"`
const place = { queueId: 'q-1', name: 'sales', position: 2, size: 4, waitedMs: 7000, averageWaitMs: 31_000 }

describe('Enqueue', () => {
  it('waits in the queue with hold music, and continues with the next verb', async () => {
    const { call } = await runXml('<Enqueue>sales</Enqueue><Say>Bye</Say>')
    expect(call.verbs[0]).toEqual(['enterQueue', { name: 'sales' }])
    expect(call.names).toEqual(['enterQueue', 'play'])
  })

  it.each([
    ['bridged', 'bridged'],
    ['left', 'leave'],
    ['timeout', 'leave'],
    ['full', 'queue-full'],
  ] as const)('reports %s to its action as %s', async (kind, QueueResult) => {
    const call = new FakeCall()
    call.queues.push({ kind, queueId: 'q-1', waitedMs: 3400, position: 1, size: 1 } satisfies QueueResult)
    const { context } = await runXml(`<Enqueue ${action} method="GET">sales</Enqueue>`, { call })
    expect(context.requests).toMatchObject([{ method: 'GET' }])
    expect(Object.entries(context.fields(0)).slice(-3)).toEqual([
      ['QueueResult', QueueResult],
      ['QueueSid', 'q-1'],
      ['QueueTime', '3'],
    ])
  })

  it('reports to its action that the caller hung up, and runs no further verb', async () => {
    const call = new FakeCall()
    call.queues.push({ kind: 'hangup', queueId: 'q-1', waitedMs: 3400, position: 1, size: 1 })
    const { context } = await runXml(`<Enqueue ${action}>sales</Enqueue><Say>never</Say>`, { call })
    expect(context.callbacks.map(fieldsOf)).toMatchObject([
      { QueueResult: 'hangup', CallStatus: 'completed' },
    ])
    expect(call.names).toEqual(['enterQueue'])
  })

  it('reports an unavailable queue to its action', async () => {
    const call = new FakeCall()
    call.failing.set('enterQueue', new VerbFailed('internal', 'no'))
    const { context } = await runXml(`<Enqueue ${action}>sales</Enqueue>`, { call })
    expect(context.fields(0)).toMatchObject({ QueueResult: 'system-error' })
    expect(context.warnings).toMatchObject([{ code: 'internal', path: '/Response/Enqueue[1]' }])
  })

  it('has no effect without a name, and warns', async () => {
    const { call, context } = await runXml('<Enqueue/><Say>on</Say>')
    expect(call.names).toEqual(['play'])
    expect(context.warnings).toMatchObject([{ code: '12200', path: '/Response/Enqueue[1]' }])
  })
})

/** Makes a caller wait for some rounds. */
const wait = async (
  attributes: string,
  documents: Record<string, string> = {},
  rounds = 1,
  waiting = new FakeCall(),
) => {
  const call = new FakeCall()
  let left: unknown
  call.during.set('enterQueue', async (options: QueueOptions) => {
    for (let round = 0; round < rounds; round++)
      left = await options.wait?.(waiting, () => place).catch(() => 'found')
  })
  const context = new FakeContext(documents)
  await runXml(`<Enqueue ${attributes}>sales</Enqueue>`, { call, context })
  return { waiting, context, left }
}

describe('the waitUrl of Enqueue', () => {
  const url = `waitUrl="${root}/wait"`

  it('is a document that runs for the waiting caller, with the fields of the wait', async () => {
    const document = '<Response><Say>Soon</Say><Dial>1</Dial></Response>'
    const documents = { [`${root}/wait`]: document }
    const { waiting, context, left } = await wait(`${url} waitUrlMethod="GET"`, documents, 2)
    expect(waiting.names).toEqual(['play', 'play'])
    expect(left).toBeUndefined()
    expect(context.requests).toMatchObject([{ method: 'GET' }, { method: 'GET' }])
    expect(Object.entries(context.fields(0)).slice(-5)).toEqual([
      ['QueuePosition', '2'],
      ['QueueSid', 'q-1'],
      ['QueueTime', '7'],
      ['AvgQueueTime', '31'],
      ['CurrentQueueSize', '4'],
    ])
    expect(context.warnings).toMatchObject([{ code: '12200', path: '/Response/Dial[1]' }])
  })

  it('is not requested again after an agent was found', async () => {
    const waiting = new FakeCall()
    waiting.collects.push({ reason: 'complete', digits: '1' })
    waiting.during.set('collect', () => waiting.end())
    const gather = `<Response><Gather action="${root}/next"/></Response>`
    const { context } = await wait(url, { [`${root}/wait`]: gather }, 1, waiting)
    expect(context.requests).toHaveLength(1)
    expect(context.callbacks).toEqual([])
  })

  it('is also requested by its waitMethod', async () => {
    const { context } = await wait(`${url} waitMethod="GET"`, { [`${root}/wait`]: '<Response/>' })
    expect(context.requests).toMatchObject([{ method: 'GET' }])
  })

  it('removes the waiting caller from the queue with Leave', async () => {
    const { waiting, left } = await wait(url, { [`${root}/wait`]: '<Response><Leave/></Response>' })
    expect(left).toBe('leave')
    expect(waiting.names).toEqual([])
  })

  it('may be audio, which repeats', async () => {
    const { waiting, context } = await wait(`waitUrl="${root}/hold.mp3"`)
    const sounds = [{ kind: 'audio', url: `${root}/hold.mp3` }]
    expect(waiting.verbs[0]).toEqual(['play', { sounds, loop: 0 }])
    expect(context.requests).toEqual([])
  })

  it('may be empty for silence', async () => {
    const { waiting } = await wait('waitUrl=""')
    expect(waiting.names).toEqual(['sleep'])
  })

  it('is requested again only after a delay if it fails or is invalid', async () => {
    const invalid: Record<string, string> = { [`${root}/wait`]: '<Response>' }
    for (const documents of [{}, invalid]) {
      const { waiting, context } = await wait(url, documents, 2)
      expect(waiting.verbs[0]).toEqual(['sleep', 10_000])
      expect(context.requests).toHaveLength(2)
      expect(context.warnings).toHaveLength(1)
    }
  })
})
