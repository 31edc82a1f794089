import { describe, expect, it } from 'vitest'
import { type JobReply, JobThread, workerOf } from './job-thread.ts'
import { FakeThreads, FakeTimers } from './testing/fake-threads.ts'

const setUp = () => {
  const threads = new FakeThreads<string>()
  const timers = new FakeTimers()
  return { threads, timers, speech: make(threads.start, timers) }
}
const make = (start: FakeThreads<string>['start'], timers: FakeTimers) =>
  new JobThread({ name: 'Speech', start, timers, maxJobMs: 10_000, maxWaiting: 3 })

describe('a job thread', () => {
  it('starts with the first job and runs one at a time', async () => {
    const { threads, speech } = setUp()
    expect(speech.isRunning).toBe(false)
    const first = speech.run('one')
    const second = speech.run('two')
    expect(threads.jobs).toEqual(['one'])
    threads.answer(10)
    expect((await first).length).toBe(10)
    expect(threads.jobs).toEqual(['one', 'two'])
    threads.answer(20)
    expect((await second).length).toBe(20)
    expect(threads.started).toBe(1)
  })

  it('rejects the job that kills it, and gives the next one a new thread', async () => {
    const { threads, speech } = setUp()
    const first = speech.run('one')
    const second = speech.run('two')
    threads.fail(new Error('out of memory'))
    await expect(first).rejects.toThrow('Speech: out of memory')
    expect(threads.started).toBe(2)
    threads.answer(1)
    expect((await second).length).toBe(1)
  })

  it('rejects a job if no thread can be started, and retries for the next one', async () => {
    const { threads, timers } = setUp()
    let full = true
    const speech = make((onReply, onFailure) => {
      if (full) throw new Error('no memory')
      return threads.start(onReply, onFailure)
    }, timers)
    await expect(speech.run('one')).rejects.toThrow('no memory')
    full = false
    const second = speech.run('two')
    threads.answer(1)
    expect((await second).length).toBe(1)
  })

  it('ends the thread of a job that takes over ten seconds', async () => {
    const { threads, timers, speech } = setUp()
    const slow = speech.run('slow')
    const late = threads.reply
    timers.advance(10_000)
    await expect(slow).rejects.toThrow('took over 10 s')
    expect(threads.ended).toBe(1)
    const next = speech.run('next')
    late({ samples: new Int16Array(new SharedArrayBuffer(198)) })
    threads.answer(1)
    expect((await next).length).toBe(1)
  })

  it('ends after a minute without work, and starts again', async () => {
    const { threads, timers, speech } = setUp()
    const first = speech.run('one')
    threads.answer(1)
    await first
    timers.advance(59_999)
    expect(speech.isRunning).toBe(true)
    timers.advance(1)
    expect(speech.isRunning).toBe(false)
    expect(threads.ended).toBe(1)
    const second = speech.run('two')
    threads.answer(2)
    expect((await second).length).toBe(2)
    expect(threads.started).toBe(2)
  })

  it('rejects everything on close and leaves no timer', async () => {
    const { threads, timers, speech } = setUp()
    const both = [speech.run('one'), speech.run('two')]
    const outcomes = Promise.allSettled(both)
    await speech.close()
    await speech.close()
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(timers.running).toBe(0)
    expect(threads.ended).toBe(1)
    await expect(speech.run('three')).rejects.toThrow('closed')
  })

  it('removes cancelled jobs while they wait, and lets started ones finish', async () => {
    const { threads, speech } = setUp()
    const begun = new AbortController()
    const waiting = new AbortController()
    const late = new AbortController()
    const first = speech.run('one', begun)
    const second = speech.run('two', waiting)
    const third = speech.run('three')
    waiting.abort()
    begun.abort()
    await expect(second).rejects.toThrow('Speech: cancelled')
    await expect(first).rejects.toThrow('Speech: cancelled')
    threads.answer(1)
    threads.answer(2)
    expect((await third).length).toBe(2)
    expect(threads.jobs).toEqual(['one', 'three'])
    late.abort()
    await expect(speech.run('four', late)).rejects.toThrow('cancelled')
  })

  it('lets customers take turns', async () => {
    const { threads, speech } = setUp()
    const jobs = ['a1', 'a2', 'a3', 'b1'].map((job) => speech.run(job, { customer: job[0]! }))
    for (let i = 0; i < 4; i++) threads.answer(1)
    await Promise.all(jobs)
    expect(threads.jobs).toEqual(['a1', 'a2', 'b1', 'a3'])
  })

  it('rejects the customer with the most waiting jobs if there are too many', async () => {
    const { speech } = setUp()
    const run = (job: string) => speech.run(job, { customer: job[0]! })
    const taken = ['a1', 'a2', 'a3', 'a4'].map(run)
    await expect(run('a5')).rejects.toMatchObject({
      name: 'SoundError',
      code: 'sound_busy',
      message: 'Speech: too much is waiting',
    })
    const refused = expect(taken.pop()).rejects.toMatchObject({ code: 'sound_busy' })
    taken.push(run('b1'))
    await refused
    const outcomes = Promise.allSettled(taken)
    await speech.close()
    await outcomes
  })
})

it('limits the heap of a real thread', async () => {
  const program = `import { parentPort, resourceLimits } from 'node:worker_threads'
    parentPort.on('message', () => parentPort.postMessage({ error: resourceLimits.maxOldGenerationSizeMb + ' MiB' }))`
  const { promise, resolve, reject } = Promise.withResolvers<JobReply>()
  const thread = workerOf<string>(`data:text/javascript,${encodeURIComponent(program)}`)(resolve, reject)
  thread.send('how large?')
  expect(await promise).toEqual({ error: '256 MiB' })
  await thread.end()
})
