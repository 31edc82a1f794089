import { describe, expect, it } from 'vitest'
import { FakeThreads, FakeTimers } from './fake-thread.ts'
import { Speech } from './speech.ts'

const setUp = () => {
  const threads = new FakeThreads()
  const timers = new FakeTimers()
  return { threads, timers, speech: new Speech(threads.start, timers) }
}
const job = (text: string) => ({ voice: 'slt', text }) as const

describe('the speaking thread', () => {
  it('starts with the first sentence and takes one at a time', async () => {
    const { threads, speech } = setUp()
    expect(speech.running).toBe(false)
    const first = speech.say(job('one'))
    const second = speech.say(job('two'))
    expect(threads.jobs.map(({ text }) => text)).toEqual(['one'])
    threads.speak(10)
    expect((await first).length).toBe(10)
    expect(threads.jobs.map(({ text }) => text)).toEqual(['one', 'two'])
    threads.speak(20)
    expect((await second).length).toBe(20)
    expect(threads.started).toBe(1)
  })

  it('rejects the sentence that kills it, and gives the next one a new thread', async () => {
    const { threads, speech } = setUp()
    const first = speech.say(job('one'))
    const second = speech.say(job('two'))
    threads.fail(new Error('out of memory'))
    await expect(first).rejects.toThrow('Speech: out of memory')
    expect(threads.started).toBe(2)
    threads.speak(1)
    expect((await second).length).toBe(1)
  })

  it('rejects a sentence for which no thread can be started, and tries again for the next one', async () => {
    const { threads, timers } = setUp()
    let full = true
    const speech = new Speech((onReply, onFailure) => {
      if (full) throw new Error('no memory')
      return threads.start(onReply, onFailure)
    }, timers)
    await expect(speech.say(job('one'))).rejects.toThrow('no memory')
    full = false
    const second = speech.say(job('two'))
    threads.speak(1)
    expect((await second).length).toBe(1)
  })

  it('ends the thread of a sentence that takes over ten seconds', async () => {
    const { threads, timers, speech } = setUp()
    const slow = speech.say(job('slow'))
    const late = threads.reply
    timers.advance(10_000)
    await expect(slow).rejects.toThrow('took over 10 s')
    expect(threads.ended).toBe(1)
    const next = speech.say(job('next'))
    late({ samples: new Int16Array(new SharedArrayBuffer(198)) })
    threads.speak(1)
    expect((await next).length).toBe(1)
  })

  it('ends after a minute without work, and starts again', async () => {
    const { threads, timers, speech } = setUp()
    const first = speech.say(job('one'))
    threads.speak(1)
    await first
    timers.advance(59_999)
    expect(speech.running).toBe(true)
    timers.advance(1)
    expect(speech.running).toBe(false)
    expect(threads.ended).toBe(1)
    const second = speech.say(job('two'))
    threads.speak(2)
    expect((await second).length).toBe(2)
    expect(threads.started).toBe(2)
  })

  it('rejects everything at close and leaves no timer', async () => {
    const { threads, timers, speech } = setUp()
    const both = [speech.say(job('one')), speech.say(job('two'))]
    const outcomes = Promise.allSettled(both)
    await speech.close()
    await speech.close()
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(timers.running).toBe(0)
    expect(threads.ended).toBe(1)
    await expect(speech.say(job('three'))).rejects.toThrow('closed')
  })
})
