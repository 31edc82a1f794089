import { afterAll, describe, expect, it } from 'vitest'
import { DocumentInvalid } from '../handler.ts'
import { readScriptDocument } from '../script/document.ts'
import { readXmlDocument } from '../xml/document.ts'
import { type ReadingJob, read } from './jobs.ts'
import { DocumentReader, maxInline } from './reader.ts'

const noTimers = { after: () => ({ cancel: () => {} }) }
const reader = new DocumentReader(noTimers)
afterAll(() => reader.close())

/** Returns a document that is too long to be read in the current thread. */
const long = (text: string, filler = '#') => `${text}\n${filler.repeat(maxInline)}`
const script = long('version: 1.0.0\nsections:\n  main:\n    - answer\n    - play: { url: "say:Hello" }')
const faultsOf = async (reading: Promise<unknown>) => {
  const error = await reading.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(DocumentInvalid)
  return (error as DocumentInvalid).faults
}

describe('a long document', () => {
  it('has the same result from a thread: script', async () => {
    const there = await reader.script(script)
    const here = readScriptDocument({ text: script })
    expect([...there.sections.keys()]).toEqual(['main'])
    expect(there.warnings).toEqual(here.warnings)
    const wrong = script.replace('answer', 'nothing')
    const expected = await faultsOf((async () => readScriptDocument({ text: wrong }))())
    expect(await faultsOf(reader.script(wrong))).toEqual(expected)
    expect(expected[0]?.line).toBe(4)
    expect((await faultsOf(reader.script(script, new Set(['hangup']))))[0]?.path).toContain('main')
  })

  it('has the same result from a thread: call flow', async () => {
    const flow = long('{"version":"1.0.0","nodes":{"start":{"kind":"start","edges":{}}}}', ' ')
    expect((await reader.flow(flow)).isFlow).toBe(true)
    expect((await reader.flow(script)).isFlow).toBe(false)
    expect(await faultsOf(reader.flow(flow.replace('"kind":"start"', '"kind":"none"')))).not.toEqual([])
  })

  it('has the same result from a thread: XML', async () => {
    const text = long('<Response><Say>Hello {{From}}</Say><Nothing/></Response>', ' ')
    const fields = { From: '+15550100' }
    const there = await reader.xml({ text }, fields)
    const here = readXmlDocument({ text }, fields)
    expect(there.verbs.map(({ name, path }) => [name, path])).toEqual(
      here.verbs.map(({ name, path }) => [name, path]),
    )
    expect(there.warnings).toEqual(here.warnings)
    const malformed = long('<Response><Say></Response>', ' ')
    const expected = await faultsOf((async () => readXmlDocument({ text: malformed }))())
    expect(await faultsOf(reader.xml({ text: malformed }))).toEqual(expected)
    const other = { text, contentType: 'image/png' }
    expect((await faultsOf(reader.xml(other)))[0]?.code).toBe('12300')
  })
})

it('reads short documents at once, without a thread', async () => {
  const none = new DocumentReader(noTimers, () => {
    throw new Error('no thread')
  })
  expect((await none.xml({ text: '<Response/>' })).verbs).toEqual([])
  expect((await none.script('{"version":"1.0.0","sections":{"main":["answer"]}}')).warnings).toEqual([])
  expect((await faultsOf(none.script(script)))[0]?.message).toContain('there is no thread')
})

it('abandons a document that takes too long, and reads the next one in another thread', async () => {
  const started: { readonly jobs: ReadingJob[]; isEnded: boolean }[] = []
  const ends: (() => void)[] = []
  const timers = {
    after: (_ms: number, run: () => void) => {
      ends.push(run)
      return { cancel: () => {} }
    },
  }
  const slow = new DocumentReader(timers, ({ onReady, onReply }) => {
    const thread = { jobs: [] as ReadingJob[], isEnded: false }
    started.push(thread)
    queueMicrotask(onReady)
    return {
      send: (job) => {
        thread.jobs.push(job)
        if (started.length > 1) queueMicrotask(() => onReply(read(job)))
      },
      end: async () => {
        thread.isEnded = true
      },
    }
  })
  const hostile = faultsOf(slow.script(script))
  await Promise.resolve()
  await Promise.resolve()
  ends.at(-1)?.()
  expect((await hostile)[0]?.message).toContain('its thread does not answer')
  expect(started[0]?.isEnded).toBe(true)
  expect((await slow.script(script)).warnings).toEqual([])
  expect(slow.pending).toBe(0)
})
