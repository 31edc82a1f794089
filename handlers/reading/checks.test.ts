import { afterAll, describe, expect, it } from 'vitest'
import { JobFailed } from '../script/sandbox/job-threads.ts'
import { checkDocument, type DocumentKind, type DocumentReport } from './check-document.ts'
import { CheckRejected, DocumentChecks, maxCheckedInline } from './checks.ts'
import { type ReadingJob, read } from './jobs.ts'
import { DocumentReader } from './reader.ts'

/** Timers whose time the test advances. */
class FakeTimers {
  #now = 0
  readonly #due = new Set<{ readonly at: number; readonly run: () => void }>()

  get running(): number {
    return this.#due.size
  }

  after(ms: number, run: () => void) {
    const timer = { at: this.#now + ms, run }
    this.#due.add(timer)
    return { cancel: () => void this.#due.delete(timer) }
  }

  advance(ms: number): void {
    this.#now += ms
    for (const timer of this.#due) {
      if (timer.at > this.#now) continue
      this.#due.delete(timer)
      timer.run()
    }
  }
}

const long = (name: string) => name.padEnd(maxCheckedInline + 1, ' ')

/** Checks whose reader ends a document only when the test says so. */
const held = (limits?: ConstructorParameters<typeof DocumentChecks>[2]) => {
  const clock = new FakeTimers()
  /** Names of the documents that the reader has received. */
  const begun: string[] = []
  let settle: { resolve: (report: DocumentReport) => void; reject: (error: unknown) => void } | undefined
  const check = (_kind: DocumentKind, text: string) => {
    if (settle) throw new Error('Two documents are checked at once.')
    begun.push(text.trim())
    return new Promise<DocumentReport>((resolve, reject) => {
      settle = { resolve, reject }
    })
  }
  const checks = new DocumentChecks({ check }, clock, limits)
  const send = (project: string, name: string) =>
    checks.check(project, 'xml', long(name)).then(
      () => 'checked',
      (error: unknown) => (error instanceof CheckRejected ? error.reason : String(error)),
    )
  const end = async (error?: Error) => {
    const { resolve, reject } = settle ?? expect.fail('No document is checked.')
    settle = undefined
    if (error) reject(error)
    else resolve({ errors: [], warnings: [] })
    for (let turns = 0; turns < 5; turns++) await Promise.resolve()
  }
  return { checks, clock, begun, send, end }
}

describe('documents that wait to be checked', () => {
  it('are served by project: many documents of one project delay another project by one document', async () => {
    const { checks, begun, send, end } = held()
    const sent = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => send(name[0] ?? '', name))
    expect(checks.waiting).toBe(6)
    while (begun.length < sent.length) await end()
    await end()
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
    expect(new Set(await Promise.all(sent))).toEqual(new Set(['checked']))
    expect(checks.waiting).toBe(0)
  })

  it('are limited for a project, without rejecting other projects', async () => {
    const { send, end } = held({ maxWaitingOfProject: 2, maxWaiting: 10, maxWaitMs: 1_000 })
    const taken = ['a1', 'a2', 'a3'].map((name) => send('a', name))
    expect(await send('a', 'a4')).toBe('project')
    taken.push(send('b', 'b1'))
    for (const _ of taken) await end()
    expect(await Promise.all(taken)).toEqual(['checked', 'checked', 'checked', 'checked'])
    const again = send('a', 'a5')
    await end()
    expect(await again).toBe('checked')
  })

  it('are limited in total: the project with the most gives way to one with fewer', async () => {
    const { checks, begun, send, end } = held({ maxWaitingOfProject: 3, maxWaiting: 4, maxWaitMs: 1_000 })
    const first = send('z', 'z1')
    const [a1, a2, a3] = ['a1', 'a2', 'a3'].map((name) => send('a', name))
    const b1 = send('b', 'b1')
    const c1 = send('c', 'c1')
    expect(await a3).toBe('gateway')
    expect(checks.waiting).toBe(4)
    expect(await send('b', 'b2')).toBe('gateway')
    for (let ended = 0; ended < 5; ended++) await end()
    expect(await Promise.all([first, a1, a2, b1, c1])).toEqual(Array(5).fill('checked'))
    expect(begun).toEqual(['z1', 'a1', 'b1', 'c1', 'a2'])
  })

  it('are rejected after the maximum wait, and leave no timer', async () => {
    const { checks, clock, send, end } = held()
    const first = send('a', 'a1')
    const late = send('b', 'b1')
    expect(clock.running).toBe(1)
    clock.advance(10_000)
    expect(await late).toBe('gateway')
    await end()
    expect(await first).toBe('checked')
    expect([clock.running, checks.waiting]).toEqual([0, 0])
  })

  it('are checked after a document that found the threads full or failed', async () => {
    const { send, end } = held()
    const sent = ['a1', 'a2', 'a3'].map((name) => send('a', name))
    await end(new JobFailed('there is no thread for it'))
    await end(new Error('broken'))
    await end()
    expect(await Promise.all(sent)).toEqual(['gateway', 'Error: broken', 'checked'])
  })

  it('include only long ones; short ones are checked at once', async () => {
    const { checks, begun } = held()
    const text = '<Response><Say></Response>'
    expect(await checks.check('a', 'xml', text)).toEqual(checkDocument('xml', text))
    expect(begun).toEqual([])
  })
})

describe('the report of a thread', () => {
  const reader = new DocumentReader(new FakeTimers())
  afterAll(() => reader.close())
  const checks = new DocumentChecks(reader, new FakeTimers())
  const comment = `<!--${'-x'.repeat(maxCheckedInline)}-->`
  const filler = `\n#${'x'.repeat(maxCheckedInline)}`
  const agent = '{"version":"1.0.0","sections":{"main":[{"ai":{"prompt":{"text":"Hello"}}}]}}'
  const flow = '{"version":"1.0.0","nodes":{"start":{"kind":"start","edges":{"next":"gone"}}}}'

  it.each<[DocumentKind, string]>([
    ['xml', `<Response>${comment}<Say>Hello {{From}}</Say><Nothing/></Response>`],
    ['xml', `<Response>${comment}\n<Say></Response>`],
    ['xml', `<Response>${comment}\n  <Redirect>ftp://example.com</Redirect></Response>`],
    ['xml', `<!DOCTYPE a [<!ENTITY b "c">]><Response>${comment}</Response>`],
    ['script', `version: 1.0.0\nsections:\n  main:\n    - answer${filler}`],
    ['script', `version: 1.0.0\nsections:\n  main:\n    - nothing\n    - play: {}${filler}`],
    ['script', `sections: [${filler}`],
    ['script', `${'['.repeat(maxCheckedInline + 1)}`],
    ['script', `${agent}${' '.repeat(maxCheckedInline)}`],
    ['flow', `${flow}${' '.repeat(maxCheckedInline)}`],
    ['flow', `version: 1.0.0\nnodes:\n  a: {kind: none}${filler}`],
  ])('equals the report without a thread: %s %.40s', async (kind, text) => {
    const there = await checks.check('p', kind, text)
    expect(there).toEqual(checkDocument(kind, text))
    expect(text.length).toBeGreaterThan(maxCheckedInline)
  })

  it('has the location of a fault', async () => {
    const text = `version: 1.0.0\nsections:\n  main:\n    - nothing${filler}`
    const { errors } = await checks.check('p', 'script', text)
    expect(errors[0]).toMatchObject({ path: '/sections/main/0', line: 4, column: 7 })
  })
})

it('reports the time limit for a slow document, and gives the next one a thread', async () => {
  const clock = new FakeTimers()
  let threads = 0
  const reader = new DocumentReader(clock, ({ onReady, onReply }) => {
    threads += 1
    const isStuck = threads === 1
    queueMicrotask(onReady)
    return {
      send: (job: ReadingJob) => {
        if (!isStuck) queueMicrotask(() => onReply(read(job)))
      },
      end: async () => {},
    }
  })
  const checks = new DocumentChecks(reader, clock)
  const slow = checks.check('a', 'script', long('a'))
  const next = checks.check('b', 'xml', long('<Response/>'))
  for (let turns = 0; turns < 5; turns++) await Promise.resolve()
  clock.advance(2_000)
  expect((await slow).errors).toEqual([
    {
      code: 'relay_script_parse_error',
      message: 'The document cannot be read: its thread does not answer.',
      path: '',
    },
  ])
  expect(await next).toEqual({ errors: [], warnings: [] })
})

it('reports full threads without a fault of the document', async () => {
  const reader = new DocumentReader(new FakeTimers(), () => {
    throw new Error('no thread')
  })
  const checks = new DocumentChecks(reader, new FakeTimers())
  await expect(checks.check('a', 'xml', long('<Response/>'))).rejects.toMatchObject({ reason: 'gateway' })
})
